// Which times can be. Gateways tell times, and one that no date can have would break whoever reads
// it later. Pure; all times are ms.

/** The end of the year 9999: later ones are written in a way that many readers refuse. */
const LAST_MS = Date.UTC(10_000, 0, 1) - 1
/** A wrong time zone puts a clock ahead by less than this; no event happens so far from now. */
const MAX_AHEAD_MS = 24 * 3_600_000

/** Whether a date can have it, and a column keep it. */
export const isTime = (ms: number): boolean => Number.isSafeInteger(ms) && ms >= 0 && ms <= LAST_MS

/** Why an event of this time is not taken, and the gateway asked instead; undefined: it is. */
export function staleness(
  occurredAt: number,
  now: number,
  toleranceMs: number,
): 'impossible' | 'too_old' | 'too_far_ahead' | undefined {
  if (!isTime(occurredAt)) return 'impossible'
  if (now - occurredAt > toleranceMs) return 'too_old'
  // A little ahead is a clock that is wrong, and not stale.
  return occurredAt - now > MAX_AHEAD_MS ? 'too_far_ahead' : undefined
}

/** Undefined for a time that no date can have, as for none. */
export const possibleTime = (ms: number | undefined): number | undefined =>
  ms !== undefined && isTime(ms) ? ms : undefined
