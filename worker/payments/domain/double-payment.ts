// An order that is paid twice, at two gateways or by two of its attempts: the alert of a decision
// that makes it so, and what settles that. Pure.

import { alertAbout, reopened, withAlerts, withSettled } from './alerts.ts'
import { newest } from './open-charge.ts'
import {
  type Alert,
  type Decision,
  heldAmount,
  isUnpaid,
  keepsLateMoney,
  type Payment,
  unchanged,
} from './payment.ts'
import type { TransactionRow } from './rows.ts'
import type { References } from './types.ts'

/** Whether another payment is of the same order, and was not begun to pay it once more. */
export const isOfOrder = (
  { id, gateway, reference }: TransactionRow,
  other: TransactionRow,
  references: References,
): boolean =>
  other.reference === reference &&
  other.id !== id &&
  other.is_repeat === 0 &&
  (references === 'shared' || other.gateway === gateway)

/** A payer's money is there: it was paid, also late, and not all of it was refunded. */
const holdsMoney = (payment: Payment): boolean =>
  isUnpaid(payment.transaction.status) ? keepsLateMoney(payment) : heldAmount(payment) > 0

export const isPaidTwice = (order: readonly Payment[]): boolean =>
  order.filter(holdsMoney).length > 1

/**
 * The decision on a payment, with an alert if another one of its order is paid already; and once
 * all but one are refunded, that on the payments whose alerts are settled by it. If that refund
 * fails, they are open again.
 */
export function decideInOrder(
  before: Payment,
  decision: Decision,
  others: readonly Payment[],
  now: number,
): Decision[] {
  const { payment, alerts } = decision
  const was = holdsMoney(before)
  const is = holdsMoney(payment)
  const held = others.filter(holdsMoney)
  if (was === is || payment.transaction.is_repeat === 1) return [decision]
  const other = newest(held.map(({ transaction }) => transaction))
  if (!is) {
    if (held.length > 1) return [decision]
    const settled = (each: Payment) => withSettled(each, 'double_payment', 'refund', now)
    return [
      { ...decision, payment: settled(payment) },
      ...others.map((each) => unchanged(settled(each))),
    ]
  }
  if (!other) return [decision]
  const isBack = payment.transaction.refunded_amount < before.transaction.refunded_amount
  const again = isBack ? [payment, ...others].map((each) => withReopened(each, now)) : []
  const [first = payment, ...rest] = again
  const isSettled = first !== payment || rest.some((each) => !others.includes(each))
  return isSettled
    ? [{ ...decision, payment: first }, ...rest.map(unchanged)]
    : [{ ...decision, alerts: [...alerts, raised(payment, other, now)] }]
}

const withReopened = (payment: Payment, now: number): Payment =>
  withAlerts(payment, reopened(payment.alerts, 'double_payment', now))

function raised({ transaction }: Payment, other: TransactionRow, createdAt: number): Alert {
  const { paid_amount, paid_currency: currency } = transaction
  return alertAbout(transaction, 'double_payment', createdAt, {
    amount: paid_amount ?? transaction.amount,
    currency: currency ?? transaction.currency,
    otherTransactionId: other.id,
    otherGateway: other.gateway,
  })
}
