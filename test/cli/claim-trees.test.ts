// Claims of a running Signalbox of this user, in the worktrees of a repository and through restarts.

import { spawn } from 'node:child_process'
import { cp, mkdir, realpath, rm, writeFile } from 'node:fs/promises'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { keptClaims } from '../../cli/claim/kept-claims.ts'
import { watchClaims } from '../../cli/claim/watch-claims.ts'
import { writeLocalJson } from '../../system/data/local-json.ts'
import { type Lock, takeLock } from '../../system/data/lock.ts'
import type { Session } from '../../worker/board/wire.ts'
import { git, initialize } from '../sidecar/git/git-folder.ts'
import { publishedRepo, type Repo, SECRET, taskRecord, token } from '../support/edge.ts'
import { giveSecret } from '../support/run-home.ts'
import { type NodeEdgeInTest, startNodeEdge } from '../support/start-edge.ts'
import { tempFolder } from '../support/temp-folder.ts'
import { run } from './run.ts'

let edge: NodeEdgeInTest
let dir: string
let data: string
let repo: Repo
beforeAll(async () => {
  edge = await startNodeEdge()
})
afterAll(() => edge.close())
beforeEach(async () => {
  dir = await realpath(tempFolder())
  data = join(dir, '.signalbox')
  await mkdir(join(dir, '.cairn/tasks'), { recursive: true })
  await writeFile(
    join(dir, '.cairn/config.yaml'),
    'prefix: A\nstates: [todo, done]\nclosed: [done]\n',
  )
  await writeFile(join(dir, '.gitignore'), '.signalbox\n')
  initialize(dir)
  await mkdir(data)
  await giveSecret(data, SECRET)
  repo = await publishedRepo(
    edge,
    [1, 2, 3, 4].map((n) => task(`A-${n}`)),
  )
})

const task = (id: string, fields = {}) => taskRecord(id, { status: 'todo', ...fields })

function worktree(name: string): string {
  const tree = join(dir, '.trees', name)
  git(dir, 'worktree', 'add', '-q', tree, '-b', name)
  return tree
}

const agentToken = () => token({ scope: 'board:read board:work', repos: [repo.path] })

