// When an event that was not delivered is tried again, and when it is given up. Pure.

import { backoffMs } from '../../shared/clock.ts'

const BACKOFF = { firstMs: 5_000, maxMs: 3_600_000 }
const TRIED_FOR_MS = 24 * 3_600_000
/**
 * A day of trying takes more than twice as many. What was tried less, though it is older than a
 * day, was sent again by hand or waited while nothing ran here: it gets these, an hour or two.
 */
const FAIR_ATTEMPTS = 12

/**
 * After one more try failed at `now`; undefined: it was the last. `attempts` are those before,
 * since the event, of `createdAt`, was last sent again by hand. `random` is 0 to 1.
 */
export function nextAttemptAt(
  createdAt: number,
  attempts: number,
  now: number,
  random: number,
): number | undefined {
  const failures = attempts + 1
  const next = now + backoffMs(failures, BACKOFF, random)
  const isOver = next > createdAt + TRIED_FOR_MS && failures >= FAIR_ATTEMPTS
  return isOver ? undefined : next
}
