// Compares a settlement with our payments: each row in one class, what is here and not there, and
// the sums of both sides. It asks the edge, and changes nothing.

import { SETTLED_AS } from '../../worker/payments/domain/settlement.ts'
import type { Movement } from '../api/types.ts'
import { askEdge, type Books, type Pair, type SettledAnswer } from './ask-edge.ts'
import { booked } from './booked.ts'
import type { Payout } from './payouts.ts'
import type { FileRow, Settlement } from './read-settlement.ts'
import { type Sum, sumsOf } from './sums.ts'
import { brief } from './table.ts'

/** In their order: the first that is so counts. */
export const CLASSES = ['unreadable', ...SETTLED_AS, 'here_only'] as const
export type Class = (typeof CLASSES)[number]

export interface ComparedRow {
  class: Class
  /** The file's; missing for what is here only. */
  line?: number
  /** The line of an earlier row of the same movement. */
  first?: number
  why?: string
  /** That no list knows. */
  word?: string
  row?: FileRow
  /** What we have. */
  ours?: SettledAnswer
  /** What is here only. */
  movement?: Movement
}

export interface Comparison {
  rows: ComparedRow[]
  counts: Readonly<Record<Class, number>>
  /** The file's first and last day. Missing: it has none, so nothing is said of what it lacks. */
  days?: { first: string; last: string }
  /** Words that no list knows, each with the number of its rows. */
  words: { word: string; column: 'type' | 'status'; rows: number }[]
  /** Rows that were left out: sums, fees and payouts; those whose money did not come. */
  skipped: number
  unpaid: number
  chargebacks: number
  sums: Sum[]
  payouts: Payout[]
}

/** `zone`: that of the file's days, an IANA name. */
export async function compare(
  settlement: Settlement,
  books: Books,
  zone = 'UTC',
): Promise<Comparison> {
  const { unreadable, unknown, chargebacks, skipped, unpaid, days } = settlement
  let settled = await askEdge(settlement.rows, books)
  const different = settled.filter(({ ours }) => ours.as !== 'same' && ours.transactionId)
  if (books.check && different.length > 0) {
    const ids = new Set(different.flatMap(({ ours }) => ours.transactionId ?? []))
    for (const id of ids) await books.check(id)
    settled = await askEdge(settlement.rows, books)
  }
  const found = await booked(days && { ...days, zone }, settled, books)
  const firsts = firstLines(settled)
  const ofFile: ComparedRow[] = [
    ...unreadable.map(({ line, why }): ComparedRow => ({ class: 'unreadable', line, why })),
    ...unknown.map(({ line, word }): ComparedRow => ({ class: 'unknown_word', line, word })),
    ...settled.map((pair): ComparedRow => {
      const { row, ours } = pair
      const first = ours.as === 'twice' ? firsts.get(keyOf(pair)) : undefined
      const isLater = first !== undefined && first < row.line
      return { class: ours.as, line: row.line, ...(isLater && { first }), row, ours }
    }),
  ].sort((a, b) => (a.line ?? 0) - (b.line ?? 0))
  const missing = found.missing.map((movement): ComparedRow => ({ class: 'here_only', movement }))
  const rows = ofFile.concat(missing)
  const counts = Object.fromEntries(CLASSES.map((name) => [name, 0])) as Record<Class, number>
  for (const each of rows) counts[each.class] += 1
  return {
    rows,
    counts,
    ...(days && { days }),
    words: wordsOf(settlement),
    skipped,
    unpaid,
    chargebacks: chargebacks.length,
    sums: sumsOf(settled, settlement, found.here),
    payouts: settlement.kept.payouts,
  }
}

export const isDifference = (each: { class: Class }): boolean => each.class !== 'same'

/** What it adds to the gateway's side less ours, minor units: all of them are the difference. */
export function weightOf({ row, ours, movement }: ComparedRow): number {
  if (movement) return -movement.amountMinor
  if (!row) return 0
  const sign = row.type === 'refund' ? -1 : 1
  return sign * (row.amount - (ours?.movementId === undefined ? 0 : (ours.amount ?? 0)))
}

/** Whether any row was compared, or only left out. Without, the file was read in a wrong way. */
export const hasMoney = ({ rows, chargebacks }: Comparison): boolean =>
  chargebacks > 0 || rows.some(({ ours }) => ours !== undefined)

const keyOf = ({ row, ours }: Pair): string => `${ours.transactionId} ${row.type}`

/** Of each payment, and of its refunds. */
function firstLines(settled: readonly Pair[]): Map<string, number> {
  const lines = new Map<string, number>()
  for (const pair of settled) {
    const key = keyOf(pair)
    lines.set(key, Math.min(pair.row.line, lines.get(key) ?? pair.row.line))
  }
  return lines
}

function wordsOf({ unknown }: Settlement): Comparison['words'] {
  const byWord = Map.groupBy(unknown, ({ word, column }) => `${column} ${word}`)
  return [...byWord.values()].flatMap(([first, ...others]) =>
    first ? [{ word: brief(first.word), column: first.column, rows: 1 + others.length }] : [],
  )
}
