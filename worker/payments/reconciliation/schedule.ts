// When a payment's gateway is asked what became of it. Pure.

const MINUTE_MS = 60_000
export const HOUR_MS = 60 * MINUTE_MS
export const DAY_MS = 24 * HOUR_MS

/** How often the sweeper looks for what is due. */
export const SWEEP_EVERY_MS = MINUTE_MS
/** At the most, once it has begun: a gateway is waited for less long. */
const CHECK_TAKES_MS = 20_000
/** For a charge that was not answered. A circuit that it opened is tried again by then. */
const UNKNOWN_CHECK_MS = 30_000
/** For what is not checked any more: only its webhook or a person settles it. */
const UNCHECKED_MS = HOUR_MS

const SHORTEST_MS = 5 * MINUTE_MS
const LONGEST_MS = DAY_MS
/** A gateway needs a moment after a payment's time is up until it says so itself. */
const AFTER_EXPIRY_MS = MINUTE_MS
/** What is not settled after that is not settled by asking: a person has to look. */
const ASKED_FOR_MS = 4 * DAY_MS
/** A payment may be payable for longer than that; then it is asked about until a day after. */
const ASKED_AFTER_EXPIRY_MS = DAY_MS

/**
 * The next check: as long from now as the payment is old, so that a fresh one is settled quickly
 * and an old one costs little. Once earlier, soon after it expires. Undefined: it was asked about
 * for long enough. All times are ms.
 */
export function nextCheckAt(
  createdAt: number,
  now: number,
  expiresAt?: number,
): number | undefined {
  const next = now + Math.min(Math.max(now - createdAt, SHORTEST_MS), LONGEST_MS)
  if (expiresAt !== undefined) {
    const expired = expiresAt + AFTER_EXPIRY_MS
    if (now < expired && expired < next) return expired
  }
  return next <= lastCheckAt(createdAt, expiresAt) ? next : undefined
}

const lastCheckAt = (createdAt: number, expiresAt = createdAt): number =>
  Math.max(createdAt + ASKED_FOR_MS, expiresAt + ASKED_AFTER_EXPIRY_MS)

/** The first check of a charge whose outcome is unknown. */
export const unknownCheckAt = (now: number): number => now + UNKNOWN_CHECK_MS

/** How long it takes until a check that is due at `nextCheckAt` has been made. */
export const checkedInMs = (nextCheckAt: number | undefined, now: number): number =>
  nextCheckAt === undefined
    ? UNCHECKED_MS
    : Math.max(nextCheckAt - now, 0) + SWEEP_EVERY_MS + CHECK_TAKES_MS
