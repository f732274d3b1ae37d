// Processes that hold claims: the commands of agents claim for them, under two homes with a
// Signalbox each. Some processes are killed, some are stopped for longer than their lease, and so
// are the Signalboxes killed.

import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { machineVariables } from '../../../system/environment.ts'
import { SIGNALBOX } from '../../harness/config.ts'
import { Process } from '../../harness/process.ts'
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

interface Home {
  env: Record<string, string>
  signalbox: Process
}

interface Answer {
  code: number
  line: { type?: string; task?: string; generation?: number; expiresAt?: string; end?: object }
  stderr: string
}

export class ProcessesLoad {
  readonly #plan: AgentsPlan
  readonly #running = new Set<ChildProcess>()
  readonly #killed: number[] = []
  #homes: Home[] = []
  #dir = ''

  constructor(plan: AgentsPlan) {
    this.#plan = plan
  }

  async run(): Promise<void> {
    this.#dir = await mkdtemp(join(tmpdir(), 'signalbox-homes-'))
    const names = Array.from({ length: HOMES }, (_, n) => `home-${n}`)
    this.#homes = await Promise.all(names.map((name) => this.#open(name)))
    const working = this.#homes.flatMap((home, n) =>
      Array.from({ length: WORKERS_OF_EACH }, (_, m) => this.#work(home, `worker-${n}-${m}`)),
    )
    await Promise.all([...working, this.#killSignalboxes()])
  }

  /** What the dead held is given back. It is recorded. */
  async rest(): Promise<void> {
    const until = performance.now() + GIVEN_BACK_MS
    for (const generation of this.#killed) {
      let session = await this.#sessionOf(generation)
      while (['active', 'stalled'].includes(session.health) && performance.now() < until) {
        await sleep(POLL_MS)
        session = await this.#sessionOf(generation)
      }
      const { health, cancelReason: why } = session
      this.#plan.recorder.write({ kind: 'left', generation, health, why })
    }
  }

  /** Leaves no process and no file. */
  async close(): Promise<void> {
    for (const child of this.#running) child.kill('SIGKILL')
    for (const { signalbox } of this.#homes) await signalbox.stop()
    if (this.#dir) await rm(this.#dir, { recursive: true, force: true, maxRetries: 5 })
  }

  async #open(name: string): Promise<Home> {
    const home = join(this.#dir, name)
    await mkdir(join(home, 'project'), { recursive: true })
    const { tokens, proxies } = this.#plan.system
    const env = {
      ...machineVariables(process.env),
      HOME: home,
      SIGNALBOX_TOKEN: tokens.agent,
      NODE_COMPILE_CACHE: join(this.#dir, 'compiled'),
    }
    // It has no board of its own: it looks after the processes.
    const publishing = [`--edge=${proxies.sidecar.url}`, `--repo=prove/${name}`, '--wait']
    const signalbox = new Process({
      name,
      command: process.execPath,
      env,
      logFile: join(home, 'log'),
      graceMs: 5_000,
      args: [SIGNALBOX, 'watch', join(home, 'project'), ...publishing],
    })
    await signalbox.start()
    return { env, signalbox }
  }

  async #killSignalboxes(): Promise<void> {
    const { random, ending } = this.#plan
    while (await ending.pause(random.below(2 * KILLED_EVERY_MS))) {
      const { signalbox } = this.#homes[random.below(HOMES)] ?? {}
      await signalbox?.kill()
      await signalbox?.start()
    }
  }

  async #work(home: Home, claimer: string): Promise<void> {
    const { random, ending } = this.#plan
    while (await ending.pause(random.below(PAUSE_MS))) {
      // It ends with us, as its input does.
      const child = spawn('cat', { stdio: ['pipe', 'ignore', 'ignore'] })
      this.#running.add(child)
      await this.#hold(home, claimer, child)
      child.kill('SIGKILL')
      this.#running.delete(child)
    }
  }

  async #hold(home: Home, claimer: string, child: ChildProcess): Promise<void> {
    const { claimer: claims, recorder, random, ending } = this.#plan
    const who = ['--pid', String(child.pid)]
    const given = claims.asks(claimer, TTL_MS)
    const claimed = await this.#ask(home, 'claim', ...who, '--ttl', `${TTL_MS / 1_000}s`)
    const { task, generation, expiresAt } = claimed.line
    if (claimed.code !== 0 || generation === undefined) return
    given(generation, task, expiresAt)
    await ending.pause(random.below(HOLDS_MS))
    const how = random.weighted([
      [3, 'killed'],
      [3, 'released'],
      [2, 'silent'],
      [2, 'stopped'],
    ])
    if (how === 'silent') await ending.pause(2 * TTL_MS)
    if (how === 'stopped') {
      child.kill('SIGSTOP')
      await ending.pause(random.below(STOPPED_MS))
      child.kill('SIGCONT')
    }
    if (how === 'silent' || how === 'stopped') await this.#check(home, generation, who)
    recorder.write({ kind: 'release', generation })
    if (how === 'released') await this.#ask(home, 'release', ...who, '--abandoned')
    else this.#killed.push(generation)
  }

  async #check(home: Home, generation: number, who: readonly string[]): Promise<void> {
    const { code, line, stderr } = await this.#ask(home, 'check', ...who)
    const end = code === 0 && line.end === undefined ? line.expiresAt : undefined
    const statuses: Record<number, number | undefined> = { 0: 200, 4: 410 }
    const status = stderr.includes('holds no claim') ? 404 : statuses[code]
    // Without one the edge was away for too long.
    if (status !== undefined) this.#plan.claimer.renewed(generation, status, end)
  }

  /** Until the edge has answered: one whose answer was lost is asked again, by the same claim. */
  async #ask(home: Home, name: string, ...options: string[]): Promise<Answer> {
    const { proxies, repo } = this.#plan.system
    const where = ['--url', proxies.sidecar.url, '--board', repo]
    for (;;) {
      const answer = await new Promise<Answer>((resolve) => {
        const args = [SIGNALBOX, name, ...where, ...options]
        execFile(process.execPath, args, { env: home.env }, (error, stdout, stderr) => {
          resolve({
            code: Number(error?.code ?? 0),
            line: stdout ? JSON.parse(stdout) : {},
            stderr,
          })
        })
      })
      if (answer.code !== 1 || answer.stderr.includes('holds no claim')) return answer
      if (!(await this.#plan.ending.pause(POLL_MS))) return answer
    }
  }

  async #sessionOf(generation: number): Promise<{ health: string; cancelReason?: string }> {
    const answer = await this.#plan.system.askBoard(`/sessions/claim-${generation}`)
    if (answer.status === 404) return { health: 'forgotten' }
    return answer.ok ? ((await answer.json()) as { health: string }) : { health: 'active' }
  }
}
