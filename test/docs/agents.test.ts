// The lines of docs/agents.md for an agent's instructions, followed on a board.

import { spawn, spawnSync } from 'node:child_process'
import { cp, readFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Session } from '../../worker/board/wire.ts'
import { inputOf, run } from '../cli/run.ts'
import { publishedRepo, type Repo, taskRecord, token } from '../support/edge.ts'
import { programEnv } from '../support/run-home.ts'
import { type NodeEdgeInTest, startNodeEdge } from '../support/start-edge.ts'
import { tempFolder } from '../support/temp-folder.ts'

let page: string
let dir: string
beforeAll(async () => {
  page = await readFile('docs/agents.md', 'utf8')
  dir = tempFolder()
  await cp('examples/board', dir, { recursive: true })
})

const linesAt = (n: number): string => [...page.matchAll(/```md\n(.*?)```/gs)][n]?.[1] ?? ''

/** The commands of the lines, with their placeholders filled in. */
const commands = (lines: string, filled: Record<string, string> = {}): string[] =>
  [...lines.matchAll(/`signalbox ([^`]+)`/g)].map(([, command = '']) =>
    command.replaceAll(/\b(TASK|ID)\b/g, (name) => filled[name] ?? name),
  )

const type = (command: string) => run(command.split(' '), {}, { cwd: dir })

it('each of both is ten lines at most, and names only commands and options that there are', async () => {
  for (const lines of [linesAt(0), linesAt(1)]) {
    expect(lines.split('\n').filter((line) => line !== '').length).toBeLessThanOrEqual(10)
    const named = commands(lines).filter((command) => command.includes(' '))
    expect(named.length).toBeGreaterThan(1)
    for (const command of named) {
      await inputOf(command.replaceAll(/"[^"]*"/g, 'x').split(' '))
    }
  }
  // test/e2e/agents-that-claim.test.ts follows those of the first.
})

it('the hooks have the form and the events of the documentation, and run what there is', async () => {
  const [, json = ''] = /```json\n(\{\n.*?)```/s.exec(page) ?? []
  const { hooks } = JSON.parse(json) as { hooks: Record<string, { hooks: object[] }[]> }
  // Neither needs a matcher.
  expect(Object.keys(hooks)).toEqual(['SessionStart', 'Stop'])
  for (const [group, ...others] of Object.values(hooks)) {
    expect(others).toEqual([])
    expect(group?.hooks).toEqual([{ type: 'command', command: expect.any(String) }])
    const [{ command = '' } = {}] = (group?.hooks ?? []) as { command: string }[]
    const [, ...words] = /^signalbox (\w+)/.exec(command) ?? []
    await inputOf(words)
  }
})

it.each([0, 1, 2, 3, 4])('the hook of commits refuses only a lost claim: exit code %i', (code) => {
  const [, hook = ''] = /```sh\n(#!.*?)```/s.exec(page) ?? []
  const script = `signalbox() { return ${code}; }\n${hook}`
  expect(spawnSync('/bin/sh', ['-c', script]).status).toBe(code === 4 ? 1 : 0)
})

it('the commands that wait run as they stand there', async () => {
  const none = await type('wait --timeout 1s')
  expect(none.code).toBe(3)
  const { id } = JSON.parse(none.out)
  const found = commands(linesAt(1), { TASK: 'LAMP-1', ID: id })
  const [status = '', any = ''] = found.filter((command) => command.startsWith('wait --'))
  expect(JSON.parse((await type(status)).out)).toMatchObject({ task: 'LAMP-1', status: 'done' })
  expect((await type(`${any} --timeout 1s`)).code).toBe(3)
})

