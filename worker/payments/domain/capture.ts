// Money that a gateway takes in parts, of what its payer has authorized: what was captured in all
// only rises, and each rise is money that came. Pure.

import { opened, settleAlert, withAlerts, withLateMoneyRefunded } from './alerts.ts'
import { type Payment, paidAmount, withTransaction } from './payment.ts'
import type { AlertRow, TransactionRow, WebhookEventRow } from './rows.ts'
import { UNPAID_ENDS } from './status.ts'
import type { AlertDetail, RefundSet } from './types.ts'

/** What was captured in all, where the gateway reports it. */
export const capturedIn = ({ refunds }: Pick<WebhookEventRow, 'refunds'>): number | undefined =>
  refunds === null ? undefined : (JSON.parse(refunds) as RefundSet).captured

/** Whether the gateway has captured more than is stored. */
export const isMoreCaptured = (
  transaction: TransactionRow,
  captured: number | undefined,
): boolean =>
  transaction.paid_at !== null && captured !== undefined && captured > paidAmount(transaction)

/**
 * The payment with what was captured since it was paid, or since a part was refused. An alert about
 * the part gets the part as it is now, and is settled by the whole.
 */
export function withCaptured(payment: Payment, captured: number | undefined, now: number): Payment {
  if (captured === undefined) return payment
  const { transaction } = payment
  const known = payment.alerts.find(isOfPart)
  const isPaid = transaction.paid_at !== null
  const before = isPaid ? paidAmount(transaction) : known && amountIn(known)
  if (before === undefined || captured <= before) return payment
  const paid = isPaid
    ? withTransaction(payment, { paid_amount: captured, updated_at: now })
    : payment
  const alerted = known ? withAlerts(paid, [goesOn(known, transaction, captured, now)]) : paid
  return isPaid && UNPAID_ENDS.includes(transaction.status)
    ? withLateMoneyRefunded(alerted, now)
    : alerted
}

/** Its alert about a part goes on, so the same money raises no other. */
export const isPartKnown = ({ alerts }: Payment): boolean => alerts.some(isOfPart)

/** What was refused of a payment that was not paid: the whole takes its place. */
export const refusedPart = ({ transaction, alerts }: Payment): number => {
  const known = transaction.paid_at === null ? alerts.find(isOfPart) : undefined
  return known === undefined ? 0 : amountIn(known)
}

const detailOf = ({ detail }: AlertRow) => JSON.parse(detail ?? '{}') as AlertDetail
const amountIn = (row: AlertRow): number => detailOf(row).amount ?? 0

/** One of a refund names a status. */
const isOfPart = (row: AlertRow): boolean =>
  row.kind === 'amount_mismatch' && detailOf(row).gatewayStatus === undefined

/**
 * The alert is about a part, and the whole was captured since a person saw it. Of money that
 * had come whole before, it is about what was reported again.
 */
export const isPartWhole = (
  row: AlertRow,
  { amount, currency, paid_amount, paid_currency, updated_at }: TransactionRow,
): boolean =>
  isOfPart(row) &&
  paid_amount === amount &&
  (paid_currency === null || paid_currency === currency) &&
  updated_at >= (row.acknowledged_at ?? 0)

function goesOn(
  row: AlertRow,
  { amount }: TransactionRow,
  captured: number,
  now: number,
): AlertRow {
  if (captured === amount) return settleAlert(row, 'capture', now)
  return {
    ...opened(row, now),
    detail: JSON.stringify({ ...detailOf(row), amount: captured }),
  }
}
