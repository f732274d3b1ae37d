// The graph and the rules of amounts and names as SQL, generated from the one in TypeScript.
// Expressions only: `t` is the transaction that an event is about.

import { cameFrom, type PaymentStatus, UNPAID_ENDS } from '../status.ts'

export const list = (statuses: readonly PaymentStatus[]) =>
  statuses.map((name) => `'${name}'`).join(', ')

/** Where the event's values are: parameters of a call, or a parked row. */
export interface EventValues {
  amount: string
  currency: string
  policy: string
  alert: string
}

const isOther = ({ amount, currency }: EventValues) =>
  `(t.amount <> ${amount} OR t.currency <> ${currency})`

/** 1 when `to` is Paid, with another amount or currency than was asked for. */
export const mismatchSql = (to: PaymentStatus, values: EventValues): string =>
  to === 'Paid' ? `${values.alert} IS NULL AND t.id IS NOT NULL AND ${isOther(values)}` : '0'

/** The graph as SQL: what becomes of a transaction `t` that is told to be `to`. */
export function outcomeSql(to: PaymentStatus, values: EventValues): string {
  const from = cameFrom(to)
  const illegal =
    to === 'Paid'
      ? `CASE WHEN t.status IN (${list(UNPAID_ENDS)}) THEN 'late_payment' ELSE 'illegal' END`
      : `'illegal'`
  const rejected = `WHEN ${values.policy} = 'reject' AND ${isOther(values)} THEN 'rejected'`
  return `CASE WHEN t.id IS NULL THEN 'parked'
    WHEN ${values.alert} IS NOT NULL THEN 'unchanged'
    ${from.includes(to) ? '' : `WHEN t.status = '${to}' THEN 'unchanged'`}
    WHEN t.status NOT IN (${list(from)}) THEN ${illegal}
    ${to === 'Paid' ? rejected : ''}
    ELSE 'applied' END`
}

/** By the gateway's name, then by ours, then by the order's newest row that has no name yet. */
export const matchSql = (gateway: string, gtid: string, extref: string, reference: string) =>
  `COALESCE(
    (SELECT id FROM payment_transactions
      WHERE gateway = ${gateway} AND gateway_transaction_id = ${gtid}),
    (SELECT id FROM payment_transactions
      WHERE gateway = ${gateway} AND external_reference_id = ${extref}),
    (SELECT id FROM payment_transactions
      WHERE gateway = ${gateway} AND reference = ${reference} AND gateway_transaction_id IS NULL
      ORDER BY id DESC LIMIT 1))`
