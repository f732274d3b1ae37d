// What a gateway's event does to its payment: the contract's rules of the graph, of amounts, of
// late payments and of refunds, in one place for webhooks, parked events and the sweeper. Pure.

import { alertAbout, isRaisedBy, withSettled } from './alerts.ts'
import { capturedIn, isPartKnown, withCaptured } from './capture.ts'
import { endedCheckAt, nextCheckAt } from './check-times.ts'
import { disputeIn, isDisputeUnused, withDispute } from './disputes.ts'
import type { PaymentError } from './exceptions.ts'
import { newId } from './new-id.ts'
import { CALL_ENDED, closingError } from './open-charge.ts'
import {
  type Alert,
  type Decision,
  hasEarlyRefund,
  isRefund,
  isUnpaid,
  newEvent,
  type Payment,
  paidAmount,
  refundUnderWay,
  unchanged,
  withPaymentCheckBy,
  withRefund,
  withTransaction,
} from './payment.ts'
import {
  areChanged,
  areReadLater,
  differsFrom,
  FAILED,
  failedRefund,
  settleRefunds,
  withRefundSet,
  withRefundSum,
} from './refunds.ts'
import type { WebhookEventRow } from './rows.ts'
import { EVENT_OF, type Outcome, type PaymentStatus, UNPAID_ENDS } from './status.ts'
import type { AlertDetail, Paid, RefundSet } from './types.ts'

export interface Applied extends Decision {
  /** The event as it is stored: with its payment, its outcome, and whether its amount is wrong. */
  event: WebhookEventRow
}

/** What comes with an event, and is not stored with it. */
export interface Receipt {
  now: number
  /** The refund that failed, by our id or the gateway's. */
  refundId?: string | undefined
  /** It is the gateway's answer to a check. */
  isAnswer?: boolean
  /** Its page can no longer be paid. Not read here: only `acts/webhook.ts` does. */
  isPageClosed?: boolean
}

/**
 * Applies `event`, which is new, to the payment that it is about. The event carries the policy for
 * a wrong amount.
 */
export function applyEvent(known: Payment, event: WebhookEventRow, receipt: Receipt): Applied {
  const captured = capturedIn(event)
  const payment = withCaptured(known, captured, receipt.now)
  const { transaction } = payment
  const isMore = payment !== known && transaction.paid_at !== null
  const isPart = captured !== undefined && transaction.paid_at !== null
  const mismatch = isPart ? isMore && captured !== transaction.amount : isMismatch(payment, event)
  const { id: transaction_id, status: from_status } = transaction
  const row = { ...event, transaction_id, from_status, mismatch: mismatch ? 1 : 0 } as const
  const judged = { ...row, judgement: judgementOf(payment, event, mismatch) }
  const moved = move(payment, judged, receipt)
  const stored = { ...row, outcome: outcomeOf(judged, moved, isMore) }
  const raised = alertsOf(payment, stored, receipt).filter(
    ({ kind }) => kind !== 'amount_mismatch' || captured === undefined || !isPartKnown(known),
  )
  const { payment: after, events, alerts } = moved
  return { payment: after, event: stored, events, alerts: [...alerts, ...raised] }
}

/**
 * Where a payment may go from each status. PartiallyRefunded leads to itself: more is refunded,
 * which is no change of status.
 * @forTests Every way through the graph.
 */
export const NEXT: Readonly<Record<PaymentStatus, readonly PaymentStatus[]>> = {
  Pending: ['Paid', 'Failed', 'Cancelled', 'Expired'],
  Paid: ['Refunded', 'PartiallyRefunded'],
  PartiallyRefunded: ['Refunded', 'PartiallyRefunded'],
  Failed: [],
  Cancelled: [],
  Expired: [],
  Refunded: [],
}

type Judgement = Exclude<Outcome, 'parked'>

/**
 * What happens to a payment with status `from` when an event has status `to`.
 * @forTests Every pair of them.
 */
export function judge(from: PaymentStatus, to: PaymentStatus): Judgement {
  if (NEXT[from].includes(to)) return 'applied'
  if (from === to) return 'unchanged'
  return to === 'Paid' && UNPAID_ENDS.includes(from) ? 'late_payment' : 'illegal'
}

/** Of its status. The money of a refund is gone, even if its amount differs: none is rejected. */
function judgementOf(payment: Payment, event: WebhookEventRow, mismatch: boolean): Judgement {
  const { status } = payment.transaction
  if (isRemark(event) || isLateRefund(payment, event)) return 'unchanged'
  // What is disputed was paid.
  if (event.disputes !== null && event.to_status === 'Paid' && !isUnpaid(status)) return 'unchanged'
  const judgement = judge(status, event.to_status)
  const isRefused = event.to_status === 'Paid' && event.on_mismatch === 'reject' && mismatch
  return judgement === 'applied' && isRefused ? 'rejected' : judgement
}

