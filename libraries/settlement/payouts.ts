// What a gateway paid out, and what it kept of it. Our books have neither: a payment's money is the
// payer's until then. Pure.

import { CURRENCY } from '../../worker/payments/domain/money.ts'
import { amountOf, type DecimalSign } from './amounts.ts'
import type { Classed, Row } from './rows.ts'

/** The rows of a file that one payout has. Minor units; what was kept is below 0. */
export interface Payout {
  /** The gateway's. */
  id: string
  currency: string
  rows: number
  gross: number
  fees: number
  net: number
}

export interface Kept {
  payouts: Payout[]
  /** By currency: of all rows, in a payout or not. */
  fees: ReadonlyMap<string, number>
  /** By currency: rows of payouts, else the net of what names one. */
  paidOut: ReadonlyMap<string, number>
}

/** `signOf`: the decimal sign of a currency in this file. */
export function keptIn(
  { money, chargebacks, own }: Pick<Classed, 'money' | 'chargebacks' | 'own'>,
  signOf: (currency: string) => DecimalSign,
): Kept {
  const payouts = new Map<string, Payout>()
  const fees = new Map<string, number>()
  const sums = new Map<string, number>()
  const add = (to: Map<string, number>, currency: string, amount: number) => {
    if (amount !== 0) to.set(currency, (to.get(currency) ?? 0) + amount)
  }
  const all = [
    ...money.map((row) => ({ row, sign: row.kind === 'refund' ? -1 : 0, own: undefined })),
    ...chargebacks.map((row) => ({ row, sign: row.isReturned ? 1 : -1, own: undefined })),
    ...own.map((row) => ({ row, sign: 0, own: row.kind })),
  ]
  for (const { row, sign, own } of all) {
    const currency = (row.cells.settledCurrency ?? row.currency).toUpperCase()
    const read = (text = '') =>
      text === '' || !CURRENCY.test(currency)
        ? 0
        : (amountOf({ text, currency }, signOf(currency)) ?? 0)
    const amount = read(row.cells.settled ?? row.text)
    if (own === 'payout') {
      add(sums, currency, Math.abs(amount))
      continue
    }
    const signed = sign === 0 ? amount : sign * Math.abs(amount)
    // A column of fees has what they cost; a row of its own, what it takes.
    const fee = own === 'fee' ? amount : -read(row.cells.fee)
    add(fees, currency, fee)
    count(payouts, row, { currency, gross: own === 'fee' ? 0 : signed, fee })
  }
  const paidOut = sums.size > 0 ? sums : new Map<string, number>()
  if (sums.size === 0) for (const { currency, net } of payouts.values()) add(paidOut, currency, net)
  return { payouts: [...payouts.values()], fees, paidOut }
}

function count(
  payouts: Map<string, Payout>,
  { cells: { payout: id } }: Row,
  { currency, gross, fee }: { currency: string; gross: number; fee: number },
): void {
  if (id === undefined) return
  const key = `${id} ${currency}`
  const known = payouts.get(key) ?? { id, currency, rows: 0, gross: 0, fees: 0, net: 0 }
  payouts.set(key, {
    ...known,
    rows: known.rows + 1,
    gross: known.gross + gross,
    fees: known.fees + fee,
    net: known.net + gross + fee,
  })
}
