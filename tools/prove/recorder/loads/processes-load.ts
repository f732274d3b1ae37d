// Processes that hold claims: the commands of agents claim for them, under two homes with a
// Signalbox each. Some processes are killed, some are stopped for longer than their lease, and so
// are the Signalboxes killed.

import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { machineVariables } from '../../../../system/local/environment.ts'
import { SIGNALBOX } from '../../../harness/config.ts'
import { Process } from '../../../harness/process.ts'
import type { AgentsPlan } from './claimer.ts'

const HOMES = 2
const WORKERS_OF_EACH = 4
const TTL_MS = 10_000
/** Each command is a program that starts: the load must leave time for the rest. */
const PAUSE_MS = 8_000
const HOLDS_MS = 4_000
const STOPPED_MS = 20_000
const KILLED_EVERY_MS = 20_000
const GIVEN_BACK_MS = 60_000
const POLL_MS = 250

interface Answer {
  code: number
  line: { task?: string; generation?: number; expiresAt?: string; end?: object }
  stderr: string
}

export async function processesLoad({ system, claimer, recorder, random, ending }: AgentsPlan) {
  const dir = await mkdtemp(join(tmpdir(), 'signalbox-homes-'))
  const running = new Set<ChildProcess>()
  const killed: number[] = []
  const homes = await Promise.all(Array.from({ length: HOMES }, (_, n) => open(`home-${n}`)))

  async function open(name: string) {
    const home = join(dir, name)
    await mkdir(join(home, 'project'), { recursive: true })
    const env = {
      ...machineVariables(process.env),
      HOME: home,
      SIGNALBOX_TOKEN: system.tokens.agent,
      NODE_COMPILE_CACHE: join(dir, 'compiled'),
    }
    // It has no board of its own: it looks after the processes.
    const to = [`--edge=${system.proxies.sidecar.url}`, `--repo=prove/${name}`, '--wait']
    const args = [SIGNALBOX, 'watch', join(home, 'project'), ...to]
    const program = { name, command: process.execPath, args, env, graceMs: 5_000 }
    return { env, signalbox: new Process({ ...program, logFile: join(home, 'log') }) }
  }

  /** Until the edge has answered: one whose answer was lost is asked again, by the same claim. */
  async function ask(env: Record<string, string>, ...command: string[]): Promise<Answer> {
    const where = ['--url', system.proxies.sidecar.url, '--board', system.repo]
    for (;;) {
      const answer = await new Promise<Answer>((resolve) => {
        const args = [SIGNALBOX, ...command, ...where]
        execFile(process.execPath, args, { env }, (error, stdout, stderr) => {
          const line = stdout ? JSON.parse(stdout) : {}
          resolve({ code: Number(error?.code ?? 0), line, stderr })
        })
      })
      if (answer.code !== 1 || answer.stderr.includes('holds no claim')) return answer
      if (!(await ending.pause(POLL_MS))) return answer
    }
  }

  async function hold(env: Record<string, string>, actor: string, child: ChildProcess) {
    const who = ['--pid', String(child.pid)]
    const given = claimer.asks(actor, TTL_MS)
    const claimed = await ask(env, 'claim', ...who, '--ttl', `${TTL_MS / 1_000}s`)
    const { task, generation, expiresAt } = claimed.line
    if (claimed.code !== 0 || generation === undefined) return
    given(generation, task, expiresAt)
    await ending.pause(random.below(HOLDS_MS))
    const how = random.weighted([
      [3, 'killed'],
      [3, 'released'],
      [2, 'silent'],
      [2, 'stopped'],
    ] as const)
    if (how === 'silent') await ending.pause(2 * TTL_MS)
    if (how === 'stopped') {
      child.kill('SIGSTOP')
      await ending.pause(random.below(STOPPED_MS))
      child.kill('SIGCONT')
    }
    if (how === 'silent' || how === 'stopped') check(generation, await ask(env, 'check', ...who))
    recorder.write({ kind: 'release', generation })
    if (how === 'released') await ask(env, 'release', ...who, '--abandoned')
    else killed.push(generation)
  }

  function check(generation: number, { code, line, stderr }: Answer): void {
    const end = code === 0 && line.end === undefined ? line.expiresAt : undefined
    const statuses: Record<number, number | undefined> = { 0: 200, 4: 410 }
    const status = stderr.includes('holds no claim') ? 404 : statuses[code]
    // Without one the edge was away for too long.
    if (status !== undefined) claimer.renewed(generation, status, end)
  }

  async function sessionOf(generation: number): Promise<{ health: string; cancelReason?: string }> {
    const answer = await system.askBoard(`/sessions/claim-${generation}`)
    if (answer.status === 404) return { health: 'forgotten' }
    return answer.ok ? ((await answer.json()) as { health: string }) : { health: 'active' }
  }

  const killSignalboxes = { times: 1, pauseMs: () => random.below(2 * KILLED_EVERY_MS) }
  const work = { times: HOMES * WORKERS_OF_EACH, pauseMs: () => random.below(PAUSE_MS) }
  return {
    async run(): Promise<void> {
      for (const { signalbox } of homes) await signalbox.start()
      const killing = ending.repeat(killSignalboxes, async () => {
        const { signalbox } = homes[random.below(HOMES)] ?? {}
        await signalbox?.kill()
        await signalbox?.start()
      })
      const working = ending.repeat(work, async (who) => {
        // It ends with us, as its input does.
        const child = spawn('cat', { stdio: ['pipe', 'ignore', 'ignore'] })
        running.add(child)
        await hold(homes[who % HOMES]?.env ?? {}, `worker-${who}`, child)
        child.kill('SIGKILL')
        running.delete(child)
      })
      await Promise.all([killing, working])
    },

    /** What the dead held is given back. It is recorded. */
    async rest(): Promise<void> {
      const until = performance.now() + GIVEN_BACK_MS
      for (const generation of killed) {
        let session = await sessionOf(generation)
        while (['active', 'stalled'].includes(session.health) && performance.now() < until) {
          await sleep(POLL_MS)
          session = await sessionOf(generation)
        }
        const { health, cancelReason: why } = session
        recorder.write({ kind: 'left', generation, health, why })
      }
    },

    /** Leaves no process and no file. */
    async close(): Promise<void> {
      for (const child of running) child.kill('SIGKILL')
      for (const { signalbox } of homes) await signalbox.stop()
      await rm(dir, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}