/** `judgement`: before anything has moved. */
type Judged = WebhookEventRow & { from_status: PaymentStatus; judgement: Judgement }

/** `areRefundsChanged`: by those that the event lists, or by their sum. */
type Moved = Decision & { areRefundsChanged?: boolean }

/**
 * What is stored. In a payment that was paid, refunds decide it by whether they have changed; else
 * the status does. More that was captured always counts.
 */
function outcomeOf(judged: Judged, { areRefundsChanged }: Moved, isMore: boolean): Outcome {
  const { from_status, judgement } = judged
  if (areRefundsChanged !== undefined && !isUnpaid(from_status)) {
    return areRefundsChanged || isMore ? 'applied' : 'unchanged'
  }
  const isUnused = judgement === 'unchanged' || judgement === 'illegal'
  return isMore && isUnused ? 'applied' : judgement
}

function move(payment: Payment, event: Judged, receipt: Receipt): Moved {
  const { now } = receipt
  const moved = moveMoney(payment, event, receipt)
  const set = disputeIn(event)
  if (!set) return moved
  const { amount: expectedAmount, currency: expectedCurrency } = expectedOf(payment, event)
  const { reference } = payment.transaction
  const detail = { reference, eventId: event.event_id, expectedAmount, expectedCurrency }
  const disputed = withDispute(moved.payment, set, { detail, now })
  // What was refunded of money that was not known here is not known either.
  const isMissed = isUnpaid(event.from_status) && !isRemark(event) && event.refunds === null
  const isAsked = isMissed || isDisputeUnused(payment.disputes, set, now)
  return { ...moved, payment: isAsked ? withPaymentCheckBy(disputed, now) : disputed }
}

function moveMoney(payment: Payment, event: Judged, receipt: Receipt): Moved {
  if (event.alert === 'refund_failed') return failRefund(payment, event, receipt)
  if (isRemark(event)) {
    return event.refunds === null ? unchanged(payment) : applySet(payment, event, receipt)
  }
  if (event.judgement === 'rejected') return unchanged(payment)
  const { now } = receipt
  const named = withKnownEnd(withLateMoney(withGatewayId(payment, event), event, now), event, now)
  const isStatus = event.judgement === 'applied' && !isRefund(event.to_status)
  const moved = isStatus ? changeStatus(named, event, now) : { payment: named, events: [] }
  const refunded = applyRefunds(moved.payment, event, receipt)
  const events = refunded.events.map((each) =>
    // The event's own id is that of its change of status.
    moved.events.length > 0 ? { ...each, id: newId(now) } : each,
  )
  return { ...refunded, events: [...moved.events, ...events] }
}

const paidBy = ({ occurred_at, amount, currency }: WebhookEventRow) => ({
  paid_at: occurred_at,
  paid_amount: amount,
  paid_currency: currency,
})

/** Money that came after the payment had ended: its status stays. */
const withLateMoney = (payment: Payment, event: Judged, now: number): Payment =>
  event.judgement === 'late_payment' && payment.transaction.paid_at === null
    ? withTransaction(payment, { ...paidBy(event), updated_at: now })
    : payment

/**
 * Money or an end has come, so no person has to look for it. Without the gateway's id, an end
 * is our own: what became of the payment there is still not known.
 */
function withKnownEnd(payment: Payment, { to_status }: WebhookEventRow, now: number): Payment {
  const { gateway_transaction_id: gatewayId } = payment.transaction
  const isOwn = gatewayId === null && UNPAID_ENDS.includes(to_status)
  if (to_status === 'Pending' || isOwn) return payment
  return withSettled(payment, 'unsettled', 'gateway', now)
}

function changeStatus(
  payment: Payment,
  event: WebhookEventRow,
  now: number,
): Pick<Decision, 'payment' | 'events'> {
  const { to_status: to } = event
  const { error } = payment.transaction
  const closing = closingError(payment.transaction, now)
  const isClosed = closing && UNPAID_ENDS.includes(to)
  const changed = withTransaction(payment, {
    status: to,
    updated_at: now,
    ...(to === 'Paid' && paidBy(event)),
    error: event.error ?? (isClosed ? JSON.stringify(closing) : error),
    ...(closing && CALL_ENDED),
  })
  const isEarly = to === 'Paid' && hasEarlyRefund(changed)
  const later = UNPAID_ENDS.includes(to) ? endedCheckAt(changed.transaction, now) : null
  const moved = withNextCheck(changed, isEarly ? now : later, now)
  const by = { id: event.id, correlationId: event.correlation_id, now }
  return { payment: moved, events: [newEvent(EVENT_OF[to], moved.transaction, by)] }
}

