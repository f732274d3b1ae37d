// Which payments the sweeper checks with their gateways, and when again. Pure.

import type { PaymentError } from './exceptions.ts'
import { withPageClosed } from './finish-charge.ts'
import type { Alert } from './payment.ts'
import {
  type Decision,
  isOpen,
  isUnderWay,
  type Payment,
  refundUnderWay,
  withRefund,
  withTransaction,
} from './payment.ts'
import type { TransactionRow } from './rows.ts'
import type { CheckStatus, PaymentStatus } from './status.ts'
import { hasCome } from './time.ts'
import type { AlertDetail } from './types.ts'

export interface CheckSettled {
  transactionId: string
  now: number
  /** When it is due, as its claim stored that. */
  due: number | null
  /** What the gateway said. Missing: it was not asked. */
  asked?: CheckStatus
  /** Missing: it is not checked any more. */
  nextCheckAt?: number
  /**
   * Its gateway could not be asked. A payment that still has this status is checked again, even if
   * nothing is open any more.
   */
  whileStill?: PaymentStatus
  /** Its page can no longer be paid. */
  isPageClosed?: boolean
  /** Raised once for each kind and transaction. */
  alert?: { kind: 'unsettled' | 'refund_unsettled' | 'unreadable'; detail: AlertDetail }
  /** Gives this refund up if it is still under way, so that it can be asked for again. */
  failedRefund?: { refundId: string; error: PaymentError }
}

export const isCheckDue = ({ next_check_at: due }: TransactionRow, now: number): boolean =>
  due !== null && hasCome(due, now, MAX_WAIT_MS)

export function checkSoon(transaction: TransactionRow, now: number): TransactionRow {
  const { next_check_at: due } = transaction
  const isSooner = due === null || due > now
  return isSooner ? { ...transaction, next_check_at: now } : transaction
}

/** A webhook that is genuine and could not be read. */
export interface UnreadableEvent {
  /** Generated once for each delivery. */
  id: string
  /** The fields, without their values. */
  why: string
  /** It will not be repeated: a person must know at once. */
  isFinal?: true
}

/** For one whose payment is not known. `about`: the gateway's id of what it is about. */
export function unreadableAlert(
  { id, why }: UnreadableEvent,
  gateway: string,
  about: string | undefined,
  now: number,
): Alert {
  return {
    kind: 'unreadable',
    subject: about === undefined ? id : `${gateway} ${about}`,
    gateway,
    transactionId: null,
    createdAt: now,
    detail: {
      error: `A webhook cannot be read: ${why}.`,
      ...(about !== undefined && { gatewayTransactionId: about }),
    },
  }
}

/**
 * The gateway is asked instead. It will repeat the event: from the second on a person must know,
 * because all later events of this kind may be lost, too.
 */
export function rememberUnreadable(
  payment: Payment,
  { id: event, why, isFinal }: UnreadableEvent,
  now: number,
): Decision {
  const { transaction } = payment
  const { id, gateway, reference, unreadable_event } = transaction
  const first = unreadable_event ?? event
  const error = `Its webhooks cannot be read: ${why}.`
  const asked = { ...checkSoon(transaction, now), unreadable_event: first }
  const alert: Alert = {
    kind: 'unreadable',
    subject: `${id} event`,
    gateway,
    transactionId: id,
    detail: { reference, error },
    createdAt: now,
  }
  return {
    payment: withTransaction(payment, asked),
    events: [],
    alerts: first === event && !isFinal ? [] : [alert],
  }
}

/** The gateway was asked about it: also a check that changed nothing is seen. */
export const withCheck = (payment: Payment, said: CheckStatus, now: number): Payment =>
  withTransaction(payment, { last_check_at: now, last_check_status: said })

export function settleCheck(payment: Payment, settled: CheckSettled): Decision {
  const { now, due, asked, nextCheckAt, whileStill, alert } = settled
  const { id, gateway, status, next_check_at: current } = payment.transaction
  const seen = asked ? withCheck(payment, asked, now) : payment
  const open = settled.isPageClosed ? withPageClosed(seen) : seen
  const rest = failRefund(open, settled)
  const isAsked = isOpen(rest) || status === whileStill
  const next = isAsked ? (nextCheckAt ?? null) : null
  // A refund that has begun since the claim waits for its own check.
  const next_check_at = current === due ? next : sooner(current, next)
  // A refund that has ended in the meantime needs no alert.
  const isSettled = alert?.kind === 'refund_unsettled' && !refundUnderWay(payment)
  const raised = alert &&
    !isSettled && { ...alert, subject: id, gateway, transactionId: id, createdAt: now }
  return {
    payment: withTransaction(rest, { next_check_at }),
    events: [],
    alerts: raised ? [raised] : [],
  }
}

const sooner = (a: number | null, b: number | null): number | null =>
  a === null || b === null ? (a ?? b) : Math.min(a, b)

/** A refund that has begun in the meantime is another one, and stays. */
function failRefund(payment: Payment, { failedRefund, now }: CheckSettled): Payment {
  const refund = payment.refunds.find(({ id }) => id === failedRefund?.refundId)
  if (!failedRefund || !refund || !isUnderWay(refund)) return payment
  const error = JSON.stringify(failedRefund.error)
  return withRefund(payment, { ...refund, status: 'failed', error, updated_at: now })
}

// The times at which a payment is checked with its gateway.

const MINUTE_MS = 60_000
export const HOUR_MS = 60 * MINUTE_MS
export const DAY_MS = 24 * HOUR_MS

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

const MIN_WAIT_MS = 5 * MINUTE_MS
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

/** The first check of a charge whose outcome is unknown. */
export const unknownCheckAt = (now: number): number => now + UNKNOWN_CHECK_MS

/** How long it takes until a check that is due at `nextCheckAt` is done. */
export const checkedInMs = (nextCheckAt: number | undefined, now: number): number =>
  nextCheckAt === undefined
    ? UNCHECKED_MS
    : Math.max(nextCheckAt - now, 0) + SWEEP_EVERY_MS + MAX_CHECK_MS
