// The port to our books, and how an edge is asked to compare the rows of a settlement: in parts. A
// payment agrees with as many rows as it has movements, so its rows are asked about together,
// though they may have different names of it.

import type { Settlement as Asked, Movement, Settled } from '../api/types.ts'
import type { FileRow } from './read-settlement.ts'

export type SettledAnswer = Settled['rows'][number]

export interface Books {
  /** 5,000 rows at most, and as many answers, in their order. */
  settle(rows: Asked['rows']): Promise<readonly SettledAnswer[]>
  /** This gateway's, booked in these days; the second is not part of them. */
  movements(after: string, before: string): AsyncIterable<Movement>
  /** Has the gateway asked about a payment. */
  check?(transactionId: string): Promise<void>
}

export const ROWS_AT_ONCE = 5_000

export interface Pair {
  row: FileRow
  ours: SettledAnswer
}

export async function askEdge(
  rows: readonly FileRow[],
  books: Pick<Books, 'settle'>,
): Promise<Pair[]> {
  const sorted = rows.toSorted((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1))
  const parts: Pair[][] = []
  for (let at = 0; at < sorted.length; ) {
    const part = sorted.slice(at, at + partSize(sorted, at))
    parts.push(await asked(part, books))
    at += part.length
  }
  const again = groupsToAskAgain(parts)
  const settled = [parts.flat().filter(({ ours }) => !again.has(ours.transactionId ?? ''))]
  for (const together of batchesOf([...again.values()])) settled.push(await asked(together, books))
  return countedOnce(settled.flat())
}

const nameOf = ({ ours, id, reference, refund }: FileRow): string =>
  ours ?? id ?? reference ?? refund ?? ''

async function asked(rows: readonly FileRow[], books: Pick<Books, 'settle'>): Promise<Pair[]> {
  const answers = await books.settle(
    rows.map(({ line: _, day: _day, refunded: _refunded, payout: _payout, ...row }) => row),
  )
  return rows.map((row, n) => ({ row, ours: answers[n] ?? { as: 'not_ours' } }))
}

/** Ends between two payments, where one has not more rows than are asked at once. */
function partSize(rows: readonly FileRow[], from: number): number {
  let to = from + ROWS_AT_ONCE
  if (to >= rows.length) return rows.length - from
  const isCut = () => nameOf(rows[to] as FileRow) === nameOf(rows[to - 1] as FileRow)
  while (to > from + 1 && isCut()) to -= 1
  return to > from + 1 ? to - from : ROWS_AT_ONCE
}

/** All rows of payments that were named in two parts, or whose rows have what was given back. */
function groupsToAskAgain(parts: readonly Pair[][]): Map<string, FileRow[]> {
  const partOf = new Map<string, number>()
  const again = new Set<string>()
  for (const [at, { row, ours }] of parts.flatMap((part, n) =>
    part.map((it) => [n, it] as const),
  )) {
    const id = ours.transactionId
    if (id === undefined) continue
    if ((partOf.get(id) ?? at) !== at || row.refunded !== undefined) again.add(id)
    partOf.set(id, at)
  }
  if (again.size === 0) return new Map()
  const pairs = parts.flat().filter(({ ours }) => again.has(ours.transactionId ?? ''))
  const groups = Map.groupBy(pairs, ({ ours }) => ours.transactionId ?? '')
  return new Map([...groups].map(([id, group]) => [id, withRefunded(group)]))
}

/**
 * And a refund of what was given back. A report that has its refunds in rows, too, repeats them
 * there: only what is more is a refund of its own.
 */
function withRefunded(group: readonly Pair[]): FileRow[] {
  const rows = group.map(({ row }) => row).sort((a, b) => a.line - b.line)
  let inRows = rows.reduce((sum, { type, amount }) => (type === 'refund' ? sum + amount : sum), 0)
  const more = group.flatMap(({ row, ours }): FileRow[] => {
    const { refunded = 0, refund: _, ...rest } = row
    if (ours.as === 'twice') return []
    const amount = refunded - Math.min(inRows, refunded)
    inRows -= refunded - amount
    return amount > 0 ? [{ ...rest, type: 'refund', amount }] : []
  })
  return [...rows, ...more]
}

/** Whole groups, as many as are asked at once; one that is larger is cut. */
function batchesOf(groups: readonly FileRow[][]): FileRow[][] {
  const batches: FileRow[][] = []
  for (const group of groups) {
    const last = batches.at(-1)
    if (last && last.length + group.length <= ROWS_AT_ONCE) {
      for (const row of group) last.push(row)
    } else {
      for (let at = 0; at < group.length; at += ROWS_AT_ONCE) {
        batches.push(group.slice(at, at + ROWS_AT_ONCE))
      }
    }
  }
  return batches
}

/** Of a payment with more rows than are asked at once. */
function countedOnce(settled: readonly Pair[]): Pair[] {
  const taken = new Set<string>()
  return settled.map((pair) => {
    const ids = movementsOf(pair)
    const isTaken = ids.some((id) => taken.has(id))
    for (const id of ids) taken.add(id)
    return isTaken ? { ...pair, ours: { ...pair.ours, as: 'twice' } } : pair
  })
}

export const movementsOf = ({ ours }: Pair): string[] =>
  ours.movementId === undefined ? [] : [ours.movementId, ...(ours.moreMovementIds ?? [])]
