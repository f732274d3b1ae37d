// signalbox mcp: the official client over stdio, at a real edge.

import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Client } from '@modelcontextprotocol/client'
import type { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import type { Session } from '../../worker/board/wire.ts'
import { publishedRepo, type Repo, taskRecord, token } from '../support/edge.ts'
import { callTool } from '../support/mcp.ts'
import { hearsOwn, VERSIONS, type Version, WORKING } from '../support/mcp-client.ts'
import { mcpOverStdio } from '../support/mcp-stdio.ts'
import { programEnv } from '../support/run-home.ts'
import { type NodeEdgeInTest, startNodeEdge } from '../support/start-edge.ts'
import { Tap } from '../support/tap.ts'
import { tempFolder } from '../support/temp-folder.ts'
import { run } from './run.ts'

const PROGRAM = join(import.meta.dirname, '../../cli/signalbox.ts')

let edge: NodeEdgeInTest
let home: string
let repo: Repo
beforeAll(async () => {
  edge = await startNodeEdge()
})
afterAll(() => edge.close())
beforeEach(async () => {
  home = tempFolder()
  repo = await publishedRepo(edge, [
    taskRecord('A-1', { status: 'todo', title: 'Bake bread' }),
    taskRecord('A-2', { status: 'todo' }),
  ])
})

async function connected(
  version: Version,
  url = edge.origin,
  more: readonly string[] = [],
): Promise<Client> {
  const bearer = await token({ scope: WORKING, repos: [repo.path] })
  const client = await mcpOverStdio(
    {
      command: process.execPath,
      args: [PROGRAM, 'mcp', '--url', url, '--board', repo.path, '--actor', 'ci', ...more],
      cwd: home,
      env: { ...programEnv(home), SIGNALBOX_TOKEN: bearer },
    },
    version === VERSIONS[0] ? version : undefined,
  )
  onTestFinished(() => client.close())
  return client
}

const sessions = async () =>
  (await repo.json<{ sessions: Session[] }>('/sessions')).sessions.map(
    ({ task, actor, health }) => [task, actor, health],
  )

describe.each(VERSIONS)('signalbox mcp, spoken to as %s', (version) => {
  it('gives each agent that names itself a task, and gives back what is left at the end', async () => {
    const client = await connected(version)
    const { tools } = await client.listTools()
    const claiming = tools.find(({ name }) => name === 'claim_task')
    expect(claiming?.inputSchema.required).toContain('agent')
    expect(await callTool(client, 'claim_task')).toMatchObject({ error: 'agent is missing.' })
    const ada = await callTool(client, 'claim_task', { agent: 'ada' })
    const bob = await callTool(client, 'claim_task', { agent: 'bob' })
    expect([ada.task, bob.task]).toMatchObject([{ id: 'A-1' }, { id: 'A-2' }])
    const done = { claim: ada.claim, outcome: 'done', summary: 'baked' }
    await callTool(client, 'release_claim', done)
    const kept = async () => readdir(join(home, KEPT)).catch(() => [])
    expect(await kept()).toHaveLength(1)

    await client.close()
    await expect.poll(sessions).toEqual([
      ['A-2', 'ci/bob', 'canceled'],
      ['A-1', 'ci/ada', 'finished'],
    ])
    await expect.poll(kept).toEqual([])
  })
})

const KEPT = '.local/state/signalbox/claims'

async function keptClaim(): Promise<Record<string, unknown>> {
  const [name = ''] = await readdir(join(home, KEPT))
  return JSON.parse(await readFile(join(home, KEPT, name), 'utf8'))
}

const isClaim = ({ path }: { path: string }) => path === '/api/claims'

async function tapped(): Promise<Tap> {
  const tap = await Tap.before(edge.origin)
  onTestFinished(() => tap.close())
  return tap
}

it('keeps a claim as its own before it asks: killed before the answer, it leaves none behind', async () => {
  const tap = await tapped()
  tap.holds = isClaim
  const client = await connected(VERSIONS[0], tap.url)
  callTool(client, 'claim_task', { agent: 'ada' }).catch(() => undefined)
  await expect.poll(() => tap.seen.some(isClaim)).toBe(true)
  const { pid } = client.transport as StdioClientTransport
  expect(await keptClaim()).toMatchObject({ actor: 'ci/ada', task: '', process: { pid } })
})

it('gives back a claim whose answer was lost, since no agent knows of it', async () => {
  const tap = await tapped()
  tap.loses = isClaim
  const client = await connected(VERSIONS[0], tap.url)
  const refused = await callTool(client, 'claim_task', { agent: 'ada' })
  expect(refused).toMatchObject({ code: 'http_502' })
  expect(await sessions()).toEqual([['A-1', 'ci/ada', 'active']])
  expect(await keptClaim()).toMatchObject({ actor: 'ci/ada', release: { outcome: 'abandoned' } })
  await client.close()
  await expect.poll(sessions).toEqual([['A-1', 'ci/ada', 'canceled']])
})

it('keeps nothing of a claim that is refused, or of 1 MiB of arguments', async () => {
  const client = await connected(VERSIONS[0])
  const long = await callTool(client, 'claim_task', { agent: 'x'.repeat(1 << 20) })
  expect(long).toMatchObject({ code: 'invalid_request', error: expect.stringMatching(/^agent /) })
  const refused = await callTool(client, 'claim_task', { agent: 'ada', task: 'A-9' })
  expect(refused).toMatchObject({ code: 'not_found' })
  expect(await readdir(join(home, KEPT))).toEqual([])
  expect(await sessions()).toEqual([])
})

it('says what is wrong with the file of its token, at its start and later', async () => {
  const file = join(home, 'token')
  const args = ['mcp', '--url', edge.origin, '--board', repo.path, '--token-file']
  const folder = await run([...args, home], { HOME: home })
  const sentence = 'The access token cannot be read: it is no regular file.'
  expect(folder).toMatchObject({ code: 2, err: expect.stringContaining(sentence) })
  await writeFile(file, await token({ scope: WORKING, repos: [repo.path] }))
  const client = await connected(VERSIONS[0], edge.origin, ['--token-file', file])
  expect((await callTool(client, 'list_tasks')).tasks).toHaveLength(2)
  await rm(file)
  await mkdir(file)
  expect(await callTool(client, 'list_tasks')).toMatchObject({ code: 'token', error: sentence })
})

it('tells of changes of tasks of its own boards alone', async () => {
  const other = await publishedRepo(edge, [taskRecord('A-1')])
  await hearsOwn(await connected(VERSIONS[0]), [repo, other])
})

it('says that no Signalbox answers, and goes on when one does', async () => {
  const client = await connected(VERSIONS[0])
  await edge.edge().close()
  expect(await callTool(client, 'list_tasks')).toMatchObject({ code: 'unreachable' })
  await edge.restart()
  expect((await callTool(client, 'list_tasks')).tasks).toHaveLength(2)
})
