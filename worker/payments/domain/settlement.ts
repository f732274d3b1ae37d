// A gateway's settlement, row by row against what we have: which payment each row is about, and
// whether both sides agree. Pure. Files are read by libraries/settlement.

import { type Payment, paidAmount } from './payment.ts'
import type { RefundRow, TransactionRow } from './rows.ts'
import { UNPAID_ENDS } from './status.ts'

/** What both sides can differ in. The first that is so counts. */
export const SETTLED_AS = [
  'not_ours',
  'other_currency',
  'other_amount',
  'paid_there',
  'refunded_there',
  'late',
  'same',
] as const
export type SettledAs = (typeof SETTLED_AS)[number]

export interface SettledRow {
  type: 'payment' | 'refund'
  /** The gateway's id of the payment. */
  id?: string
  /** Our id of it, or its external reference. */
  ours?: string
  reference?: string
  /** Minor units, above 0. */
  amount: number
  currency: string
}

export interface Settled {
  as: SettledAs
  /** Not of a row that is not ours. */
  transaction?: TransactionRow
  refund?: RefundRow
}

export type KnownPayment = Pick<Payment, 'transaction' | 'refunds'>

/** `known`: payments that have any of the names in the rows. Each refund agrees with one row. */
export function settleRows(rows: readonly SettledRow[], known: readonly KnownPayment[]): Settled[] {
  const find = finder(known)
  const taken = new Set<string>()
  return rows.map((row) => {
    const payment = find(row)
    if (!payment) return { as: 'not_ours' }
    const { transaction } = payment
    if (row.type === 'payment') return { as: paymentAs(row, transaction), transaction }
    const refund = refundOf(row, payment, taken)
    if (refund) taken.add(refund.id)
    return { as: refundAs(row, transaction, refund), transaction, ...(refund && { refund }) }
  })
}

const currencyOf = ({ paid_at, paid_currency, currency }: TransactionRow): string =>
  paid_at === null ? currency : (paid_currency ?? currency)

const amountOf = (row: TransactionRow): number =>
  row.paid_at === null ? row.amount : paidAmount(row)

function paymentAs(row: SettledRow, transaction: TransactionRow): SettledAs {
  if (row.currency !== currencyOf(transaction)) return 'other_currency'
  if (row.amount !== amountOf(transaction)) return 'other_amount'
  if (transaction.paid_at === null) return 'paid_there'
  return UNPAID_ENDS.includes(transaction.status) ? 'late' : 'same'
}

function refundAs(
  row: SettledRow,
  transaction: TransactionRow,
  refund: RefundRow | undefined,
): SettledAs {
  if (row.currency !== currencyOf(transaction)) return 'other_currency'
  if (refund && refund.amount !== row.amount) return 'other_amount'
  if (refund?.status !== 'succeeded') return 'refunded_there'
  return UNPAID_ENDS.includes(transaction.status) ? 'late' : 'same'
}

/** By the gateway's id of it; else one of that amount, else any: made ones before others. */
function refundOf(
  row: SettledRow,
  { refunds }: KnownPayment,
  taken: ReadonlySet<string>,
): RefundRow | undefined {
  const free = refunds.filter(({ id }) => !taken.has(id))
  const made = free.filter(({ status }) => status === 'succeeded')
  const isEqual = ({ amount }: RefundRow) => amount === row.amount
  const named = free.find(({ gateway_refund_id: id }) => id !== null && id === row.id)
  return named ?? made.find(isEqual) ?? made[0] ?? free.find(isEqual)
}

/** By the gateway's id first, then ours, then the reference with the amount. */
function finder(known: readonly KnownPayment[]): (row: SettledRow) => KnownPayment | undefined {
  const by = (name: (row: TransactionRow) => string | null) =>
    new Map(known.map((payment) => [name(payment.transaction), payment]))
  const byGatewayId = by((row) => row.gateway_transaction_id)
  const byId = by((row) => row.id)
  const byExternal = by((row) => row.external_reference_id)
  const byReference = Map.groupBy(known, ({ transaction }) => transaction.reference)
  return ({ id, ours, ...row }) =>
    (id === undefined ? undefined : byGatewayId.get(id)) ??
    (ours === undefined ? undefined : (byId.get(ours) ?? byExternal.get(ours))) ??
    newestOf((byReference.get(row.reference ?? '') ?? []).filter((it) => isOfAmount(it, row)))
}

const isOfAmount = ({ transaction, refunds }: KnownPayment, row: SettledRow): boolean =>
  row.amount === amountOf(transaction) ||
  (row.type === 'refund' && refunds.some(({ amount }) => amount === row.amount))

/** The paid one of several attempts, else the newest. */
function newestOf(payments: readonly KnownPayment[]): KnownPayment | undefined {
  const sorted = payments.toSorted((a, b) => a.transaction.attempt - b.transaction.attempt)
  return sorted.findLast(({ transaction }) => transaction.paid_at !== null) ?? sorted.at(-1)
}
