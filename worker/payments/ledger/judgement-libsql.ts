// The graph and the rules of amounts and names as SQL, generated from the one in TypeScript.
// Expressions only: `t` is the transaction that an event is about.

import { eventOf, NEXT, PAYMENT_STATUSES, type PaymentStatus, UNPAID_ENDS } from '../status.ts'

/** Where an event's values are: in a call's parameters, or in a parked row. */
export interface EventValues {
  to: string
  amount: string
  currency: string
  /** What becomes of a mismatch. */
  policy: string
  alert: string
}

export const list = (texts: readonly string[]): string =>
  texts.map((text) => `'${text}'`).join(', ')

/** A refund, by its alias, whose end is not known: there is one for each transaction at most. */
export const isUnderWay = (refund: string): string => `${refund}.status IN ('claimed', 'accepted')`

const MOVES = PAYMENT_STATUSES.flatMap((from) => NEXT[from].map((to) => `${from}>${to}`))

/** True, false, or NULL without a transaction: paid with another amount or currency than asked. */
export const mismatchSql = ({ to, amount, currency, alert }: EventValues): string =>
  `(${to} = 'Paid' AND ${alert} IS NULL AND (t.amount <> ${amount} OR t.currency <> ${currency}))`

/** What becomes of a transaction that is told to be `to`: `judge`, and the rules around it. */
export const outcomeSql = (event: EventValues): string => `CASE WHEN t.id IS NULL THEN 'parked'
  WHEN ${event.alert} IS NOT NULL THEN 'unchanged'
  WHEN t.status || '>' || ${event.to} IN (${list(MOVES)}) THEN
    CASE WHEN ${event.policy} = 'reject' AND ${mismatchSql(event)} THEN 'rejected'
    ELSE 'applied' END
  WHEN t.status = ${event.to} THEN 'unchanged'
  WHEN ${event.to} = 'Paid' AND t.status IN (${list(UNPAID_ENDS)}) THEN 'late_payment'
  ELSE 'illegal' END`

/** The lifecycle event that a change to the status `to` fires. */
export const typeSql = (to: string): string => {
  const ends = PAYMENT_STATUSES.filter(
    (status): status is Exclude<PaymentStatus, 'Pending'> => status !== 'Pending',
  )
  return `CASE ${to} ${ends.map((end) => `WHEN '${end}' THEN '${eventOf(end)}'`).join(' ')} END`
}

/**
 * By the gateway's name, then by ours, then by the order's newest row that has no name yet. The
 * plus keeps the last from the index of names, which would find every payment without one.
 */
export const matchSql = (gateway: string, gtid: string, extref: string, reference: string) =>
  `COALESCE(
    (SELECT id FROM payment_transactions
      WHERE gateway = ${gateway} AND gateway_transaction_id = ${gtid}),
    (SELECT id FROM payment_transactions
      WHERE gateway = ${gateway} AND external_reference_id = ${extref}),
    (SELECT id FROM payment_transactions
      WHERE gateway = ${gateway} AND reference = ${reference} AND +gateway_transaction_id IS NULL
      ORDER BY id DESC LIMIT 1))`
