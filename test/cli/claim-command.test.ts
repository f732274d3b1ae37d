// signalbox claim -- COMMAND: real processes, and a real edge that they ask by its URL.

import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import type { Session } from '../../worker/board/wire.ts'
import { publishedRepo, type Repo, taskRecord, token } from '../support/edge.ts'
import { programEnv } from '../support/run-home.ts'
import { type NodeEdgeInTest, startNodeEdge } from '../support/start-edge.ts'
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
  const task = { status: 'todo', title: 'Bake bread', file: 'tasks/A-1.md' }
  repo = await publishedRepo(edge, [taskRecord('A-1', task)])
})

const agentToken = () => token({ scope: 'board:read board:work', repos: [repo.path] })

/** `script` is run by a shell, in which `signalbox` is the program. */
function claim(script: string, ...options: string[]) {
  const shell = `signalbox() { "${process.execPath}" "${PROGRAM}" "$@"; }; ${script}`
  return started(options, '/bin/sh', '-c', shell)
}

async function started(options: string[], ...command: string[]) {
  const where = ['--url', edge.origin, '--board', repo.path]
  const argv = [PROGRAM, 'claim', ...where, ...options, '--', ...command]
  const env = { ...programEnv(home), SIGNALBOX_TOKEN: await agentToken() }
  const child = spawn(process.execPath, argv, { cwd: home, env, stdio: 'pipe' })
  onTestFinished(() => void child.kill('SIGKILL'))
  const said = { out: '', err: '' }
  child.stdout.on('data', (chunk) => {
    said.out += chunk
  })
  child.stderr.on('data', (chunk) => {
    said.err += chunk
  })
  const ended = new Promise<{ code: number | null; out: string; err: string }>((resolve) => {
    child.once('close', (code) => resolve({ code, ...said }))
  })
  return { child, ended, said }
}
const session = async () =>
  (await repo.json<{ sessions: Session[] }>('/sessions')).sessions[0] as Session & {
    claim: { expiresAt: string }
  }

describe('signalbox claim -- COMMAND', () => {
  it('runs it with its task in the environment, and the claim is done where it exits with 0', async () => {
    const names = ['TASK', 'TITLE', 'FILE', 'CLAIM'].map((name) => `$SIGNALBOX_${name}`)
    const { child, ended } = await claim(`cat; echo "${names.join(' ')}"`)
    child.stdin.end('from stdin\n')
    const { code, out, err } = await ended
    expect(code).toBe(0)
    const line = JSON.parse(err.split('\n')[0] ?? '') as Record<string, string>
    expect(line).toMatchObject({ type: 'claimed', task: 'A-1', title: 'Bake bread' })
    expect(out).toBe(`from stdin\nA-1 Bake bread tasks/A-1.md ${line.claim}\n`)
    expect(err).toContain('"type":"released"')
    expect(await session()).toMatchObject({ health: 'finished', task: 'A-1' })
  })

  it('exits with its code, and the task is given back', async () => {
    const { ended } = await claim('exit 7')
    expect((await ended).code).toBe(7)
    expect(await session()).toMatchObject({ health: 'canceled' })
  })

  it('is found from inside by the claim alone, and what the command released itself stands', async () => {
    const release = 'signalbox release --done --summary baked'
    const { ended } = await claim(`signalbox check && ${release} && exit 5`)
    const { code, out } = await ended
    const types = out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).type)
    expect([code, types]).toEqual([5, ['held', 'released']])
    expect(await session()).toMatchObject({ health: 'finished', summary: 'baked' })
  })

  it('passes signals on', async () => {
    const { child, ended, said } = await claim(
      `trap 'echo usr; exit 9' USR1; trap 'echo int' INT; echo up; while :; do sleep 0.05; done`,
    )
    await expect.poll(() => said.out).toBe('up\n')
    child.kill('SIGINT')
    await expect.poll(() => said.out).toBe('up\nint\n')
    child.kill('SIGUSR1')
    expect(await ended).toMatchObject({ code: 9, out: 'up\nint\nusr\n' })
  })

  it('is renewed while it runs, gets SIGTERM where the claim is lost, and exits with 4', async () => {
    const script = `trap 'echo over; exit 0' TERM; echo up; while :; do sleep 0.05; done`
    const { ended, said } = await claim(script, '--ttl', '10s')
    await expect.poll(() => said.out).toBe('up\n')
    const { id, claim: made } = await session()
    await expect.poll(async () => (await session()).claim.expiresAt).not.toBe(made.expiresAt)
    await repo.request('/claims/release', {
      method: 'POST',
      headers: { authorization: `Bearer ${await agentToken()}` },
      body: JSON.stringify({ session: id, outcome: 'abandoned' }),
    })
    const { code, out, err } = await ended
    expect([code, out]).toEqual([4, 'up\nover\n'])
    expect(err).toContain('The claim of A-1 is lost')
  })

  it('begins nothing where no task is free, or where it is somebody else’s', async () => {
    const env = { HOME: home, SIGNALBOX_TOKEN: await agentToken() }
    const where = ['--url', edge.origin, '--board', repo.path]
    expect((await run(['claim', ...where, '--actor', 'ada'], env)).code).toBe(0)
    const file = join(home, 'began')
    for (const [options, code] of [[[], 3] as const, [['--task', 'A-1'], 4] as const]) {
      const { ended } = await claim(`touch ${file}`, ...options)
      expect((await ended).code).toBe(code)
    }
    const waiting = await claim(`touch ${file}`, '--wait', '60s')
    const streams = async () => (await repo.json<{ streams: number }>('/status')).streams
    await expect.poll(streams).toBe(1)
    waiting.child.kill('SIGTERM')
    expect((await waiting.ended).code).toBe(3)
    expect(existsSync(file)).toBe(false)
    const stray = await run(['claim', ...where, 'A-1', '--', 'true'], env)
    expect([stray.code, stray.err]).toEqual([2, expect.stringContaining('A-1 is no option')])
    expect((await run(['claim', ...where, 'A-1'], env)).code).toBe(2)
  })

  it('gives the task back where there is no such program, as a shell says it', async () => {
    const { ended } = await started([], join(home, 'none'))
    const { code, err } = await ended
    expect([code, err]).toEqual([127, expect.stringContaining('cannot be run (ENOENT)')])
    expect(await session()).toMatchObject({ health: 'canceled' })
  })

  it('run several times at once works on several tasks', async () => {
    await repo.changes({ upserts: [taskRecord('A-2', { status: 'todo' })] })
    const both = await Promise.all([1, 2].map(() => claim('echo "$SIGNALBOX_TASK"; read -r _')))
    // What one that fails says is why.
    const shown = () => both.map(({ said }) => said.out || said.err).sort()
    await expect.poll(shown).toEqual(['A-1\n', 'A-2\n'])
    for (const { child } of both) child.stdin.end('\n')
    expect(await Promise.all(both.map(async ({ ended }) => (await ended).code))).toEqual([0, 0])
  })
})