it('its first line is the command that does all of it, with options that there are', async () => {
  const [, line = ''] = /^# Agents\n\n`signalbox ([^`]+)`/.exec(page) ?? []
  expect(await inputOf(line.split(' '))).toMatchObject({ behindDashes: ['COMMAND', '…'] })
  const [, shown = ''] = /```sh\nsignalbox (claim .*) -- sh -c /.exec(page) ?? []
  expect(await inputOf(shown.split(' '))).toMatchObject({ options: { wait: 480_000 } })
})

const hasCurl = spawnSync('curl', ['--url-query', 'a=b', '--version']).status === 0

describe.skipIf(!hasCurl)('what stands there for curl', () => {
  let edge: NodeEdgeInTest
  let functions = ''
  let [claim, renew, release, loop] = ['', '', '', '']
  beforeAll(async () => {
    edge = await startNodeEdge()
    const [, part = ''] = /## Elsewhere, by HTTP\n(.*?)\n## /s.exec(page) ?? []
    const blocks = [...part.matchAll(/```sh\n(.*?)```/gs)].map(([, block = '']) => block)
    // The first one has what the test sets.
    ;[, functions = '', claim = '', renew = '', release = '', loop = ''] = blocks
  })
  afterAll(() => edge.close())

  async function shell(repo: Repo, script: string) {
    const TOKEN = await token({ scope: 'board:read board:work', repos: ['*'], actor: 'ci' })
    const env = { ...programEnv(dir), URL: edge.origin, BOARD: repo.path, TOKEN }
    const child = spawn('/bin/sh', ['-c', `${functions}\n${script}`], { env, cwd: tempFolder() })
    let out = ''
    child.stdout.on('data', (chunk) => {
      out += chunk
    })
    const ended = new Promise<{ code: number | null; out: string }>((resolve) => {
      child.once('exit', (code) => resolve({ code, out }))
    })
    return { ended, pid: child.pid }
  }
  const sessions = async (repo: Repo) =>
    (await repo.json<{ sessions: Session[] }>('/sessions')).sessions

  it('claims, renews and releases', async () => {
    const repo = await publishedRepo(edge, [taskRecord('A-1', { status: 'todo' })])
    const { ended } = await shell(repo, `${claim}${renew}${release}`)
    const { code, out } = await ended
    expect(code).toBe(0)
    expect(out).toMatch(/^\{"task":\{"id":"A-1"/)
    expect(await sessions(repo)).toMatchObject([
      {
        task: 'A-1',
        actor: 'ci/7',
        health: 'finished',
        summary: 'baked',
        live: { progress: 'half of it is baked' },
      },
    ])
  })

  it('says by the exit code that a claim is lost', async () => {
    const repo = await publishedRepo(edge, [taskRecord('A-1', { status: 'todo' })])
    const end = `post claims/release '{"session":"'$session'","outcome":"abandoned"}' > /dev/null`
    const session = `session=$(${claim.trim().split('\n').at(-1)} | sed 's/.*"session":"\\([^"]*\\)".*/\\1/')`
    const { ended } = await shell(repo, `CLAIM=$(secret)\n${session}\n${end}\n${renew}`)
    expect(await ended).toMatchObject({ code: 22, out: expect.stringContaining('claim_lost') })
  })

  it('asks, and then reads the stream until there is a task', async () => {
    const repo = await publishedRepo(edge, [taskRecord('A-1', { status: 'doing' })])
    const { ended } = await shell(repo, loop)
    const streams = async () => (await repo.json<{ streams: number }>('/status')).streams
    await expect.poll(streams).toBe(1)
    await repo.changes({ upserts: [taskRecord('A-2', { status: 'todo' })] })
    const { code, out } = await ended
    expect(code).toBe(0)
    expect(out).toMatch(/^data: \{"type":"task-changed","id":"A-2"\}\n$/)
    expect(await sessions(repo)).toMatchObject([{ task: 'A-2', actor: 'ci/7', health: 'active' }])
  })

  it('ends where it is not allowed to, and does not ask again and again', async () => {
    const repo = await publishedRepo(edge, [taskRecord('A-1', { status: 'doing' })])
    const { ended } = await shell(repo, `TOKEN=none\n${loop}`)
    expect((await ended).code).toBe(1)
  })
})
