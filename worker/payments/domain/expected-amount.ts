// Which amount an event should have, and whether it has another one. Pure.

import { isRefund, isUnpaid, type Payment, paidAmount, sumAfter } from './payment.ts'
import type { WebhookEventRow } from './rows.ts'
import type { Paid } from './transaction.ts'

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
