// What a person is told of a gateway's event, and which amounts are wrong. Pure.

import type { PaymentError } from './exceptions.ts'
import { type Alert, alertAbout, isRefund, isUnpaid, type Payment, paidAmount } from './payment.ts'
import type { WebhookEventRow } from './rows.ts'
import type { AlertDetail, Paid } from './types.ts'

/** What only this delivery of an event has. */
export interface Delivered {
  now: number
  /** The refund that failed, by our id or the gateway's. */
  refundId?: string | undefined
  /** It is the gateway's answer to a check. */
  isAnswer?: boolean
}

/** It reports no status. */
export const isRemark = ({ alert, disputes }: Reported): boolean =>
  alert !== null && disputes === null

/** The same event came before; its row may be gone since. */
export const isTold = ({ alerts }: Payment, { alert, event_id }: WebhookEventRow): boolean =>
  alerts.some(
    ({ kind, detail }) =>
      kind === alert && (JSON.parse(detail ?? '{}') as AlertDetail).eventId === event_id,
  )

/** An attempt is one payment at its gateway: reported again, by a check, it is the same money. */
const isLate = ({ alerts }: Payment): boolean => alerts.some(({ kind }) => kind === 'late_payment')

/** One event may raise two: a late payment, and a wrong amount. */
export function alertsOf(before: Payment, event: WebhookEventRow, delivered: Delivered): Alert[] {
  const { id } = before.transaction
  // Also of an event without an alert: one whose error is not JSON must not be applied.
  const about = eventAlert('late_payment', before, event, delivered)
  const raise = (kind: Alert['kind'], subject = event.id): Alert => ({ ...about, kind, subject })
  // The webhook and a check report the same amount: one cause is one alert.
  const amount = [id, event.to_status, event.amount, event.currency].join(' ')
  return [
    ...(event.outcome === 'late_payment' && !isLate(before) ? [raise('late_payment')] : []),
    ...(event.mismatch === 1 ? [raise('amount_mismatch', amount)] : []),
  ]
}

export function eventAlert(
  kind: Alert['kind'],
  payment: Payment,
  event: WebhookEventRow,
  { now, refundId }: Delivered,
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
export function expectedOf(payment: Payment, event: Reported): Paid {
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
export function isMismatch(payment: Payment, event: Reported): boolean {
  if (isRemark(event)) return false
  const { to_status: to } = event
  const isCompared = to === 'Paid' || (isRefund(to) && !isUnpaid(payment.transaction.status))
  if (!isCompared) return false
  const { amount, currency } = expectedOf(payment, event)
  return event.amount !== amount || event.currency !== currency
}
