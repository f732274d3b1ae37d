// signalbox claim, renew, release, check: against a real edge, as agents call them.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdir, stat } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { hostname, userInfo } from 'node:os'
import { basename, join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { agentAbove, byPs, identify, stateOf } from '../../cli/claim/agent-process.ts'
import { watchClaims } from '../../cli/claim/watch-claims.ts'
import type { DataRecord, Session } from '../../worker/board/wire.ts'
import { boardReport, publishedRepo, type Repo, taskRecord, token } from '../support/edge.ts'
import { type NodeEdgeInTest, startNodeEdge } from '../support/start-edge.ts'
import { tempFolder } from '../support/temp-folder.ts'
import { run } from './run.ts'

let edge: NodeEdgeInTest
let home: string
beforeAll(async () => {
  edge = await startNodeEdge()
})
afterAll(() => edge.close())
beforeEach(() => {
  home = tempFolder()
})

const todo = (id: string) => taskRecord(id, { status: 'todo' })
const SCOPE = 'board:read board:work'

async function command(repo: Repo, ...argv: string[]) {
  const [name = '', ...options] = argv
  const where = ['--url', edge.origin, '--board', repo.path]
  const SIGNALBOX_TOKEN = await token({ scope: SCOPE, repos: [repo.path] })
  return await run([name, ...where, ...options], { HOME: home, SIGNALBOX_TOKEN })
}
/** A fifth of the time or so, which is many times as much as an agent that waits for its user. */
const COMPUTES_NOW_AND_THEN = `
  while :; do
    n=0; while [ $n -lt 30000 ]; do n=$((n + 1)); done
    sleep 0.1
  done`
const lineOf = ({ out }: { out: string }) => JSON.parse(out) as Record<string, string | number>

describe('signalbox claim', () => {
  it('prints the task and the claim, which the commands after it find by actor and board', async () => {
    const repo = await publishedRepo(edge, [todo('A-1'), todo('A-2')])
    const first = await command(repo, 'claim', '--actor', 'ada')
    expect(first.code).toBe(0)
    expect(lineOf(first)).toMatchObject({
      type: 'claimed',
      task: 'A-1',
      title: 'Task A-1',
      board: repo.path,
      generation: expect.any(Number),
      claim: expect.stringMatching(/^[\w-]{22}$/),
    })
    const second = lineOf(await command(repo, 'claim', '--actor', 'ada'))
    expect(second).toEqual({ ...lineOf(first), again: true })
    const [kept = ''] = await readdir(join(home, '.local/state/signalbox/claims'))
    const { mode } = await stat(join(home, '.local/state/signalbox/claims', kept))
    expect(mode & 0o777).toBe(0o600)
    expect(lineOf(await command(repo, 'claim', '--actor', 'bob'))).toMatchObject({ task: 'A-2' })
    const renewed = await command(repo, 'renew', '--actor', 'ada', '--progress', 'half')
    expect([renewed.code, lineOf(renewed).type]).toEqual([0, 'renewed'])
    expect((await command(repo, 'check', '--actor', 'ada')).code).toBe(0)
    const released = await command(repo, 'release', '--actor', 'ada', '--abandoned')
    expect([released.code, lineOf(released).type]).toEqual([0, 'released'])
    const gone = await command(repo, 'check', '--actor', 'ada')
    expect([gone.code, gone.out]).toEqual([1, ''])
    expect(gone.err).toContain('ada holds no claim')
  })

  it('ends with 4 where it is somebody else’s or lost, with 3 where none is free in time', async () => {
    const repo = await publishedRepo(edge, [todo('A-1')])
    const mine = lineOf(await command(repo, 'claim', '--actor', 'ada'))
    const other = await command(repo, 'claim', '--actor', 'bob', '--task', 'A-1')
    expect([other.code, lineOf(other)]).toMatchObject([4, { type: 'claimed', by: 'ada' }])
    const none = await command(repo, 'claim', '--actor', 'bob', '--wait', '1s')
    expect([none.code, lineOf(none)]).toEqual([3, { type: 'timeout', board: repo.path }])
    expect((await command(repo, 'claim', '--actor', 'bob')).code).toBe(3)
    await command(repo, 'release', '--actor', 'ada', '--abandoned')
    await command(repo, 'claim', '--actor', 'bob')
    const lost = await command(repo, 'check', '--claim', String(mine.claim))
    expect([lost.code, lineOf(lost)]).toMatchObject([4, { type: 'claim_lost', by: 'bob' }])
    const { code, err } = await command(repo, 'release', '--done', '--abandoned')
    expect([code, err]).toEqual([2, expect.stringContaining('give one')])
  })

  it('loses no claim that is held by what is refused after it', async () => {
    const repo = await publishedRepo(edge, [todo('A-1')])
    const { claim } = lineOf(await command(repo, 'claim', '--actor', 'ada'))
    const full = await command(repo, 'claim', '--actor', 'ada', '--max', '1')
    expect([full.code, lineOf(full).type]).toEqual([4, 'already_holding'])
    const none = await command(repo, 'claim', '--actor', 'ada', '--max', '2')
    expect([none.code, lineOf(none).type]).toEqual([3, 'timeout'])
    const held = await command(repo, 'check', '--actor', 'ada')
    expect([held.code, lineOf(held)]).toMatchObject([0, { type: 'held', task: 'A-1' }])
    const again = lineOf(await command(repo, 'claim', '--actor', 'ada'))
    expect(again).toMatchObject({ task: 'A-1', claim })
  })

  it('says that a claim has ended, 0 only where its work is finished, and gives another task', async () => {
    const board = { layout: 'cairn' as const, states: ['todo', 'done'], closed: ['done'] }
    const config: DataRecord = { kind: 'board', id: 'board', hash: 'b'.repeat(32), board }
    const repo = await publishedRepo(edge, [config, todo('A-1'), todo('A-2')])
    const check = async () => {
      const { code, out } = await command(repo, 'check', '--actor', 'ada')
      return [code, JSON.parse(out).type]
    }
    await command(repo, 'claim', '--actor', 'ada')
    await repo.changes({ upserts: [taskRecord('A-1', { status: 'done', ready: false })] })
    await command(repo, 'claim', '--actor', 'bob', '--task', 'A-2')
    expect((await command(repo, 'claim', '--actor', 'ada')).code).toBe(3)
    // What was refused took nothing: that end may be taken back.
    expect(await check()).toEqual([0, expect.stringMatching(/^(done|ended)$/)])
    await command(repo, 'release', '--actor', 'bob', '--abandoned')
    const next = lineOf(await command(repo, 'claim', '--actor', 'ada'))
    expect(next).toMatchObject({ type: 'claimed', task: 'A-2' })
    expect(await check()).toEqual([0, 'held'])
  })

  it('says away and done while an end may be taken back, and held when it was', async () => {
    const board = { layout: 'cairn' as const, states: ['todo', 'done'], closed: ['done'] }
    const config: DataRecord = { kind: 'board', id: 'board', hash: 'b'.repeat(32), board }
    const repo = await publishedRepo(edge, [config, todo('A-1')])
    await command(repo, 'claim', '--actor', 'ada')
    const types = async () => {
      const both = [
        await command(repo, 'check', '--actor', 'ada'),
        await command(repo, 'renew', '--actor', 'ada'),
      ]
      expect(both.map(({ code }) => code)).toEqual([0, 0])
      return both.map((it) => lineOf(it).type)
    }
    await repo.changes({ deletes: ['task:A-1'] })
    expect(await types()).toEqual(['away', 'away'])
    const other = await command(repo, 'claim', '--actor', 'bob', '--task', 'A-1')
    expect([other.code, lineOf(other).type]).toEqual([4, 'claimed'])
    await repo.changes({ upserts: [todo('A-1')] })
    expect(await types()).toEqual(['held', 'renewed'])
    await repo.changes({ upserts: [taskRecord('A-1', { status: 'done', ready: false })] })
    expect(await types()).toEqual(['done', 'done'])
    // Nothing is free for the same agent, which loses nothing by asking.
    expect((await command(repo, 'claim', '--actor', 'ada')).code).toBe(3)
    await repo.changes({ upserts: [todo('A-1')] })
    expect(await types()).toEqual(['held', 'renewed'])
  })

  it('never gives what is held in place of what was asked for', async () => {
    const tea = taskRecord('A-2', { status: 'todo', labels: ['tea'] })
    const repo = await publishedRepo(edge, [todo('A-1'), tea])
    await command(repo, 'claim', '--actor', 'ada')
    for (const other of [
      ['--task', 'A-2'],
      ['--label', 'tea'],
      ['--parent', 'E-1'],
    ]) {
      const { code, out } = await command(repo, 'claim', '--actor', 'ada', ...other)
      expect([code, JSON.parse(out)]).toMatchObject([4, { type: 'already_holding', task: 'A-1' }])
    }
    const ofTag = await command(repo, 'claim', '--actor', 'ada', '--tag', 'x')
    expect(ofTag.code).toBe(4)
    const same = await command(repo, 'claim', '--actor', 'ada', '--task', 'A-1')
    expect([same.code, lineOf(same)]).toMatchObject([0, { task: 'A-1', again: true }])
  })

  it('takes a claim of the environment, unless an actor is typed', async () => {
    const repo = await publishedRepo(edge, [todo('A-1'), todo('A-2')])
    const { claim } = lineOf(await command(repo, 'claim', '--actor', 'ada'))
    await command(repo, 'claim', '--actor', 'bob')
    const SIGNALBOX_TOKEN = await token({ scope: SCOPE, repos: [repo.path] })
    const env = { HOME: home, SIGNALBOX_TOKEN, SIGNALBOX_CLAIM: String(claim) }
    // Where it was made is kept with it.
    expect(lineOf(await run(['check'], env))).toMatchObject({ type: 'held', task: 'A-1' })
    const where = ['--url', edge.origin, '--board', repo.path]
    const typed = await run(['check', ...where, '--actor', 'bob'], env)
    expect(lineOf(typed)).toMatchObject({ type: 'held', task: 'A-2' })
  })

  it('offers no board whose files are gone', async () => {
    const [here, gone] = [await publishedRepo(edge, [todo('A-1')]), await publishedRepo(edge, [])]
    for (const [repo, store] of [[here, 'present'] as const, [gone, 'missing'] as const]) {
      const body = JSON.stringify(boardReport({ store }))
      expect((await repo.request('/boards', { method: 'PUT', body })).status).toBe(200)
    }
    const repos = [`${here.path}*`, `${gone.path}*`]
    const SIGNALBOX_TOKEN = await token({ scope: SCOPE, repos })
    const end = gone.path.replace(/^.*\//, '')
    const claim = ['claim', '--url', edge.origin, '--board', end]
    const { code, err } = await run(claim, { HOME: home, SIGNALBOX_TOKEN })
    expect([code, err]).toEqual([
      2,
      expect.stringContaining(`choose one with --board: ${here.path}`),
    ])
    expect(err).not.toContain(gone.path)
  })

  it('is for the process that is watched, else for the folder: each agent of a person is one', async () => {
    const repo = await publishedRepo(edge, [todo('A-1'), todo('A-2')])
    const SIGNALBOX_TOKEN = await token({ scope: SCOPE, repos: [repo.path] })
    const claim = ['claim', '--url', edge.origin, '--board', repo.path]
    const env = { HOME: home, SIGNALBOX_TOKEN }
    await run([...claim, '--pid', String(process.pid)], env, { cwd: home })
    await run(claim, env, { cwd: home })
    const { sessions } = await repo.json<{ sessions: { actor: string }[] }>('/sessions')
    const whose = [process.pid, agentAbove() ?? basename(home)]
    expect(new Set(sessions.map(({ actor }) => actor))).toEqual(
      new Set(whose.map((who) => `${userInfo().username}@${hostname()}:${who}`)),
    )
  })

  it('says in one sentence that files alone give no claims', async () => {
    const cwd = tempFolder()
    const { code, err } = await run(['claim'], { HOME: home }, { cwd })
    expect(code).toBe(1)
    expect(err).toMatch(/^signalbox: [^\n]+\n$/)
  })

  it('with --wait gives several waiters a task of their own', async () => {
    const repo = await publishedRepo(edge, [taskRecord('A-0', { status: 'doing' })])
    const actors = ['one', 'two', 'three']
    const waiting = actors.map((actor) => command(repo, 'claim', '--actor', actor, '--wait', '60s'))
    await repo.changes({ upserts: [todo('A-1'), todo('A-2'), todo('A-3')] })
    const given = await Promise.all(waiting)
    expect(given.map(({ code }) => code)).toEqual([0, 0, 0])
    expect(given.map((it) => lineOf(it).task).sort()).toEqual(['A-1', 'A-2', 'A-3'])
  })

  it('with --wait ends with 3 also where what should answer holds its connections', async () => {
    const asked = Promise.withResolvers<void>()
    const proxy = createServer(() => asked.resolve())
    onTestFinished(() => void proxy.close().closeAllConnections())
    await once(proxy.listen(0, '127.0.0.1'), 'listening')
    const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`
    const ended = new AbortController()
    const said = { out: '' }
    const io = {
      out: (text: string) => {
        said.out += text
      },
      err: () => undefined,
      isTerminal: false,
      shutdownSignal: () => ended.signal,
    }
    const SIGNALBOX_TOKEN = await token({ scope: SCOPE, repos: ['web'] })
    const argv = ['claim', '--url', url, '--actor', 'ada', '--wait', '1h']
    const running = run(argv, { HOME: home, SIGNALBOX_TOKEN }, { io })
    await asked.promise
    ended.abort('SIGINT')
    expect((await running).code).toBe(3)
    expect(lineOf(said)).toEqual({ type: 'timeout', board: 'web' })
  })
})

describe('a claim whose process is known', () => {
  /** It ends with the test. */
  function program() {
    const agent = spawn('sleep', ['600'], { stdio: 'ignore' })
    onTestFinished(() => void agent.kill('SIGKILL'))
    return agent
  }
  /** Watches the claims of this home, as a running Signalbox does, until the test ends. */
  async function watched(repo: Repo) {
    const end = new AbortController()
    const SIGNALBOX_TOKEN = await token({ scope: SCOPE, repos: [repo.path] })
    let asked = 0
    const watching = watchClaims({
      env: { HOME: home },
      at: [edge.origin],
      url: edge.origin,
      signal: end.signal,
      token: async () => {
        asked++
        return SIGNALBOX_TOKEN
      },
    })
    const stop = async () => {
      end.abort()
      await watching
    }
    onTestFinished(stop)
    return { stop, asked: () => asked }
  }

  it('is renewed while it runs, and given back within seconds after it was killed', async () => {
    const repo = await publishedRepo(edge, [todo('A-1')])
    const agent = program()
    await watched(repo)
    await command(repo, 'claim', '--actor', 'ada', '--pid', String(agent.pid), '--ttl', '10s')
    const health = async () =>
      (await repo.json<{ sessions: { health: string }[] }>('/sessions')).sessions[0]?.health
    const expiry = async () =>
      (await repo.json<{ sessions: { claim: { expiresAt: string } }[] }>('/sessions')).sessions[0]
        ?.claim.expiresAt
    const first = await expiry()
    await expect.poll(expiry).not.toBe(first)
    expect(await health()).toBe('active')
    agent.kill('SIGKILL')
    await expect.poll(health).toBe('canceled')
    expect(lineOf(await command(repo, 'claim', '--actor', 'bob'))).toMatchObject({ task: 'A-1' })
  })

  it('is active while it computes, and not while it only runs', async () => {
    const repo = await publishedRepo(edge, [todo('A-1'), todo('A-2')])
    const busy = spawn('sh', ['-c', COMPUTES_NOW_AND_THEN], { stdio: 'ignore' })
    onTestFinished(() => void busy.kill('SIGKILL'))
    await watched(repo)
    for (const [actor, { pid }] of Object.entries({ ada: busy, bob: program() })) {
      await command(repo, 'claim', '--actor', actor, '--pid', String(pid), '--ttl', '10s')
    }
    const claimedAt = Date.now()
    const activeAt = async (actor: string) => {
      const { sessions } = await repo.json<{ sessions: Session[] }>('/sessions')
      const { startedAt = '', activeAt = startedAt } =
        sessions.find((it) => it.actor === actor) ?? {}
      return Date.parse(activeAt)
    }
    await expect.poll(() => activeAt('ada')).toBeGreaterThan(claimedAt + 3_000)
    // What it has is of the command that claimed.
    expect(await activeAt('bob')).toBeLessThanOrEqual(claimedAt)
  })

  it('that has ended meanwhile is known to the agent: 0 where its task was closed, 4 where lost', async () => {
    const repo = await publishedRepo(edge, [todo('A-1'), todo('A-2')])
    const agent = program()
    const SIGNALBOX_TOKEN = await token({ scope: SCOPE, repos: [repo.path] })
    const pid = ['--pid', String(agent.pid)]
    for (const actor of ['ada', 'bob']) await command(repo, 'claim', '--actor', actor, ...pid)
    const { sessions } = await repo.json<{ sessions: { id: string; actor: string }[] }>('/sessions')
    const session = sessions.find(({ actor }) => actor === 'bob')?.id
    await repo.changes({ upserts: [taskRecord('A-1', { status: 'done', ready: false })] })
    const ended = await repo.request('/claims/release', {
      method: 'POST',
      headers: { authorization: `Bearer ${SIGNALBOX_TOKEN}` },
      body: JSON.stringify({ session, outcome: 'abandoned' }),
    })
    expect(ended.status).toBe(200)
    const { stop, asked } = await watched(repo)
    // Both have been looked at, and what came of it is known.
    await expect.poll(asked).toBe(2)
    await stop()
    expect((await command(repo, 'release', '--actor', 'ada', '--done')).code).toBe(0)
    expect((await command(repo, 'check', '--actor', 'bob')).code).toBe(4)
  })

  it('is not renewed while it is stopped: another gets the task, and the woken one a 4', async () => {
    const repo = await publishedRepo(edge, [todo('A-1')])
    const agent = program()
    const pid = ['--pid', String(agent.pid)]
    await command(repo, 'claim', '--actor', 'ada', ...pid, '--ttl', '10s')
    agent.kill('SIGSTOP')
    await watched(repo)
    const next = await command(repo, 'claim', '--actor', 'bob', '--wait', '60s')
    expect([next.code, lineOf(next)]).toMatchObject([0, { task: 'A-1' }])
    agent.kill('SIGCONT')
    expect((await command(repo, 'check', '--actor', 'ada')).code).toBe(4)
  })

  it('that is killed while its task is away leaves one that others can have when it is back', async () => {
    const repo = await publishedRepo(edge, [todo('A-1')])
    const agent = program()
    await command(repo, 'claim', '--actor', 'ada', '--pid', String(agent.pid))
    await repo.changes({ deletes: ['task:A-1'] })
    agent.kill('SIGKILL')
    await watched(repo)
    const kept = () => readdir(join(home, '.local/state/signalbox/claims'))
    await expect.poll(kept).toEqual([])
    await repo.changes({ upserts: [todo('A-1')] })
    expect(lineOf(await command(repo, 'claim', '--actor', 'bob'))).toMatchObject({ task: 'A-1' })
  })

  it('of another user is nothing to the Signalbox of this one', async () => {
    const repo = await publishedRepo(edge, [todo('A-1'), todo('A-2')])
    const other = tempFolder()
    const agent = program()
    const SIGNALBOX_TOKEN = await token({ scope: SCOPE, repos: [repo.path] })
    const claim = ['claim', '--url', edge.origin, '--board', repo.path, '--pid', String(agent.pid)]
    await run([...claim, '--actor', 'ada'], { HOME: other, SIGNALBOX_TOKEN })
    await run([...claim, '--actor', 'bob'], { HOME: home, SIGNALBOX_TOKEN })
    agent.kill('SIGKILL')
    await watched(repo)
    const health = async () => {
      const { sessions } = await repo.json<{ sessions: { actor: string; health: string }[] }>(
        '/sessions',
      )
      return sessions.map((it) => `${it.actor} ${it.health}`).sort()
    }
    await expect.poll(health).toEqual(['ada active', 'bob canceled'])
  })

  it('is told from another one with the same pid, of another boot, and in another container', async () => {
    const agent = program()
    const known = identify(agent.pid ?? 0)
    if (!known) throw new Error('it does not run')
    expect(stateOf(known)).toBe('running')
    agent.kill('SIGSTOP')
    await expect.poll(() => stateOf(known)).toBe('stopped')
    expect(stateOf({ ...known, startedAt: '1' })).toBe('gone')
    expect(stateOf({ ...known, boot: 'another' })).toBe('elsewhere')
    expect(stateOf({ ...known, namespace: 'pid:[1]' })).toBe('elsewhere')
  })

  it('is read from the lines of macOS’ ps', () => {
    const line = '  501 S+   Thu Nov 26 22:58:28 2026     /opt/homebrew/bin/claude\n'
    expect(byPs(line)).toEqual({
      parent: 501,
      startedAt: 'Thu Nov 26 22:58:28 2026',
      name: 'claude',
      isStopped: false,
    })
    expect(byPs('    1 T    Mon Jan  5 08:00:00 2026     -zsh\n')).toMatchObject({
      startedAt: 'Mon Jan  5 08:00:00 2026',
      isStopped: true,
    })
    expect(byPs('    1 Z    Mon Jan  5 08:00:00 2026     (claude)\n')).toBeUndefined()
    expect(byPs(undefined)).toBeUndefined()
  })

  it.each([
    // `claude` runs `timeout 20 sh -c …`.
    ['behind timeout and shells', 22_578, 22_574],
    // A window of tmux runs `claude`, which runs a shell.
    ['in a window of tmux', 22_586, 22_583],
    // `claude` had tmux open a window, which runs a shell: it may outlive the agent.
    ['whose tmux runs the command', 22_618, undefined],
    ['by the end of its path, as on macOS', 301, 300],
    ['where none is above', 22_567, undefined],
  ])('is found %s', (_, caller, agent) => {
    const lines = TREES.trim()
      .split('\n')
      .map((line) => /^ *(\d+) (.*)$/.exec(line) ?? [])
    const seenAs = (pid: number) => byPs(lines.find(([, own]) => own === String(pid))?.[2])
    expect(agentAbove(caller, seenAs)).toBe(agent)
  })
})

/** Recorded with `ps -e -o pid=,ppid=,stat=,lstart=,comm=`. */
const TREES = `
22566  9008 S    Fri Nov 27 13:33:52 2026 bash
22567 22566 S    Fri Nov 27 13:33:52 2026 bash
22574 22567 S    Fri Nov 27 13:33:52 2026 claude
22576 22574 S    Fri Nov 27 13:33:52 2026 timeout
22577 22576 S    Fri Nov 27 13:33:52 2026 sh
22578 22577 S    Fri Nov 27 13:33:52 2026 sh
22582     1 Ss   Fri Nov 27 13:33:52 2026 tmux: server
22583 22582 Ss+  Fri Nov 27 13:33:52 2026 claude
22586 22583 S+   Fri Nov 27 13:33:52 2026 sh
22613     1 Ss   Fri Nov 27 13:33:53 2026 tmux: server
22618 22613 Ss+  Fri Nov 27 13:33:53 2026 sh
  300     1 S    Fri Nov 27 13:33:53 2026 /opt/homebrew/bin/gemini
  301   300 S    Fri Nov 27 13:33:53 2026 /bin/zsh
`
