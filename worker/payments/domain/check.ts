// Which payments the sweeper checks with their gateways, and when again. Pure.

import type { Alert } from './alerts.ts'
import { MAX_WAIT_MS } from './check-schedule.ts'
import type { PaymentError } from './exceptions.ts'
import {
  type Decision,
  isOpen,
  isUnderWay,
  type Payment,
  refundUnderWay,
  withRefund,
  withTransaction,
} from './payment.ts'
import type { AlertDetail } from './raised-alert.ts'
import type { TransactionRow } from './rows.ts'
import type { PaymentStatus } from './status.ts'
import { hasCome } from './time.ts'

export interface CheckSettled {
  transactionId: string
  now: number
  /** Missing: it is not checked any more. */
  nextCheckAt?: number
  /**
   * Its gateway could not be asked. A payment that still has this status is checked again, even if
   * nothing is open any more.
   */
  whileStill?: PaymentStatus
  /** Raised once for each kind and transaction. */
  alert?: { kind: 'unsettled' | 'refund_unsettled' | 'unreadable'; detail: AlertDetail }
  /** Gives this refund up if it is still under way, so that it can be asked for again. */
  givenUp?: { refundId: string; error: PaymentError }
}

export const isCheckDue = ({ next_check_at: due }: TransactionRow, now: number): boolean =>
  due !== null && hasCome(due, now, MAX_WAIT_MS)

/** Not for a payment that is Refunded: nothing can follow. */
export function checkSoon(transaction: TransactionRow, now: number): TransactionRow {
  const { status, next_check_at: due } = transaction
  const isSooner = status !== 'Refunded' && (due === null || due > now)
  return isSooner ? { ...transaction, next_check_at: now } : transaction
}

/** A webhook that is genuine and could not be read. */
export interface UnreadableEvent {
  /** Generated once for each delivery. */
  id: string
  /** The fields, without their values. */
  why: string
}

/**
 * The gateway is asked instead. It will repeat the event: from the second on a person must know,
 * because all later events of this kind may be lost, too.
 */
export function rememberUnreadable(
  payment: Payment,
  { id: event, why }: UnreadableEvent,
  now: number,
): Decision {
  const { transaction } = payment
  const { id, gateway, reference, unreadable_event } = transaction
  const first = unreadable_event ?? event
  const error = `Its webhooks cannot be read: ${why}.`
  const asked = { ...checkSoon(transaction, now), unreadable_event: first }
  const alert: Alert = {
    ...{ kind: 'unreadable', subject: `${id} event`, gateway, transactionId: id },
    ...{ detail: { reference, error }, createdAt: now },
  }
  return {
    payment: withTransaction(payment, asked),
    events: [],
    alerts: first === event ? [] : [alert],
  }
}

export function settleCheck(payment: Payment, settled: CheckSettled): Decision {
  const { now, nextCheckAt, whileStill, alert } = settled
  const { id, gateway, status } = payment.transaction
  const rest = giveUpRefund(payment, settled)
  const isAsked = isOpen(rest) || status === whileStill
  const next_check_at = isAsked ? (nextCheckAt ?? null) : null
  // A refund that has ended in the meantime needs nobody.
  const isSettled = alert?.kind === 'refund_unsettled' && !refundUnderWay(payment)
  const raised = alert &&
    !isSettled && { ...alert, subject: id, gateway, transactionId: id, createdAt: now }
  return {
    payment: withTransaction(rest, { next_check_at }),
    events: [],
    alerts: raised ? [raised] : [],
  }
}

/** A refund that has begun in the meantime is another one, and stays. */
function giveUpRefund(payment: Payment, { givenUp, now }: CheckSettled): Payment {
  const refund = payment.refunds.find(({ id }) => id === givenUp?.refundId)
  if (!givenUp || !refund || !isUnderWay(refund)) return payment
  const error = JSON.stringify(givenUp.error)
  return withRefund(payment, { ...refund, status: 'failed', error, updated_at: now })
}
