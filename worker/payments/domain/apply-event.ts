// What a gateway's event does to its payment: the contract's rules of the graph, of amounts, of
// late payments and of refunds, in one place for webhooks, parked events and the sweeper. Pure.

import type { AlertDetail, Paid } from '../schemas.ts'
import type { PaymentError } from './exceptions.ts'
import {
  type Alert,
  type Decision,
  hasEarlyRefund,
  idMismatch,
  isRefund,
  isUnpaid,
  newEvent,
  type Payment,
  paidAmount,
  refundUnderWay,
  sumAfter,
  withLateMoneySettled,
  withRefund,
  withTransaction,
} from './payment.ts'
import type { RefundRow, TransactionRow, WebhookEventRow } from './rows.ts'
import { eventOf, judge, type Outcome, UNPAID_ENDS } from './status.ts'

export interface Applied extends Decision {
  /** The event as it is stored: with its payment, its outcome, and whether its amount is wrong. */
  event: WebhookEventRow
}

/**
 * Applies `event`, which is new, to the payment that it is about. The event carries the policy for
 * a wrong amount. `refundId`: the refund that failed, by our id or the gateway's.
 */
export function applyEvent(
  payment: Payment,
  event: WebhookEventRow,
  now: number,
  refundId?: string,
): Applied {
  const { transaction } = payment
  const mismatch = isMismatch(payment, event)
  const judged: WebhookEventRow = {
    ...event,
    transaction_id: transaction.id,
    from_status: transaction.status,
    mismatch: mismatch ? 1 : 0,
    outcome: outcomeOf(payment, event, mismatch),
  }
  const moved = move(payment, judged, now, refundId)
  return {
    ...moved,
    event: judged,
    payment: { ...moved.payment, webhookEvents: [...payment.webhookEvents, judged] },
    alerts: alertsOf(payment, moved.payment, judged, now, refundId),
  }
}

/**
 * Records `event`, whose ids contradict each other or those of this payment: it may be about
 * another one, so it changes nothing, even if the gateway confirms it. `other`: the
 * payment that has another of its ids.
 */
export function rejectEvent(
  payment: Payment,
  event: WebhookEventRow,
  other: TransactionRow | undefined,
  now: number,
): Applied {
  const { id, status } = payment.transaction
  const { gateway_transaction_id: gatewayId, external_reference_id: external } = event
  const { event_id: eventId, to_status: gatewayStatus, amount, currency } = event
  const rejected: WebhookEventRow = {
    ...event,
    transaction_id: id,
    from_status: status,
    outcome: 'rejected',
  }
  const detail = { eventId, gatewayStatus, amount, currency }
  const carried = { gatewayId, external }
  return {
    payment: { ...payment, webhookEvents: [...payment.webhookEvents, rejected] },
    event: rejected,
    events: [],
    alerts: [idMismatch(payment.transaction, carried, other, detail, now)],
  }
}

/** The money of a refund is gone, even if its amount differs, so a refund is always applied. */
function outcomeOf(payment: Payment, event: WebhookEventRow, mismatch: boolean): Outcome {
  if (event.alert !== null || isLateRefund(payment, event)) return 'unchanged'
  const judgement = judge(payment.transaction.status, event.to_status)
  const isRefused = event.to_status === 'Paid' && event.on_mismatch === 'reject' && mismatch
  return judgement === 'applied' && isRefused ? 'rejected' : judgement
}

type Moved = Pick<Decision, 'payment' | 'events'>

function move(payment: Payment, event: WebhookEventRow, now: number, refundId?: string): Moved {
  const { status } = payment.transaction
  if (event.alert === 'dispute') return { payment, events: [] }
  if (event.alert !== null)
    return { payment: failRefund(payment, event, now, refundId), events: [] }
  if (isLateRefund(payment, event)) {
    const refunded = raiseRefunded(settleRefund(payment, event, now), event, now)
    return { payment: withLateMoneySettled(refunded, now), events: [] }
  }
  if (event.outcome === 'late_payment') {
    return { payment: withGatewayId(payment, event), events: [] }
  }
  if (event.outcome !== 'applied') {
    // A refund came before its payment: the gateway is asked for the real status.
    const isEarly = event.outcome === 'illegal' && status === 'Pending' && isRefund(event.to_status)
    return {
      payment: isEarly ? withTransaction(payment, { next_check_at: now }) : payment,
      events: [],
    }
  }
  const settled = settleRefund(withGatewayId(payment, event), event, now)
  if (status === event.to_status) return { payment: raiseRefunded(settled, event, now), events: [] }
  return changeStatus(settled, payment, event, now)
}

