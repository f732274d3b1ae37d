// An order that was paid twice: at two gateways, or by two of its attempts. Pure.

import {
  type Alert,
  alertAbout,
  type Decision,
  heldAmount,
  isUnpaid,
  keepsLateMoney,
  newest,
  type Payment,
  reopened,
  settleAlert,
  unchanged,
  withAlerts,
} from './payment.ts'
import type { TransactionRow } from './rows.ts'

/** `per-gateway`: each gateway is a shop of its own, and may use the references of another. */
export type References = 'shared' | 'per-gateway'

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

/** Somebody's money is there: it was paid, also late, and not all of it was refunded. */
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
    const settled = others.map((each) => withSettled(each, now))
    return [{ ...decision, payment: withSettled(payment, now) }, ...settled.map(unchanged)]
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

const withSettled = (payment: Payment, now: number): Payment =>
  withAlerts(
    payment,
    payment.alerts
      .filter(({ kind, acknowledged_at: at }) => kind === 'double_payment' && at === null)
      .map((row) => settleAlert(row, 'refund', now)),
  )