let lock: Lock | undefined
/** As a start leaves it that is ready. */
async function start(url = edge.origin): Promise<void> {
  const board = await token({ scope: 'board:read', repos: [repo.path] })
  lock = await takeLock(data)
  await writeLocalJson(data, {
    url,
    path: repo.path,
    database: 'd',
    databaseToken: 'd',
    simulator: 's',
    gateways: {},
    boards: [{ path: repo.path, dir, layout: 'cairn' }],
    tokens: { agent: await agentToken(), board, payments: 'p' },
  })
  onTestFinished(stop)
}
async function stop(): Promise<void> {
  await rm(join(data, 'local.json'), { force: true })
  if (lock?.ok) await lock.release()
  lock = undefined
}
/** Another address of the edge, until it is closed. */
async function front() {
  const sockets = new Set<Socket>()
  const server = createServer((from) => {
    const to = connect(Number(new URL(edge.origin).port), '127.0.0.1')
    for (const socket of [from, to]) sockets.add(socket.on('error', () => undefined))
    from.pipe(to).pipe(from)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const close = () => {
    server.close()
    for (const socket of sockets) socket.destroy()
  }
  onTestFinished(close)
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close }
}
/** Watches the claims, as it does while it runs. */
function watched(): void {
  const end = new AbortController()
  const env = { HOME: process.env.HOME }
  const watching = { env, at: [data], url: edge.origin, signal: end.signal, token: agentToken }
  const over = watchClaims(watching)
  onTestFinished(async () => {
    end.abort()
    await over
  })
}
/** It ends with the test. */
function program() {
  const child = spawn('sleep', ['600'], { stdio: 'ignore' })
  onTestFinished(() => void child.kill('SIGKILL'))
  return child
}

const type = (words: string, cwd = dir) => run(words.split(' '), {}, { cwd })
const lineOf = ({ out }: { out: string }) => JSON.parse(out) as Record<string, string>
const sessions = async () => (await repo.json<{ sessions: Session[] }>('/sessions')).sessions

describe('claims in worktrees', () => {
  beforeEach(() => start())

  it('give each subagent of a process a task of its own, and it finds that again', async () => {
    const { pid } = program()
    const trees = ['a', 'b', 'c'].map(worktree)
    const given: (string | undefined)[] = []
    for (const tree of trees) given.push(lineOf(await type(`claim --pid ${pid}`, tree)).task)
    expect(given).toEqual(['A-1', 'A-2', 'A-3'])
    for (const [n, tree] of trees.entries()) {
      const again = await type(`claim --pid ${pid}`, tree)
      // Whose board it is, a start says, and not each command.
      expect([again.code, again.err, lineOf(again).task]).toEqual([0, '', given[n]])
      expect(lineOf(await type(`check --pid ${pid}`, tree))).toMatchObject({ task: given[n] })
    }
    const actors = (await sessions()).map(({ actor }) => actor.replace(/^.*:/, '')).sort()
    expect(actors).toEqual(['a', 'b', 'c'].map((name) => `${pid}/${name}`))
    expect((await sessions()).map(({ tree }) => tree).sort()).toEqual(['a', 'b', 'c'])
    const elsewhere = await type(`check --pid ${pid}`, worktree('d'))
    expect([elsewhere.code, elsewhere.err]).toEqual([1, expect.stringContaining('holds no claim')])
  })

  it('name the file of the task, and say whether it is in the tree of the caller', async () => {
    const tree = worktree('feat')
    const file = '.cairn/tasks/A-1.md'
    await repo.changes({ upserts: [task('A-1', { file })] })
    await writeFile(join(dir, file), 'It is newer than the branch.')
    const away = await type('claim --actor ada', tree)
    expect(lineOf(away)).toMatchObject({ title: 'Task A-1', file, inTree: false })
    expect(away.err).toBe(`signalbox: ${file} is not in this tree: merge the main branch first.\n`)
    const here = await type('claim --actor ada')
    expect([here.err, lineOf(here)]).toMatchObject(['', { file, inTree: true, again: true }])
    expect(lineOf(await type('check --actor ada'))).toMatchObject({ title: 'Task A-1' })
  })

  it('in a copy of a worktree need --url: whose board it would be is not clear', async () => {
    const tree = worktree('feat')
    const copy = join(dir, '.trees/copy')
    await cp(tree, copy, { recursive: true })
    const here = await type('claim --actor ada', copy)
    expect([here.code, here.out]).toEqual([1, ''])
    const elsewhere = ['claim', '--actor', 'ada', '--url', edge.origin]
    const env = { SIGNALBOX_TOKEN: await agentToken() }
    const named = await run(elsewhere, env, { cwd: copy })
    expect([named.code, named.err, lineOf(named).task]).toEqual([0, '', 'A-1'])
  })

  it('are found by who claims in the main tree, and then makes a worktree', async () => {
    const { pid } = program()
    const { task } = lineOf(await type(`claim --pid ${pid}`))
    const tree = worktree('feat')
    const held = await type(`check --pid ${pid}`, tree)
    expect([held.code, lineOf(held)]).toMatchObject([0, { type: 'held', task }])
    const released = await type(`release --pid ${pid} --done`, tree)
    expect([released.code, lineOf(released)]).toMatchObject([0, { type: 'released', task }])
  })

  it.each([
    ['done', 'finished'],
    ['todo', 'canceled'],
  ])('whose process ends with the task as %s in its tree are %s', async (status, health) => {
    const agent = program()
    await type(`claim --pid ${agent.pid}`, worktree('feat'))
    const trees = [{ tree: 'feat', dir: join(dir, '.trees/feat'), status }]
    const closed = ['done']
    const board = { layout: 'cairn' as const, states: ['todo', 'done'], closed }
    await repo.changes({
      upserts: [
        task('A-1', { trees }),
        { kind: 'board', id: 'board', hash: 'b'.repeat(32), board },
      ],
    })
    agent.kill('SIGKILL')
    watched()
    await expect.poll(async () => (await sessions())[0]?.health).toBe(health)
  })
})

describe('while no Signalbox runs', () => {
  it('a release is kept, and the one that runs next passes it on, before it ends what was left', async () => {
    const agent = program()
    await start()
    await type(`claim --pid ${agent.pid}`)
    await stop()
    const pid = ['--pid', String(agent.pid)]
    const check = await run(['check', ...pid], {}, { cwd: dir })
    expect([check.code, check.out]).toEqual([1, ''])
    const summary = 'baked the bread'
    const released = await run(['release', ...pid, '--summary', summary], {}, { cwd: dir })
    expect([released.code, lineOf(released)]).toEqual([
      0,
      { type: 'kept', task: 'A-1', outcome: 'done', board: repo.path },
    ])
    expect(released.err).toContain('is kept, and passed on when it runs again.')
    agent.kill('SIGKILL')
    expect((await sessions())[0]?.health).toBe('active')
    watched()
    await expect.poll(sessions).toMatchObject([{ health: 'finished', summary }])
  })

  it('claim --wait waits for one, says so once, and does not get what was released meanwhile', async () => {
    await start()
    const { pid } = program()
    await type(`claim --pid ${pid}`)
    await stop()
    expect((await type(`release --pid ${pid} --abandoned`)).code).toBe(0)
    expect((await type(`claim --pid ${pid}`)).code).toBe(1)
    const over = await type(`claim --pid ${pid} --wait 1s`)
    expect([over.code, lineOf(over).type]).toEqual([3, 'timeout'])
    expect(over.err.match(/waiting for it/g)).toHaveLength(1)
    const waiting = type(`claim --pid ${pid} --wait 60s`)
    await start()
    const waited = await waiting
    expect(waited.code).toBe(0)
    const first = (await sessions()).find(({ health }) => health === 'canceled')
    expect(first).toMatchObject({ task: 'A-1' })
  })

  it('waits and claims that had begun go on at the next one, also at another address', async () => {
    const first = await front()
    await start(first.url)
    const begun = ['A-1', 'A-2', 'A-3', 'A-4'].map((id) => task(id, { status: 'doing' }))
    await repo.changes({ upserts: begun })
    const waiting = [
      type('wait --task A-1 --timeout 60s'),
      type('claim --actor ada --wait 60s'),
      type('claim --actor bob --wait 60s'),
    ]
    const streams = async () => (await repo.json<{ streams: number }>('/status')).streams
    await expect.poll(streams).toBe(3)
    await stop()
    first.close()
    await repo.changes({ upserts: [task('A-1'), task('A-2')] })
    await start((await front()).url)
    const lines = (await Promise.all(waiting)).map(({ code, out, err }) => {
      expect([code, err.match(/waiting for it/g)?.length]).toEqual([0, 1])
      return JSON.parse(out) as Record<string, string>
    })
    expect(lines[0]).toMatchObject({ type: 'task-changed', task: 'A-1' })
    expect(
      lines
        .slice(1)
        .map((it) => it.task)
        .sort(),
    ).toEqual(['A-1', 'A-2'])
  })

  it('says that nobody passes on a release to one elsewhere, and keeps the claim', async () => {
    const env = { SIGNALBOX_TOKEN: await agentToken() }
    const cwd = tempFolder()
    const away = await startNodeEdge()
    const there = await publishedRepo(away, [task('B-1')])
    const mine = { ...env, SIGNALBOX_TOKEN: await token({ scope: 'board:read board:work' }) }
    const at = (words: string) =>
      run([...words.split(' '), '--url', away.origin, '--board', there.path], mine, { cwd })
    expect((await at('claim --actor eve')).code).toBe(0)
    await away.close()
    const { code, out, err } = await at('release --actor eve --done')
    expect([code, out]).toEqual([1, ''])
    expect(err).toContain('Nobody passes the release on: run it again.')
    const kept = await keptClaims({ HOME: process.env.HOME })
    expect(kept.filter((it) => it.at === away.origin)).toMatchObject([{ actor: 'eve' }])
  })
})
