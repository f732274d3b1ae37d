// Polls while the page is visible: one round at a time, less often after failures, at once on
// request. It has no clock and does no I/O.

import { RETRY } from '../../libraries/client/requests.ts'
import { backoffMs, type Clock } from '../../worker/shared/clock.ts'

export type Freshness =
  | { name: 'loading' }
  /** `asOf` in ms: the data was current at this time. */
  | { name: 'current'; asOf: number }
  /** The last round failed. Another one follows. */
  | { name: 'unreachable'; asOf?: number; problem: unknown }

export interface PollerDeps {
  clock: Clock
  /** Reads everything once. Rejects if any read fails. */
  round(signal: AbortSignal): Promise<void>
  /** A hidden page sends no requests. */
  isVisible(): boolean
  onFreshness(freshness: Freshness): void
}

/** @forTests The test's clock moves by it. */
export const ROUND_MS = 5_000
/**
 * A round that takes longer is aborted: it may have begun on a network that is gone.
 * @forTests The test's clock moves by it.
 */
export const TIMEOUT_MS = 15_000
/** When the page becomes visible, a round that already takes longer than this starts again. */
const SLOW_MS = 3_000

export class Poller {
  readonly #deps: PollerDeps
  #cancelTimer: (() => void) | undefined
  #running: { controller: AbortController; since: number } | undefined
  #isRefreshRequested = false
  #isStopped = false
  #failures = 0
  #asOf: number | undefined

  constructor(deps: PollerDeps) {
    this.#deps = deps
  }

  /**
   * Reads now, after the user acted or opened another view. A round in progress may have read
   * older data, so another round follows it.
   */
  refresh(): void {
    if (this.#isStopped) return
    if (this.#running) this.#isRefreshRequested = true
    else void this.#round()
  }

  /** The page is visible or online again: polls now, without waiting after earlier failures. */
  wake(): void {
    const { clock, isVisible } = this.#deps
    if (this.#isStopped || !isVisible()) return
    this.#failures = 0
    if (!this.#running) void this.#round()
    else if (clock.elapsed() - this.#running.since > SLOW_MS) {
      this.#isRefreshRequested = true
      this.#running.controller.abort()
    }
  }

  stop(): void {
    this.#isStopped = true
    this.#cancelTimer?.()
    this.#running?.controller.abort()
  }

  async #round(): Promise<void> {
    const { clock, onFreshness } = this.#deps
    this.#cancelTimer?.()
    this.#isRefreshRequested = false
    const controller = new AbortController()
    // The data is as old as the start of the round, not as its end.
    const asOf = clock.now()
    this.#running = { controller, since: clock.elapsed() }
    const cancelTimeout = clock.after(TIMEOUT_MS, () => controller.abort())
    try {
      await this.#deps.round(controller.signal)
      this.#failures = 0
      this.#asOf = asOf
      if (!this.#isStopped) onFreshness({ name: 'current', asOf })
    } catch (problem) {
      this.#failures++
      // If another round follows at once, that one reports.
      if (!this.#isStopped && !this.#isRefreshRequested) this.#failed(problem)
    } finally {
      cancelTimeout()
      this.#running = undefined
      this.#next()
    }
  }

  #failed(problem: unknown): void {
    const known = this.#asOf !== undefined && { asOf: this.#asOf }
    this.#deps.onFreshness({ name: 'unreachable', problem, ...known })
  }

  #next(): void {
    if (this.#isStopped) return
    const { clock, isVisible } = this.#deps
    if (this.#isRefreshRequested) {
      void this.#round()
      return
    }
    const waitMs =
      this.#failures === 0
        ? ROUND_MS
        : Math.max(ROUND_MS, backoffMs(this.#failures, RETRY, clock.random()))
    // A hidden page stops polling here, and `wake` starts it again.
    this.#cancelTimer = clock.after(waitMs, () => {
      if (isVisible()) void this.#round()
    })
  }
}
