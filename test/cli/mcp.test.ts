// signalbox mcp: the official client over stdio, at a real edge.

import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import type { Session } from '../../worker/board/wire.ts'
import { publishedRepo, type Repo, taskRecord, token } from '../support/edge.ts'
import { callTool, hearsOwn, VERSIONS, type Version, WORKING } from '../support/mcp-client.ts'
import { programEnv } from '../support/run-home.ts'
import { type NodeEdgeInTest, startNodeEdge } from '../support/start-edge.ts'
import { tempFolder } from '../support/temp-folder.ts'

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

async function connected(version: Version): Promise<Client> {
  const mode = version === VERSIONS[0] ? { pin: version } : 'legacy'
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } })
  const bearer = await token({ scope: WORKING, repos: [repo.path] })
  await client.connect(
    new StdioClientTransport({
      command: process.execPath,
      args: [PROGRAM, 'mcp', '--url', edge.origin, '--board', repo.path, '--actor', 'ci'],
      cwd: home,
      env: { ...programEnv(home), SIGNALBOX_TOKEN: bearer } as Record<string, string>,
      stderr: 'inherit',
    }),
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
    const kept = async () => readdir(join(home, '.local/state/signalbox/claims')).catch(() => [])
    expect(await kept()).toHaveLength(1)

    await client.close()
    await expect.poll(sessions).toEqual([
      ['A-2', 'ci/bob', 'canceled'],
      ['A-1', 'ci/ada', 'finished'],
    ])
    await expect.poll(kept).toEqual([])
  })
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
  expect(await callTool(client, 'list_tasks')).toMatchObject({ total: 2 })
})