/** What was paid late has been asked back: the status stays, whatever is reported of the refund. */
const isLateRefund = ({ transaction }: Payment, { to_status }: WebhookEventRow): boolean =>
  isRefund(to_status) && UNPAID_ENDS.includes(transaction.status) && transaction.paid_at !== null

/**
 * While a refund is under way, its check stays due. One that the gateway itself began gets a first
 * one: a bank that drops it reports nothing, and its amount would stay reserved for good.
 */
function withNextCheck(payment: Payment, next_check_at: number | null, now: number): Payment {
  if (!refundUnderWay(payment)) return withTransaction(payment, { next_check_at })
  if (payment.transaction.next_check_at !== null) return payment
  return withTransaction(payment, { next_check_at: nextCheckAt(now, now) ?? null })
}

const withGatewayId = (payment: Payment, { gateway_transaction_id }: WebhookEventRow): Payment =>
  payment.transaction.gateway_transaction_id === null && gateway_transaction_id !== null
    ? withTransaction(payment, { gateway_transaction_id })
    : payment

/** The refunds that it lists, or their sum; with the money, those that came before it. */
function applyRefunds(payment: Payment, event: Judged, receipt: Receipt): Moved {
  if (event.refunds !== null) return applySet(payment, event, receipt)
  if (isRefund(event.to_status)) return applySum(payment, event, receipt)
  const isMoved = event.judgement === 'applied' || event.judgement === 'late_payment'
  return isMoved ? settleRefunds(payment, payment, causeOf(event, receipt)) : unchanged(payment)
}

const causeOf = (event: WebhookEventRow, { now }: Receipt) => ({
  id: event.id,
  correlationId: event.correlation_id,
  now,
  eventId: event.event_id,
})

function applySet(payment: Payment, event: Judged, receipt: Receipt): Moved {
  const { now } = receipt
  const set = JSON.parse(event.refunds ?? '') as RefundSet
  const read = withRefundSet(payment, set, now)
  const isSame = !areChanged(payment.refunds, read.refunds)
  const settled = settleRefunds(payment, read, causeOf(event, receipt))
  const isEarly = isEarlyRefund(payment, event)
  const checked =
    isEarly || !isSame ? withNextCheck(settled.payment, isEarly ? now : null, now) : settled.payment
  const areRefundsChanged = !isSame || settled.events.length > 0
  return { ...settled, payment: askedAgain(checked, set, now), areRefundsChanged }
}

/**
 * What is stored was read later. That may also come of a clock that was set back: if there is news
 * in what was not used, the gateway is asked again once the time of what is stored has come.
 */
function askedAgain(payment: Payment, set: RefundSet, now: number): Payment {
  const { refunds_read_at: storedAt } = payment.transaction
  const isUnused = areReadLater(payment, set.readAt, now) && differsFrom(payment.refunds, set)
  return isUnused ? withPaymentCheckBy(payment, Math.max(now, storedAt ?? now)) : payment
}

/** Its payment is not known to be paid: the gateway is asked for the real status. */
const isEarlyRefund = ({ transaction }: Payment, { to_status }: Judged): boolean =>
  isUnpaid(transaction.status) && transaction.paid_at === null && isRefund(to_status)

/** When the gateway had it so, by its clock; never ahead of ours, which would lock out the rest. */
const timeOf = ({ occurred_at }: WebhookEventRow, { now }: Receipt): number =>
  Math.min(occurred_at, now)

function applySum(payment: Payment, event: Judged, receipt: Receipt): Moved {
  const { now, isAnswer = false } = receipt
  const { transaction } = payment
  const at = timeOf(event, receipt)
  const seen = isAnswer ? {} : { refunds_read_at: at }
  if (isEarlyRefund(payment, event)) {
    return unchanged(withTransaction(payment, { ...seen, next_check_at: now }))
  }
  if (isUnpaid(transaction.status) && !isLateRefund(payment, event)) return unchanged(payment)
  const paid = paidAmount(transaction)
  const sum = event.to_status === 'Refunded' ? paid : Math.max(0, Math.min(event.amount, paid))
  const { payment: summed, isAsked } = withRefundSum(payment, sum, at, now)
  if (isAsked) {
    const isMoved = event.judgement === 'applied' && event.to_status !== transaction.status
    const asked = unchanged(withTransaction(payment, { next_check_at: now }))
    return { ...asked, ...(isMoved && { areRefundsChanged: false }) }
  }
  const to = event.judgement === 'applied' ? { to: event.to_status } : {}
  const settled = settleRefunds(payment, summed, { ...causeOf(event, receipt), ...to })
  if (settled.payment === payment) return unchanged(payment)
  const checked = withNextCheck(withTransaction(settled.payment, seen), null, now)
  return { ...settled, payment: checked, areRefundsChanged: true }
}

