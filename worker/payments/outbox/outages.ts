// Which waiting events are worth another try, because their endpoint accepts events again. In
// memory: a new process does not know of an outage, and takes what waits for one.

import type { Clock } from '../../shared/clock.ts'

/**
 * An event that its endpoint never accepts must not be sent again with each one that it accepts: so
 * seldom, all that wait are tried, and in between only those that were made since it accepted one.
 */
const ALL_EVERY_MS = 5 * 60_000

interface Seen {
  isFailing: boolean
  acceptedAt: number
  /** When all were tried, as the clock's `elapsed`. */
  allAt: number
}

export class Outages {
  readonly #clock: Pick<Clock, 'now' | 'elapsed'>
  readonly #endpoints = new Map<string, Seen>()

  constructor(clock: Pick<Clock, 'now' | 'elapsed'>) {
    this.#clock = clock
  }

  failed(endpoint: string): void {
    const seen = this.#endpoints.get(endpoint)
    if (seen) seen.isFailing = true
  }

  /**
   * Undefined: it had accepted the last one, too. Else what waits for it is due, if it was made
   * from this time on, in ms.
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
