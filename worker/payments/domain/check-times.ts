// The times at which a payment is checked with its gateway. Pure.

import type { TransactionRow } from './rows.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from './time.ts'

/** How often the sweeper runs. */
export const SWEEP_EVERY_MS = MINUTE_MS
/** The longest time that a check takes; a call to a gateway has less. */
const MAX_CHECK_MS = 20_000
/** Longer than a call with its retries, so that no other check runs at the same time. */
export const CHECK_CLAIM_MS = 120_000
/** For a charge without an answer. A circuit that it opened admits a probe by then. */
const UNKNOWN_CHECK_MS = 30_000
/** For a payment that is not checked any more: only its webhook or a person settles it. */
const UNCHECKED_MS = HOUR_MS

/** A new payment waits for so long. */
export const MIN_WAIT_MS = 5 * MINUTE_MS
/** No check is ever stored further ahead than this. */
export const MAX_WAIT_MS = DAY_MS
/** A gateway may report an expired payment a moment later. */
const AFTER_EXPIRY_MS = MINUTE_MS
/** A payment that is not settled by then needs a person. */
const CHECKED_FOR_MS = 4 * DAY_MS
/** If a payment can be paid for longer than that, checks go on for a day after it expires. */
const CHECKED_AFTER_EXPIRY_MS = DAY_MS

/**
 * The time of the next check: the wait is the payment's age, so that a new payment is settled
 * quickly and an old one needs few checks. One check comes soon after it expires. Undefined: no
 * more checks. All times are ms.
 */
export function nextCheckAt(
  createdAt: number,
  now: number,
  expiresAt?: number,
): number | undefined {
  const next = now + Math.min(Math.max(now - createdAt, MIN_WAIT_MS), MAX_WAIT_MS)
  if (expiresAt !== undefined) {
    const expired = expiresAt + AFTER_EXPIRY_MS
    if (now < expired && expired < next) return expired
  }
  return next <= lastCheckAt(createdAt, expiresAt) ? next : undefined
}

const lastCheckAt = (createdAt: number, expiresAt = createdAt): number =>
  Math.max(createdAt + CHECKED_FOR_MS, expiresAt + CHECKED_AFTER_EXPIRY_MS)

/**
 * Of a payment that has ended without money: its gateway is asked once more, since it may have been
 * paid after all, and its webhook lost. NULL: the gateway has given no id, and cannot be asked.
 */
export const endedCheckAt = (
  { gateway_transaction_id: id }: Pick<TransactionRow, 'gateway_transaction_id'>,
  now: number,
): number | null => (id === null ? null : now + DAY_MS)

/** The first check of a charge whose outcome is unknown. */
export const unknownCheckAt = (now: number): number => now + UNKNOWN_CHECK_MS

/** How long it takes until a check that is due at `nextCheckAt` is done. */
export const checkedInMs = (nextCheckAt: number | undefined, now: number): number =>
  nextCheckAt === undefined
    ? UNCHECKED_MS
    : Math.max(nextCheckAt - now, 0) + SWEEP_EVERY_MS + MAX_CHECK_MS
