// Decides what follows from a gateway's answer, or from none: an event for the ledger, another
// check or an alert. Pure.

import type { Check, CheckSettled } from '../acts/check.ts'
import { isMoreCaptured } from '../domain/capture.ts'
import { DAY_MS, HOUR_MS, nextCheckAt } from '../domain/check-times.ts'
import { isDisputeNews } from '../domain/disputes.ts'
import type { PaymentError } from '../domain/exceptions.ts'
import { differs } from '../domain/match.ts'
import { isRefund, isUnpaid, paidAmount } from '../domain/payment.ts'
import { differsFrom, refundDetail } from '../domain/refunds.ts'
import type { DisputeSet, RefundSet } from '../domain/reported.ts'
import type { DisputeRow, RefundRow, TransactionRow } from '../domain/rows.ts'
import { judge } from '../domain/status.ts'
import { isoTime } from '../domain/time.ts'
import type { VerifiedWebhook } from '../domain/types.ts'
import type { StatusAnswer } from '../gateways/gateway.ts'

export type KnownStatus = Extract<StatusAnswer, { known: true }>

/** An id in the answer is not the payment's: it is about another one. */
export const isOfAnother = (transaction: TransactionRow, answer: KnownStatus): boolean =>
  differs(transaction.gateway_transaction_id, answer.gatewayTransactionId) ||
  differs(transaction.external_reference_id, answer.externalReferenceId)

/** What is stored beside the payment itself. */
interface Stored {
  refunds?: readonly RefundRow[]
  disputes?: readonly DisputeRow[]
}

/**
 * Whether the ledger must have it: it applies a change, and records one that is illegal and an
 * answer about another payment.
 */
export function mustApply(
  transaction: TransactionRow,
  answer: KnownStatus,
  { refunds = [], disputes = [] }: Stored = {},
): boolean {
  const { status } = answer
  if (isOfAnother(transaction, answer)) return true
  if (answer.disputes && isDisputeNews(disputes, answer.disputes)) return true
  if (answer.refunds && differsFrom(refunds, answer.refunds)) return true
  if (isMoreCaptured(transaction, answer.refunds?.captured)) return true
  if (status === 'Pending') return false
  // Its rows are those that are stored, which have more to say than a sum.
  if (answer.refunds && isPaid(transaction)) return false
  const isMore = isRefund(status) && sumIn(transaction, answer) > transaction.refunded_amount
  switch (judge(transaction.status, status)) {
    case 'applied':
      return status !== 'PartiallyRefunded' || isMore
    case 'late_payment':
      return true
    case 'illegal':
      // Some gateways report `Paid` also after a refund.
      return status !== 'Paid'
    case 'unchanged':
      // The status stays when the amount falls, so only the amount tells of a refund made since.
      return isMore
  }
}

/** What it says was refunded, in minor units. */
const sumIn = (transaction: TransactionRow, { status, amount }: KnownStatus): number =>
  status === 'Refunded' ? paidAmount(transaction) : Math.min(amount, paidAmount(transaction))

const isPaid = ({ status }: TransactionRow): boolean => !isUnpaid(status)

/**
 * What was paid before it was refunded, which may differ from what was charged: after a full refund
 * it is what was refunded; after a partial one what the gateway reports, else what was charged.
 */
function paidBefore(
  { amount: charged }: TransactionRow,
  { status, amount, paidAmount }: KnownStatus,
): number | undefined {
  if (status === 'Refunded') return amount
  return status === 'PartiallyRefunded' ? (paidAmount ?? charged) : undefined
}

/** The answer as a webhook. A repeated answer has the same event id, so it is a duplicate. */
export function payloadOf(
  transaction: TransactionRow,
  answer: KnownStatus,
  now: number,
): VerifiedWebhook {
  const { id, gateway, reference, refund_revision, refunds_read_at } = transaction
  const { status, amount, currency, error, refunds, disputes, raw } = answer
  const paidAmount = paidBefore(transaction, answer)
  const {
    gatewayTransactionId = transaction.gateway_transaction_id ?? '',
    externalReferenceId = transaction.external_reference_id ?? '',
  } = answer
  // The right answer may come later: it must not be a duplicate of the one about another payment.
  const of = isOfAnother(transaction, answer)
    ? `:${gatewayTransactionId}:${externalReferenceId}`
    : ''
  const states = statesOf(refunds) + stepsOf(disputes)
  // The same refunds after others were read, or the same sum after one has failed, are other news.
  const since = [refund_revision, refunds && (refunds_read_at ?? 0)]
    .filter(Boolean)
    .map((of) => `:${of}`)
    .join('')
  return {
    gateway,
    gatewayTransactionId,
    reference,
    externalReferenceId,
    status,
    amount,
    currency,
    eventId: `recheck:${id}:${status}:${amount}${of}${states}${since}`,
    occurredAt: now,
    ...(error && { error }),
    ...(refunds && { refunds }),
    ...(paidAmount !== undefined && { paidAmount }),
    ...(disputes && { disputes }),
    ...(raw !== undefined && { raw }),
  }
}

