// What an event should have told, and whether it told something else. Pure.

import { isRefund, isUnpaid, type Payment, paidAmount, sumAfter } from './payment.ts'
import type { WebhookEventRow } from './rows.ts'
import type { Paid } from './transaction.ts'

type Told = Pick<WebhookEventRow, 'to_status' | 'amount' | 'currency' | 'alert'>

/** What was asked for or, once it was paid, what was paid or came back of that. */
export function expectedOf(payment: Payment, told: Told): Paid {
  const { status, amount, currency, paid_amount, paid_currency } = payment.transaction
  if (isUnpaid(status)) return { amount, currency }
  const paidCurrency = paid_currency ?? currency
  if (!isRefund(told.to_status)) return { amount: paid_amount ?? amount, currency: paidCurrency }
  const most = paidAmount(payment.transaction)
  if (told.to_status === 'Refunded' || told.amount > most) {
    return { amount: most, currency: paidCurrency }
  }
  return { amount: passedOver(payment, told.amount) ?? told.amount, currency: paidCurrency }
}

/**
 * Paid with another amount or currency than was asked for; or told once more, or as given back,
 * with another than was paid. What is told of a refund before its payment is compared with nothing.
 */
export function isMismatch(payment: Payment, told: Told): boolean {
  if (told.alert !== null) return false
  const { to_status: to } = told
  const isCompared = to === 'Paid' || (isRefund(to) && !isUnpaid(payment.transaction.status))
  if (!isCompared) return false
  const { amount, currency } = expectedOf(payment, told)
  return told.amount !== amount || told.currency !== currency
}

/**
 * The sum that one of our own refunds passed over, where the event tells one in between: no gateway
 * ever came through that. Any other sum below ours is an older one, told late.
 */
function passedOver({ refunds }: Payment, told: number): number | undefined {
  const sums = refunds.flatMap((refund) => {
    const isOver = told > refund.refunded_before && told < sumAfter(refund)
    return refund.status !== 'failed' && isOver ? [sumAfter(refund)] : []
  })
  return sums.length > 0 ? Math.min(...sums) : undefined
}