function changeStatus(
  settled: Payment,
  before: Payment,
  event: WebhookEventRow,
  now: number,
): Moved {
  const { to_status: to } = event
  const { transaction } = before
  const payment = withTransaction(settled, {
    status: to,
    updated_at: now,
    ...(to === 'Paid' && {
      paid_at: event.occurred_at,
      paid_amount: event.amount,
      paid_currency: event.currency,
    }),
    error: event.error ?? transaction.error,
    refunded_amount: refundedAfter(before, event),
    next_check_at: nextCheckAfter(settled, event, now),
  })
  if (to === 'Pending') return { payment, events: [] }
  const by = { id: event.id, correlationId: event.correlation_id, now }
  return { payment, events: [newEvent(eventOf(to), payment.transaction, by)] }
}

/** What was paid late has been asked back: the status stays, whatever is reported of the refund. */
const isLateRefund = ({ transaction }: Payment, { to_status }: WebhookEventRow): boolean =>
  isRefund(to_status) && UNPAID_ENDS.includes(transaction.status) && transaction.paid_at !== null

/** The gateway's sum, but never less than before and never more than was paid. */
function refundedAfter(
  { transaction }: Payment,
  { to_status: to, amount }: WebhookEventRow,
): number {
  const paid = paidAmount(transaction)
  if (to === 'Refunded') return paid
  if (to !== 'PartiallyRefunded') return transaction.refunded_amount
  return Math.max(transaction.refunded_amount, Math.min(amount, paid))
}

/** A check that is due stays due only for a refund under way that this event does not cover. */
function nextCheckAfter(settled: Payment, event: WebhookEventRow, now: number): number | null {
  if (refundUnderWay(settled)) return settled.transaction.next_check_at
  return event.to_status === 'Paid' && hasEarlyRefund(settled) ? now : null
}

/** Another part was refunded: no change of status, and no event. */
function raiseRefunded(settled: Payment, event: WebhookEventRow, now: number): Payment {
  const sum = refundedAfter(settled, event)
  if (sum === settled.transaction.refunded_amount) return settled
  const next_check_at = nextCheckAfter(settled, event, now)
  return withTransaction(settled, { refunded_amount: sum, next_check_at, updated_at: now })
}

function withGatewayId(payment: Payment, { gateway_transaction_id }: WebhookEventRow): Payment {
  const isNew =
    payment.transaction.gateway_transaction_id === null && gateway_transaction_id !== null
  return isNew ? withTransaction(payment, { gateway_transaction_id }) : payment
}

/** The refund under way has succeeded if all of it is in the sum that the gateway reports. */
function settleRefund(payment: Payment, event: WebhookEventRow, now: number): Payment {
  const refund = refundUnderWay(payment)
  if (!refund || !isCovered(refund, event)) return payment
  return withRefund(payment, { ...refund, status: 'succeeded', updated_at: now })
}

const isCovered = (refund: RefundRow, { to_status: to, amount }: WebhookEventRow): boolean =>
  to === 'Refunded' || (to === 'PartiallyRefunded' && amount >= sumAfter(refund))

/** Another refund may have failed: an earlier one, or one that was made at the gateway itself. */
function failRefund(
  payment: Payment,
  event: WebhookEventRow,
  now: number,
  refundId: string | undefined,
): Payment {
  const refund = refundUnderWay(payment)
  const ids = refund ? [refund.id, refund.gateway_refund_id] : []
  const isIt = refund !== undefined && (refundId === undefined || ids.includes(refundId))
  const { error } = event
  const failed = isIt
    ? withRefund(payment, { ...refund, status: 'failed', updated_at: now, error })
    : payment
  const { status } = payment.transaction
  // A payment without an end, and one whose refund came before it, are still checked.
  const isAsked =
    status === 'Pending' ||
    refundUnderWay(failed) !== undefined ||
    (status === 'Paid' && hasEarlyRefund(payment))
  return isAsked ? failed : withTransaction(failed, { next_check_at: null })
}

