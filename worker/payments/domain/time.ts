// Which times are possible (gateways send times, and an impossible one would break the code that
// reads it later), and which have come. Pure; all times are ms.

export const MINUTE_MS = 60_000
export const HOUR_MS = 60 * MINUTE_MS
export const DAY_MS = 24 * HOUR_MS

/** The end of the year 9999: later ones are written in a way that many readers refuse. */
const LAST_MS = Date.UTC(10_000, 0, 1) - 1
/** A wrong time zone puts a clock ahead by less than this; no event happens so far from now. */
const MAX_AHEAD_MS = DAY_MS

/** Whether a date and a column can have it. */
export const isTime = (ms: number): boolean => Number.isSafeInteger(ms) && ms >= 0 && ms <= LAST_MS

/** Why an event of this time is refused, and the gateway asked instead; undefined: it is taken. */
export function staleness(
  occurredAt: number,
  now: number,
  toleranceMs: number,
): 'impossible' | 'too_old' | 'too_far_ahead' | undefined {
  if (!isTime(occurredAt)) return 'impossible'
  if (now - occurredAt > toleranceMs) return 'too_old'
  // A little ahead: the gateway's clock is wrong. That is not stale.
  return occurredAt - now > MAX_AHEAD_MS ? 'too_far_ahead' : undefined
}

/**
 * How far behind a caller's `now` may be: it was taken before waiting for a turn, for 25 s at most,
 * by a clock that may be half a minute behind another edge's. Both at once must not look like a
 * clock set back: another edge's lease would count for nothing, and its event be sent twice. By a
 * clock that was set back, a due check, a waiting delivery, a call under way and an open breaker
 * last up to this much longer.
 */
export const BEHIND_MS = 60_000

/** A call has ended by then, and the ledger has had 25 s to store its result. */
export const CALL_PATIENCE_MS = 60_000

/**
 * Whether a stored time has come. `longestMs`: the longest wait of its kind; what is further ahead
 * was stored before the clock was set back, and would be waited for as long as that.
 */
export const hasCome = (at: number, now: number, longestMs: number): boolean =>
  at <= now || at > now + longestMs + BEHIND_MS

/** Whether something happened by a clock that ran ahead, and was set right since. */
export const isAhead = (at: number | null, now: number): boolean =>
  at !== null && at > now + BEHIND_MS

/** Throws RangeError for an impossible time. */
export const isoTime = (ms: number): string => new Date(ms).toISOString()

/** Undefined for an impossible time. */
export const possibleTime = (ms: number | undefined): number | undefined =>
  ms !== undefined && isTime(ms) ? ms : undefined

export const startOfMinute = (now: number): number => Math.floor(now / MINUTE_MS) * MINUTE_MS
