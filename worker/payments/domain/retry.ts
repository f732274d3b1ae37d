// When an event that was not delivered is tried again, and when a failure is the last. Pure.

import { backoffMs } from '../../shared/clock.ts'

/** The longest wait between two tries. */
export const MAX_RETRY_MS = 3_600_000
const BACKOFF = { firstMs: 5_000, maxMs: MAX_RETRY_MS }
/** The page (TRIED_FOR of attention.ts) and the comments in libraries/events name this day. */
const TRIED_FOR_MS = 24 * 3_600_000
/**
 * A day of tries has more than twice as many. An older event with fewer tries was sent again by
 * hand, or waited while nothing ran here: it gets at least these, in an hour or two.
 */
const MIN_ATTEMPTS = 12

/**
 * The time of the next try, after one has failed at `now`; undefined: it was the last. `attempts`:
 * the tries before, since the event was last sent again by hand. `createdAt`: of the event.
 * `random` is 0 to 1. `retryAfterMs`: the endpoint asked for so long a wait, an hour at most.
 */
export function nextAttemptAt(
  createdAt: number,
  attempts: number,
  now: number,
  random: number,
  retryAfterMs = 0,
): number | undefined {
  const failures = attempts + 1
  const next = now + Math.max(backoffMs(failures, BACKOFF, random), retryAfterMs)
  const isOver = next > createdAt + TRIED_FOR_MS && failures >= MIN_ATTEMPTS
  return isOver ? undefined : next
}