/** Other refunds, or one with another state, are other news. */
const statesOf = (set: RefundSet | undefined): string =>
  [
    set?.captured === undefined ? '' : `:captured=${set.captured}`,
    ...(set?.refunds.map(({ id = '', amount, status }) => `:${id}=${status}${amount}`) ?? []),
  ].join('')

/** So are other chargebacks, or one that has ended. */
const stepsOf = (set: DisputeSet | undefined): string =>
  set?.parts.map(({ id, amount, state }) => `:${id}=${state}${amount}`).join('') ?? ''

/** For a payment that does not change. No answer: its gateway could not be asked. */
export function settledAs(check: Check, now: number, answer?: KnownStatus): CheckSettled {
  const { transaction, refund } = check
  const isPageClosed = answer?.isPageClosed
  const { id: transactionId, next_check_at: due } = transaction
  const base = { transactionId, now, due, ...(isPageClosed && { isPageClosed }) }
  if (refund) return { ...base, ...refundSettledAs(check, refund, now, answer) }
  if (transaction.status !== 'Pending') {
    // It was checked because a refund arrived before its payment, or because an event was stale.
    // With an answer, that is settled.
    return answer ? base : { ...base, nextCheckAt: now + HOUR_MS }
  }
  const next = nextCheckAt(transaction.created_at, now, answer?.payableUntil ?? endOf(transaction))
  if (next !== undefined) return { ...base, nextCheckAt: next }
  return { ...base, alert: unsettled(transaction, answer) }
}

/** The alert for a charge that expires without an answer: the gateway may have made it. */
export function expiredUnknown({ transaction }: Check, now: number): CheckSettled {
  const { id: transactionId, next_check_at: due } = transaction
  return { transactionId, now, due, nextCheckAt: due ?? now, alert: unsettled(transaction) }
}

function unsettled(
  { created_at, reference, amount, currency }: TransactionRow,
  answer?: KnownStatus,
): NonNullable<CheckSettled['alert']> {
  const since = isoTime(created_at)
  const gatewayStatus = answer?.status ?? 'none'
  return { kind: 'unsettled', detail: { reference, amount, currency, since, gatewayStatus } }
}

/** The time after which it cannot be paid; without a gateway's id, a day after its creation. */
const endOf = ({ expires_at, gateway_transaction_id, created_at }: TransactionRow) =>
  gateway_transaction_id === null ? created_at + DAY_MS : (expires_at ?? undefined)

/** The gateway has this refund neither in its list nor in its sum. Undefined: it does not say. */
function isMissing(
  { refunded_amount }: TransactionRow,
  { id, gateway_refund_id: gatewayId }: RefundRow,
  { status, amount, refunds: set }: KnownStatus,
): boolean {
  if (set) {
    return !set.refunds.some(
      (refund) => refund.id === undefined || refund.id === gatewayId || refund.refundId === id,
    )
  }
  return status === 'Paid' || (status === 'PartiallyRefunded' && amount <= refunded_amount)
}

const OUTCOME_UNKNOWN: PaymentError = {
  code: 'outcome_unknown',
  message: 'The gateway did not report the outcome of this refund, and has not made it.',
}
const DROPPED: PaymentError = {
  code: 'refund_cancelled',
  message: 'The gateway accepted this refund, no longer lists it, and has not made it.',
}

function refundSettledAs(
  { transaction }: Check,
  refund: RefundRow,
  now: number,
  answer: KnownStatus | undefined,
): Omit<CheckSettled, 'transactionId' | 'now' | 'due'> {
  const { id: refundId, created_at: createdAt } = refund
  const isAccepted = refund.status === 'accepted'
  const since = isoTime(createdAt)
  const gatewayStatus = answer?.status ?? 'none'
  const alert: NonNullable<CheckSettled['alert']> = {
    kind: 'refund_unsettled',
    detail: { ...refundDetail(transaction, refund), since, gatewayStatus },
  }
  // A day after the request, the gateway reports no refund: it is given up. Not so one that the
  // gateway lists as requested, or that it accepted and lists none: a bank may take days, and a
  // second refund would pay twice. Nor does an unknown status mean that nothing was refunded.
  const isUnmade = answer !== undefined && isMissing(transaction, refund, answer)
  // A bank that accepted it and no longer lists it has dropped it without a report. Kept, it would
  // lock every further refund for good.
  const isUnlisted = isUnmade && answer.refunds !== undefined
  if (isUnmade && (!isAccepted || isUnlisted) && now - createdAt >= DAY_MS) {
    return { failedRefund: { refundId, error: isAccepted ? DROPPED : OUTCOME_UNKNOWN }, alert }
  }
  const next = nextCheckAt(createdAt, now, createdAt + DAY_MS)
  const isDropped = isUnlisted && now - createdAt >= HOUR_MS
  // It is the payer's money: checks go on while the refund is pending, even after the alert.
  return next === undefined || (isAccepted && isDropped)
    ? { nextCheckAt: next ?? now + DAY_MS, alert }
    : { nextCheckAt: next }
}
