// A gateway's settlement, row by row against what we have: which payment each row is about, and
// whether both sides agree. Pure. Files are read by libraries/settlement.

import { paidAmount } from './payment.ts'
import type { TransactionRow } from './rows.ts'
import {
  isPaying,
  type KnownPayment,
  type Settled,
  type SettledRow,
  settlePayment,
} from './settled-movements.ts'

/**
 * `known`: payments that have any of the names in the rows. A payment agrees with as many rows as
 * it has movements, so all rows of one belong together.
 */
export function settleRows(rows: readonly SettledRow[], known: readonly KnownPayment[]): Settled[] {
  const settled = rows.map(
    ({ type }): Settled => ({ as: type === 'unknown_word' ? type : 'not_ours' }),
  )
  for (const [payment, of] of rowsOfEach(rows, known)) {
    const answers = settlePayment(
      of.map((at) => rows[at] as SettledRow),
      payment,
    )
    for (const [n, answer] of answers.entries()) settled[of[n] ?? 0] = answer
  }
  return settled
}

/** The places of the rows of each payment: what an id names comes before what a reference does. */
function rowsOfEach(
  rows: readonly SettledRow[],
  known: readonly KnownPayment[],
): Map<KnownPayment, number[]> {
  const byPayment = new Map<KnownPayment, number[]>()
  const put = (payment: KnownPayment, at: number) => {
    const places = byPayment.get(payment)
    if (places) places.push(at)
    else byPayment.set(payment, [at])
  }
  const find = finder(known)
  const unnamed: number[] = []
  for (const [at, row] of rows.entries()) {
    const payment = find(row)
    if (payment) put(payment, at)
    else unnamed.push(at)
  }
  const byReference = Map.groupBy(known, ({ transaction }) => transaction.reference)
  for (const at of unnamed) {
    const row = rows[at] as SettledRow
    const ofReference = byReference.get(row.reference ?? '') ?? []
    const payment = best(
      ofReference.filter((it) => isOfAmount(it, row)),
      (it) => (byPayment.get(it) ?? []).filter((other) => rows[other]?.type === row.type).length,
    )
    if (payment) put(payment, at)
  }
  return new Map([...byPayment].map(([payment, of]) => [payment, of.toSorted((a, b) => a - b)]))
}

/** By the gateway's id first, then ours, then the gateway's of a refund. */
function finder(known: readonly KnownPayment[]): (row: SettledRow) => KnownPayment | undefined {
  const by = (name: (row: TransactionRow) => string | null) =>
    new Map(known.map((payment) => [name(payment.transaction), payment]))
  const byGatewayId = by((row) => row.gateway_transaction_id)
  const byId = by((row) => row.id)
  const byExternal = by((row) => row.external_reference_id)
  const byRefund = new Map(
    known.flatMap((it) => it.refunds.map((row) => [row.gateway_refund_id, it] as const)),
  )
  const ofRefund = ({ type, id, refund = id }: SettledRow) =>
    type === 'payment' || refund === undefined ? undefined : byRefund.get(refund)
  return (row) =>
    (row.id === undefined ? undefined : byGatewayId.get(row.id)) ??
    (row.ours === undefined ? undefined : (byId.get(row.ours) ?? byExternal.get(row.ours))) ??
    ofRefund(row)
}

const isOfAmount = ({ transaction, refunds, movements }: KnownPayment, row: SettledRow): boolean =>
  row.amount === (transaction.paid_at === null ? transaction.amount : paidAmount(transaction)) ||
  movements.some((it) => isPaying(it) && it.amount === row.amount) ||
  (row.type !== 'payment' && refunds.some(({ amount }) => amount === row.amount))

/** Of several attempts one that was paid and has no row yet, else the newest that was paid. */
function best(
  payments: readonly KnownPayment[],
  rowsOf: (payment: KnownPayment) => number,
): KnownPayment | undefined {
  const sorted = payments.toSorted((a, b) => a.transaction.attempt - b.transaction.attempt)
  const paid = sorted.filter(({ movements }) => movements.some(isPaying))
  return paid.findLast((payment) => rowsOf(payment) === 0) ?? paid.at(-1) ?? sorted.at(-1)
}
