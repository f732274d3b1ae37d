// Keeps the processes of the system running: starts a dead one again, within limits, and ends all
// of them in order. Owns no clock and starts no process by itself: both come in.

import type { Child, ChildSpec, Ending, SpawnChild } from './child.ts'

export interface SupervisorDeps {
  spawn: SpawnChild
  /** Time in ms. */
  now(): number
  /** Calls back once after `ms`; what it returns takes that back. */
  after(ms: number, call: () => void): () => void
  /** Shows a sentence to the person at the terminal. */
  notice(sentence: string): void
}

/** A child process, also while it waits to be started again. */
interface ManagedProcess {
  spec: ChildSpec
  policy: RestartPolicy
  child: Child | undefined
  cancelRestart: (() => void) | undefined
}

export class Supervisor {
  readonly #deps: SupervisorDeps
  /** In the order of their start. */
  readonly #processes: ManagedProcess[] = []
  readonly #failed = Promise.withResolvers<{ sentence: string }>()
  #restarting = false
  #stopping = false

  constructor(deps: SupervisorDeps) {
    this.#deps = deps
  }

  /** Resolves with a sentence when a process is not started again. Else it never resolves. */
  get failed(): Promise<{ sentence: string }> {
    return this.#failed.promise
  }

  start(spec: ChildSpec): void {
    if (this.#stopping) return
    const policy = new RestartPolicy()
    const managed: ManagedProcess = { spec, policy, child: undefined, cancelRestart: undefined }
    this.#processes.push(managed)
    this.#run(managed)
  }

  /**
   * From now on a process that dies is started again. Before, a death is a failure at once: what
   * cannot come up the first time is misconfigured, and trying it five times only hides that.
   */
  keepAlive(): void {
    this.#restarting = true
  }

  /** Ends all, the last one started first: what depends on others goes before them. */
  async stop(): Promise<void> {
    this.#stopping = true
    for (const managed of this.#processes) managed.cancelRestart?.()
    for (const { child } of this.#processes.toReversed()) {
      child?.stop()
      await child?.ended
    }
  }

  /** Ends all at once. A `stop` under way resolves soon after. */
  kill(): void {
    this.#stopping = true
    for (const managed of this.#processes) {
      managed.cancelRestart?.()
      managed.child?.kill()
    }
  }

  #run(managed: ManagedProcess): void {
    managed.cancelRestart = undefined
    const child = this.#deps.spawn(managed.spec)
    managed.child = child
    void child.ended.then((ending) => this.#onDeath(managed, child.pid, ending))
  }

  #onDeath(managed: ManagedProcess, pid: number | undefined, ending: Ending): void {
    managed.child = undefined
    if (this.#stopping) return
    const { name, logFile } = managed.spec
    const what = `${name} (pid ${pid ?? 'none'}) ${endingText(ending)}`
    if (!this.#restarting) {
      this.#failed.resolve({ sentence: `${what} before it was ready; see ${logFile}.` })
      return
    }
    const verdict = managed.policy.onDeath(this.#deps.now())
    if (!verdict.again) {
      const often = `${verdict.deaths} times within a minute`
      this.#failed.resolve({ sentence: `${what}, ${often}; see ${logFile}.` })
      return
    }
    this.#deps.notice(`${what}; starting it again in ${verdict.delayMs} ms.`)
    managed.cancelRestart = this.#deps.after(verdict.delayMs, () => this.#run(managed))
  }
}

function endingText({ code, signal }: Ending): string {
  return signal === null ? `ended with exit code ${code}` : `was ended by ${signal}`
}

const FIRST_DELAY_MS = 250
/** After this many exits within the window, starting again does not help. */
const MAX_DEATHS = 5
const WINDOW_MS = 60_000

export type Verdict = { again: true; delayMs: number } | { again: false; deaths: number }

/**
 * Whether a process that died is started again, and when. Pure.
 * @forTests An hour of crashes in microseconds.
 */
export class RestartPolicy {
  #deaths: number[] = []

  /** `now` in ms, of any clock that does not run backwards. */
  onDeath(now: number): Verdict {
    this.#deaths = this.#deaths.filter((at) => now - at < WINDOW_MS)
    const deaths = this.#deaths.push(now)
    if (deaths >= MAX_DEATHS) return { again: false, deaths }
    return { again: true, delayMs: FIRST_DELAY_MS * 2 ** (deaths - 1) }
  }
}