/** An attempt is one payment at its gateway: reported again, by a check, it is the same money. */
const isLate = ({ alerts }: Payment): boolean => alerts.some(({ kind }) => kind === 'late_payment')

/** A gateway reports each step of a dispute, by its id and its status: it is one alert. */
const disputeOf = (id: string, { event_id }: WebhookEventRow): string =>
  [id, event_id.replace(/:[^:]*$/, '')].join(' ')

/** One event may raise two: a late payment, and a wrong amount. */
function alertsOf(
  before: Payment,
  after: Payment,
  event: WebhookEventRow,
  now: number,
  refundId: string | undefined,
): Alert[] {
  const { id, gateway, reference } = before.transaction
  const expected = expectedOf({ ...before, refunds: after.refunds }, event)
  const detail: AlertDetail = {
    reference,
    eventId: event.event_id,
    amount: event.amount,
    currency: event.currency,
    expectedAmount: expected.amount,
    expectedCurrency: expected.currency,
    ...(event.to_status !== 'Paid' && { gatewayStatus: event.to_status }),
    ...(refundId !== undefined && { refundId }),
    ...(event.error !== null && { error: JSON.parse(event.error) as PaymentError }),
  }
  const raise = (kind: Alert['kind'], subject = event.id): Alert => ({
    ...{ kind, subject, gateway, transactionId: id },
    ...{ detail, createdAt: now },
  })
  // The webhook and a check report the same amount: one cause is one alert.
  const amount = [id, event.to_status, event.amount, event.currency].join(' ')
  return [
    ...(event.alert === 'dispute' ? [raise('dispute', disputeOf(id, event))] : []),
    ...(event.alert === 'refund_failed' ? [raise('refund_failed')] : []),
    ...(event.outcome === 'late_payment' && !isLate(before) ? [raise('late_payment')] : []),
    ...(event.mismatch === 1 ? [raise('amount_mismatch', amount)] : []),
  ]
}

// Which amount an event should have, and whether it has another one.

type Reported = Pick<WebhookEventRow, 'to_status' | 'amount' | 'currency' | 'alert'>

/** What was requested; once it was paid, what was paid, or what was refunded of that. */
export function expectedOf(payment: Payment, event: Reported): Paid {
  const { status, amount, currency, paid_amount, paid_currency } = payment.transaction
  if (isUnpaid(status)) return { amount, currency }
  const paidCurrency = paid_currency ?? currency
  if (!isRefund(event.to_status)) return { amount: paid_amount ?? amount, currency: paidCurrency }
  const paid = paidAmount(payment.transaction)
  if (event.to_status === 'Refunded' || event.amount > paid) {
    return { amount: paid, currency: paidCurrency }
  }
  return { amount: passedOver(payment, event.amount) ?? event.amount, currency: paidCurrency }
}

/**
 * Paid with another amount or currency than was requested; or, once it was paid, reported again or
 * as refunded with another one than was paid. A refund that comes before its payment is compared
 * with nothing.
 */
export function isMismatch(payment: Payment, event: Reported): boolean {
  if (event.alert !== null) return false
  const { to_status: to } = event
  const isCompared = to === 'Paid' || (isRefund(to) && !isUnpaid(payment.transaction.status))
  if (!isCompared) return false
  const { amount, currency } = expectedOf(payment, event)
  return event.amount !== amount || event.currency !== currency
}

/**
 * The sum after one of our own refunds, if the reported sum is between those before and after it:
 * no gateway can have had such a sum. Any other sum below ours is an older one, reported late.
 */
function passedOver({ refunds }: Payment, reported: number): number | undefined {
  const sums = refunds.flatMap((refund) => {
    const isOver = reported > refund.refunded_before && reported < sumAfter(refund)
    return refund.status !== 'failed' && isOver ? [sumAfter(refund)] : []
  })
  return sums.length > 0 ? Math.min(...sums) : undefined
}
