// The sums of a settlement and of our books, by kind and currency: they show what no row does.

import type { Pair } from './ask-edge.ts'
import { type Booked, KIND_OF } from './booked.ts'
import type { Settlement } from './read-settlement.ts'

export const SUM_KINDS = [
  'paid',
  'refunded',
  'refund_failed',
  'chargebacks',
  'fees',
  'paid_out',
] as const

export interface Sum {
  kind: (typeof SUM_KINDS)[number]
  currency: string
  /** Minor units; what went back is below 0. */
  there: number
  /** Missing: our books do not have it. */
  here?: number
}

export function sumsOf(
  settled: readonly Pair[],
  { chargebacks, kept }: Pick<Settlement, 'chargebacks' | 'kept'>,
  here: Booked['here'],
): Sum[] {
  const sums = new Map<string, Sum>()
  const add = (side: 'there' | 'here', kind: Sum['kind'], amount: number, currency: string) => {
    const key = `${SUM_KINDS.indexOf(kind)} ${currency}`
    const sum = sums.get(key) ?? { kind, currency, there: 0, here: 0 }
    sums.set(key, { ...sum, [side]: (sum[side] ?? 0) + amount })
  }
  for (const { row } of settled) {
    const amount = row.type === 'refund' ? -row.amount : row.amount
    add('there', KIND_OF[row.type], amount, row.currency)
  }
  for (const { amount, currency } of chargebacks) add('there', 'chargebacks', amount, currency)
  for (const { kind, amount, currency } of here) {
    // What was disputed is booked as an amount; that it came back, below 0.
    if (kind.startsWith('disput')) add('here', 'chargebacks', -amount, currency)
    else if (kind === 'refunded' || kind === 'refund_failed') add('here', kind, amount, currency)
    else add('here', 'paid', amount, currency)
  }
  for (const kind of ['fees', 'paid_out'] as const) {
    for (const [currency, there] of kind === 'fees' ? kept.fees : kept.paidOut) {
      sums.set(`${SUM_KINDS.indexOf(kind)} ${currency}`, { kind, currency, there })
    }
  }
  return [...sums].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, sum]) => sum)
}
