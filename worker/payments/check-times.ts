// When a payment's gateway is asked what became of it. Pure.

const MINUTE_MS = 60_000
const DAY_MS = 24 * 60 * MINUTE_MS

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
