// Asks again and again while somebody looks: one round at a time, later after failures, at once
// when there is a reason to. Owns no clock and does no I/O.

import { backoffMs, type Clock } from '../../client/clock.ts'
import type { Freshness } from '../payments/feed/freshness.ts'

export interface PollerDeps {
  clock: Clock
  /** Reads all that is shown once. Rejects when any of it could not be read. */
  round(signal: AbortSignal): Promise<void>
  /** Whether somebody looks: nobody's page asks for nothing. */
  isSeen(): boolean
  on(freshness: Freshness): void
}

export const ROUND_MS = 5_000
/** An answer that takes longer was perhaps asked for over a network that is gone. */
export const PATIENCE_MS = 15_000
/** One that had not come by then, when the page is looked at again, is asked for anew. */
const SLOW_MS = 3_000

export class Poller {
  readonly #deps: PollerDeps
  #cancelTimer: (() => void) | undefined
  #running: { controller: AbortController; since: number } | undefined
  #isAskedAgain = false
  #isStopped = false
  #failures = 0
  #asOf: number | undefined

  constructor(deps: PollerDeps) {
    this.#deps = deps
  }

  /**
   * Reads now: something was done here, or something else is looked at. A round under way may have
   * been answered before that, so another one follows it.
   */
  ask(): void {
    if (this.#isStopped) return
    if (this.#running) this.#isAskedAgain = true
    else void this.#round()
  }

  /** The page is looked at again, or its network is back: nothing that failed is waited for. */
  wake(): void {
    const { clock, isSeen } = this.#deps
    if (this.#isStopped || !isSeen()) return
    this.#failures = 0
    if (!this.#running) void this.#round()
    else if (clock.now() - this.#running.since > SLOW_MS) {
      this.#isAskedAgain = true
      this.#running.controller.abort()
    }
  }

  stop(): void {
    this.#isStopped = true
    this.#cancelTimer?.()
    this.#running?.controller.abort()
  }

  async #round(): Promise<void> {
    const { clock, on } = this.#deps
    this.#cancelTimer?.()
    this.#isAskedAgain = false
    const controller = new AbortController()
    // What is read was so when it was asked for; it may be older than its arrival.
    const since = clock.now()
    this.#running = { controller, since }
    const giveUp = clock.after(PATIENCE_MS, () => controller.abort())
    try {
      await this.#deps.round(controller.signal)
      this.#failures = 0
      this.#asOf = since
      if (!this.#isStopped) on({ name: 'current', asOf: since })
    } catch (problem) {
      this.#failures++
      // Where another round follows at once, that one tells.
      if (!this.#isStopped && !this.#isAskedAgain) this.#failed(problem)
    } finally {
      giveUp()
      this.#running = undefined
      this.#next()
    }
  }

  #failed(problem: unknown): void {
    const known = this.#asOf !== undefined && { asOf: this.#asOf }
    this.#deps.on({ name: 'unreached', problem, ...known })
  }

  #next(): void {
    if (this.#isStopped) return
    const { clock, isSeen } = this.#deps
    if (this.#isAskedAgain) {
      void this.#round()
      return
    }
    const waitMs =
      this.#failures === 0
        ? ROUND_MS
        : Math.max(
            ROUND_MS,
            backoffMs(this.#failures, () => clock.random()),
          )
    // Hidden, it stops here, and `wake` goes on.
    this.#cancelTimer = clock.after(waitMs, () => {
      if (isSeen()) void this.#round()
    })
  }
}
