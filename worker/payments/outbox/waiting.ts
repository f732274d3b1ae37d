// When events that were not accepted are tried again: each at its own time, and at once when their
// endpoint accepts events again. In memory: the sweeper finds what a restart forgets.

import type { Clock } from '../../shared/clock.ts'
import type { Dispatched, PendingEvent } from '../acts/dispatch.ts'

/**
 * Has the host call `dispatchDue` at this time, in ms, and not at the one that it was given before.
 * What it forgets, the sweeper finds.
 */
export type WakeAt = (at: number) => void

/** So few different times are kept that an endpoint which is away for a day fills no memory. */
const WAKE_STEP_MS = 1_000

/**
 * When events that failed are due again, for which the host is woken at the first of these times. A
 * time has come by either clock: the one of the day may be set back meanwhile.
 */
export class DueTimes {
  readonly #clock: Pick<Clock, 'now' | 'elapsed'>
  readonly #wakeAt: WakeAt | undefined
  /** Each time, and when that is as the clock's `elapsed`. */
  readonly #times = new Map<number, number>()
  /** As the clock's `elapsed`. */
  #wakesAt: number | undefined

  constructor(clock: Pick<Clock, 'now' | 'elapsed'>, wakeAt: WakeAt | undefined) {
    this.#clock = clock
    this.#wakeAt = wakeAt
  }

  /** In ms. Undefined: nothing is due again. */
  add(at: number | undefined): void {
    if (at === undefined) return
    const due = Math.ceil(at / WAKE_STEP_MS) * WAKE_STEP_MS
    if (this.#times.has(due)) return
    this.#times.set(due, this.#clock.elapsed() + due - this.#clock.now())
  }

  /** Those that have come. */
  come(now: number): number[] {
    const elapsed = this.#clock.elapsed()
    return [...this.#times]
      .filter(([at, elapsedAt]) => at <= now || elapsedAt <= elapsed)
      .map(([at]) => at)
  }

  claimed(come: readonly number[]): void {
    for (const at of come) this.#times.delete(at)
  }

  /** Not all that was due by then was claimed. */
  stillDue(at: number, elapsed: number): void {
    this.#times.set(at, elapsed)
  }

  wake(): void {
    const next = Math.min(...this.#times.values())
    if (next === this.#wakesAt || this.#times.size === 0) return
    this.#wakesAt = next
    this.#wakeAt?.(Math.ceil(this.#clock.now() + next - this.#clock.elapsed()))
  }

  /** The host has come, and knows no time any more. */
  wakeAgain(): void {
    this.#wakesAt = undefined
    this.wake()
  }
}

/**
 * All that wait are tried at most this often. In between it is only those that were made since the
 * endpoint last accepted one: an event that it never accepts would be sent again with each other.
 */
const ALL_EVERY_MS = 5 * 60_000

interface Seen {
  isFailing: boolean
  acceptedAt: number
  /** When all were tried, as the clock's `elapsed`. */
  allAt: number
}

/**
 * Which waiting events are worth another try, because their endpoint accepts events again. A new
 * process does not know of an outage, and takes what waits for one.
 */
export class Outages {
  readonly #clock: Pick<Clock, 'now' | 'elapsed'>
  readonly #endpoints = new Map<string, Seen>()

  constructor(clock: Pick<Clock, 'now' | 'elapsed'>) {
    this.#clock = clock
  }

  /** The endpoints that accept events again, and since when what waits for them is due. */
  recovered(
    chunk: readonly PendingEvent[],
    outcomes: readonly Dispatched[],
  ): ReadonlyMap<string, number> {
    const found = new Map<string, number>()
    for (const { outboxId, delivery } of outcomes) {
      const endpoint = chunk.find((event) => event.outboxId === outboxId)?.delivery?.endpoint
      if (!delivery || endpoint === undefined) continue
      if (!delivery.ok) this.failed(endpoint)
      const since = delivery.ok ? this.accepted(endpoint) : undefined
      if (since !== undefined) found.set(endpoint, since)
    }
    return found
  }

  /** @forTests An outage without its events. */
  failed(endpoint: string): void {
    const seen = this.#endpoints.get(endpoint)
    if (seen) seen.isFailing = true
  }

  /**
   * Undefined: it had accepted the last one, too. Else what waits for it is due, if it was made
   * from this time on, in ms.
   * @forTests As `failed`.
   */
  accepted(endpoint: string): number | undefined {
    const [acceptedAt, elapsed] = [this.#clock.now(), this.#clock.elapsed()]
    const seen = this.#endpoints.get(endpoint)
    if (seen && !seen.isFailing) {
      seen.acceptedAt = acceptedAt
      return undefined
    }
    const isAll = !seen || elapsed - seen.allAt >= ALL_EVERY_MS
    const allAt = isAll ? elapsed : seen.allAt
    this.#endpoints.set(endpoint, { isFailing: false, acceptedAt, allAt })
    return isAll ? 0 : seen.acceptedAt
  }
}
