// The graph and the rules of amounts and names as SQL, generated from the one in TypeScript.
// Expressions only: `t` is the transaction that an event is about.

import {
  eventOf,
  NEXT,
  PAYMENT_STATUSES,
  type PaymentStatus,
  UNPAID_ENDS,
} from '../../domain/status.ts'

/** Where an event's values are: in a call's parameters, or in a parked row. */
export interface EventValues {
  /** The status of the transaction before it. */
  from: string
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

/**
 * What was paid, in minor units. One that was paid before this was stored: what was asked for. A
 * gateway may tell less than nothing, of which nothing can be given back.
 */
export const PAID = 'MAX(0, COALESCE(t.paid_amount, t.amount))'

const MOVES = PAYMENT_STATUSES.flatMap((from) => NEXT[from].map((to) => `${from}>${to}`))

/**
 * The sum that one of our own refunds passed over, where the event tells one in between: no gateway
 * ever came through that. Any other sum below ours is an older one, told late.
 */
const passedOver = (amount: string): string => `(SELECT MIN(r.refunded_before + r.amount)
  FROM payment_refunds r WHERE r.transaction_id = t.id AND r.status <> 'failed'
    AND ${amount} > r.refunded_before AND ${amount} < r.refunded_before + r.amount)`

const UNPAID = list(['Pending', ...UNPAID_ENDS])

const otherThanAsked = ({ amount, currency }: EventValues): string =>
  `(${amount} <> t.amount OR ${currency} <> t.currency)`

/** What the event should have told: what was asked for or, once it was paid, what came of that. */
export const expectedSql = ({ from, to, amount }: Pick<EventValues, 'from' | 'to' | 'amount'>) =>
  `CASE WHEN ${from} IN (${UNPAID}) THEN t.amount WHEN ${to} = 'Refunded' THEN ${PAID}
    WHEN ${to} <> 'PartiallyRefunded' THEN COALESCE(t.paid_amount, t.amount)
    WHEN ${amount} > ${PAID} THEN ${PAID} ELSE COALESCE(${passedOver(amount)}, ${amount}) END`

export const expectedCurrencySql = (from: string): string =>
  `iif(${from} IN (${UNPAID}), t.currency, COALESCE(t.paid_currency, t.currency))`

/**
 * True, false, or NULL without a transaction: paid with another amount or currency than was asked
 * for, or told once more, or as given back, with another than was paid.
 */
export const mismatchSql = (event: EventValues): string => `(${event.alert} IS NULL AND CASE
  WHEN ${event.from} IN (${UNPAID}) THEN ${event.to} = 'Paid' AND ${otherThanAsked(event)}
  WHEN ${event.to} IN ('Paid', 'Refunded', 'PartiallyRefunded')
  THEN ${event.amount} <> ${expectedSql(event)}
    OR ${event.currency} <> COALESCE(t.paid_currency, t.currency) ELSE 0 END)`

/**
 * What becomes of a transaction that is told to be `to`: `judge`, and the rules around it. Money
 * that has gone back has gone back: a refund is applied, whatever its amount.
 */
export const outcomeSql = (event: EventValues): string => `CASE WHEN t.id IS NULL THEN 'parked'
  WHEN ${event.alert} IS NOT NULL THEN 'unchanged'
  WHEN t.status || '>' || ${event.to} IN (${list(MOVES)}) THEN
    CASE WHEN ${event.to} = 'Paid' AND ${event.policy} = 'reject' AND ${otherThanAsked(event)}
      THEN 'rejected' ELSE 'applied' END
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