/** A gateway reports one failure. Which refund it was may be known only to the gateway. */
function failRefund(payment: Payment, event: WebhookEventRow, receipt: Receipt): Moved {
  const { now, refundId } = receipt
  const at = timeOf(event, receipt)
  const refund = failedRefund(payment, refundId, at, now)
  if (refund?.status === 'failed') return unchanged(payment)
  if (!refund) {
    const asked = withTransaction(payment, { next_check_at: now })
    const alert = eventAlert('refund_failed', payment, event, receipt)
    const alerts = isRaisedBy(event, payment) ? [] : [alert]
    return { ...unchanged(asked), alerts }
  }
  const error = event.error ?? JSON.stringify(FAILED)
  const failed = withRefund(payment, { ...refund, status: 'failed', error, updated_at: now })
  const seen = withTransaction(failed, { refunds_read_at: at })
  const { status } = payment.transaction
  // What was left of the others may be everything: a failure moves no status.
  const settled = settleRefunds(payment, seen, { ...causeOf(event, receipt), to: status })
  if (status === 'Pending') return settled
  // It was made, and another one may have been made since.
  const isAsked = refund.status === 'succeeded'
  return { ...settled, payment: withNextCheck(settled.payment, isAsked ? now : null, now) }
}

/** It reports no status. */
const isRemark = ({ alert, disputes }: Reported): boolean => alert !== null && disputes === null

/** An attempt is one payment at its gateway: reported again, by a check, it is the same money. */
const isLate = ({ alerts }: Payment): boolean => alerts.some(({ kind }) => kind === 'late_payment')

/** One event may raise two: a late payment, and a wrong amount. */
function alertsOf(before: Payment, event: WebhookEventRow, receipt: Receipt): Alert[] {
  const { id } = before.transaction
  // Also of an event without an alert: one whose error is not JSON must not be applied.
  const about = eventAlert('late_payment', before, event, receipt)
  const raise = (kind: Alert['kind'], subject = event.id): Alert => ({ ...about, kind, subject })
  // The webhook and a check report the same amount: one cause is one alert.
  const amount = [id, event.to_status, event.amount, event.currency].join(' ')
  return [
    ...(event.outcome === 'late_payment' && !isLate(before) ? [raise('late_payment')] : []),
    ...(event.mismatch === 1 ? [raise('amount_mismatch', amount)] : []),
  ]
}

function eventAlert(
  kind: Alert['kind'],
  payment: Payment,
  event: WebhookEventRow,
  { now, refundId }: Receipt,
): Alert {
  const expected = expectedOf(payment, event)
  const { amount, currency } = event
  const detail: AlertDetail = {
    eventId: event.event_id,
    currency,
    // Which refund has failed is not known, nor is its amount: the payment's would be another one.
    ...(event.alert !== 'refund_failed' && {
      amount,
      expectedAmount: expected.amount,
      expectedCurrency: expected.currency,
    }),
    ...(event.to_status !== 'Paid' && { gatewayStatus: event.to_status }),
    ...(refundId !== undefined && { refundId }),
    ...(event.error !== null && { error: JSON.parse(event.error) as PaymentError }),
  }
  return alertAbout(payment.transaction, kind, now, detail, event.id)
}

type Reported = Pick<WebhookEventRow, 'to_status' | 'amount' | 'currency' | 'alert' | 'disputes'>

/**
 * The amount that an event should have: what was requested; once it was paid, what was paid, or the
 * most that can be refunded of it.
 */
function expectedOf(payment: Payment, event: Reported): Paid {
  const { status, amount, currency, paid_amount, paid_currency } = payment.transaction
  if (isUnpaid(status)) return { amount, currency }
  const paidCurrency = paid_currency ?? currency
  if (!isRefund(event.to_status)) return { amount: paid_amount ?? amount, currency: paidCurrency }
  const paid = paidAmount(payment.transaction)
  const isWhole = event.to_status === 'Refunded' || event.amount > paid
  return { amount: isWhole ? paid : event.amount, currency: paidCurrency }
}

/**
 * Paid with another amount or currency than was requested; or, once it was paid, reported again or
 * as refunded with another one than was paid. A refund that comes before its payment is compared
 * with nothing.
 */
function isMismatch(payment: Payment, event: Reported): boolean {
  if (isRemark(event)) return false
  const { to_status: to } = event
  const isCompared = to === 'Paid' || (isRefund(to) && !isUnpaid(payment.transaction.status))
  if (!isCompared) return false
  const { amount, currency } = expectedOf(payment, event)
  return event.amount !== amount || event.currency !== currency
}
