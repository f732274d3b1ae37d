// What follows for a payment whose refunds changed. Pure.

import type { PaymentError } from './exceptions.ts'
import {
  type Alert,
  type Decision,
  type NewEvent,
  newEvent,
  type Payment,
  paidAmount,
  withLateMoneyRefunded,
  withTransaction,
} from './payment.ts'
import { sumOf } from './refund-rows.ts'
import type { RefundRow, TransactionRow } from './rows.ts'
import { type PaymentStatus, UNPAID_ENDS } from './status.ts'
import type { AlertDetail } from './types.ts'

/** What changed its refunds. */
interface Cause {
  id: string
  correlationId: string | null
  now: number
  /** The gateway's event. */
  eventId?: string
  /** The status that follows, where its refunds do not decide it. */
  to?: PaymentStatus
}

/**
 * The payment after its refunds changed: its sum, its status, its events and alerts. The status
 * never moves back. A payment that was not paid yet has no event of it.
 */
export function settleRefunds(before: Payment, after: Payment, cause: Cause): Decision {
  const { transaction } = after
  const alerts = failedSince(before, after, cause)
  const isLate = UNPAID_ENDS.includes(transaction.status)
  const isPaid = transaction.status !== 'Pending' && !(isLate && transaction.paid_at === null)
  const sum = Math.min(paidAmount(transaction), sumOf(after.refunds, 'succeeded'))
  const status = isLate ? transaction.status : (cause.to ?? statusAfter(transaction, sum))
  const previous = transaction.refunded_amount
  const isChanged = sum !== previous || status !== transaction.status
  if (!isPaid || !isChanged) return { payment: after, events: [], alerts }
  const changed = withTransaction(after, {
    status,
    refunded_amount: sum,
    updated_at: cause.now,
    refund_revision: transaction.refund_revision + 1,
  })
  const payment = isLate ? withLateMoneyRefunded(changed, cause.now) : changed
  return { payment, events: [eventFor(payment.transaction, transaction, cause)], alerts }
}

function statusAfter(transaction: TransactionRow, sum: number): PaymentStatus {
  const { status } = transaction
  if (sum > 0 && sum === paidAmount(transaction)) return 'Refunded'
  return sum > 0 && status === 'Paid' ? 'PartiallyRefunded' : status
}

/** One event for a change: that of the status, else that of the amount. */
function eventFor(after: TransactionRow, before: TransactionRow, cause: Cause): NewEvent {
  if (after.status !== before.status) return newEvent('PaymentRefunded', after, cause)
  const changed = newEvent('RefundAmountChanged', after, cause)
  return { ...changed, previousRefundedAmount: before.refunded_amount }
}

const failedSince = (before: Payment, after: Payment, cause: Cause): Alert[] =>
  after.refunds.flatMap((row) => {
    const was = before.refunds.find(({ id }) => id === row.id)
    if (row.status !== 'failed' || was?.status === 'failed') return []
    return refundAlert(after.transaction, row, cause)
  })

function refundAlert(
  transaction: TransactionRow,
  refund: RefundRow,
  { now: createdAt, eventId }: Cause,
): Alert {
  const { id: transactionId, gateway } = transaction
  const { error } = refund
  const detail: AlertDetail = {
    ...refundDetail(transaction, refund),
    ...(eventId !== undefined && { eventId }),
    ...(error !== null && { error: JSON.parse(error) as PaymentError }),
  }
  return { kind: 'refund_failed', subject: refund.id, gateway, transactionId, detail, createdAt }
}

/** What an alert about a refund says of it. */
export function refundDetail(
  { reference, currency, paid_currency }: TransactionRow,
  { id, amount, gateway_refund_id: gatewayId, asked_by: askedBy, ...row }: RefundRow,
): AlertDetail {
  const refundId = row.request_hash === null ? (gatewayId ?? id) : id
  return {
    reference,
    amount,
    currency: paid_currency ?? currency,
    refundId,
    ...(gatewayId !== null && gatewayId !== refundId && { gatewayRefundId: gatewayId }),
    ...(askedBy !== null && { askedBy }),
  }
}
