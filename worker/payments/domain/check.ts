// Which payments the sweeper checks with their gateways, and when again. Pure.

import { MAX_WAIT_MS, MIN_WAIT_MS } from './check-times.ts'
import type { PaymentError } from './exceptions.ts'
import { withPageClosed } from './finish-charge.ts'
import {
  type Alert,
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
import { hasCome, isAhead } from './time.ts'
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
  alert?: { kind: 'unsettled' | 'refund_unsettled'; detail: AlertDetail }
  /** The gateway's answer could not be read. */
  unreadable?: UnreadableEvent
  /** Gives this refund up if it is still under way, so that it can be asked for again. */
  failedRefund?: { refundId: string; error: PaymentError }
}

/**
 * What a clock wrote that ran ahead is due once that is right again: by its own time, a payer who
 * has paid would be kept waiting for as long as it ran ahead. Then it waits as a new payment does.
 */
export function isCheckDue(
  { transaction, refunds }: Pick<Payment, 'transaction' | 'refunds'>,
  now: number,
): boolean {
  const { next_check_at: due, created_at, updated_at, last_check_at } = transaction
  const written = [created_at, updated_at, last_check_at, ...refunds.map((it) => it.updated_at)]
  const longestMs = written.some((at) => isAhead(at, now)) ? MIN_WAIT_MS : MAX_WAIT_MS
  return due !== null && hasCome(due, now, longestMs)
}

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
  unreadable: UnreadableEvent,
  now: number,
): Decision {
  const { payment: remembered, alerts } = unreadableTwice(payment, unreadable, 'webhooks', now)
  const asked = checkSoon(remembered.transaction, now)
  return { payment: withTransaction(remembered, asked), events: [], alerts }
}

/** The first time, the gateway may only be in disorder. */
function unreadableTwice(
  payment: Payment,
  { id: event, why, isFinal }: UnreadableEvent,
  what: 'webhooks' | 'status',
  now: number,
): Pick<Decision, 'payment' | 'alerts'> {
  const { id, gateway, reference, unreadable_event } = payment.transaction
  const first = unreadable_event ?? event
  const error = `Its ${what} cannot be read: ${why}.`
  const alert: Alert = {
    kind: 'unreadable',
    subject: `${id} event`,
    gateway,
    transactionId: id,
    detail: { reference, error },
    createdAt: now,
  }
  return {
    payment: withTransaction(payment, { unreadable_event: first }),
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
  const checked = withTransaction(rest, { next_check_at })
  const { unreadable } = settled
  const read = unreadable && unreadableTwice(checked, unreadable, 'status', now)
  const alerts = [...(raised ? [raised] : []), ...(read?.alerts ?? [])]
  return { payment: read?.payment ?? checked, events: [], alerts }
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
