// Whether every webhook is refused as stale: then the clock of this machine is wrong. It knows that
// by the log of answers. It is no failure of the service: who can send a webhook again that is old
// could take the shop out of its proxy.

import type { Clock } from '../shared/clock.ts'
import type { Log } from '../shared/log.ts'
import type { CountedEvents } from './counted.ts'

/** One may be a gateway's retry of an old event. */
const IN_A_ROW = 3
/** A gateway that repeats an event does so within this. */
const WITHIN_MS = 3_600_000
/** What was read, and was not too old. */
const FRESH: readonly string[] = ['ok', 'duplicate', 'unavailable']

const ANSWERED = 'payments.webhook.answered' satisfies keyof CountedEvents

export function staleWebhooks(clock: Pick<Clock, 'elapsed'>, log: Log) {
  let inARow = 0
  let lastAt = Number.NEGATIVE_INFINITY
  function answered({ outcome }: CountedEvents[typeof ANSWERED]): void {
    if (FRESH.includes(outcome)) inARow = 0
    if (outcome !== 'stale') return
    inARow++
    lastAt = clock.elapsed()
  }
  const watching: Log = (level, event, fields) => {
    if (event === ANSWERED) answered(fields as CountedEvents[typeof ANSWERED])
    log(level, event, fields)
  }
  return {
    /** Passes every event on. */
    log: watching,
    /** Sentences for /healthz. */
    warnings(): string[] {
      const isNow = inARow >= IN_A_ROW && clock.elapsed() - lastAt < WITHIN_MS
      if (!isNow) return []
      return [`The last ${inARow} webhooks were refused as stale: is this machine’s clock right?`]
    },
  }
}
