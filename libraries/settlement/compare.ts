// Compares a settlement with our payments: each row in one class, and what is here and not there.
// The edge answers what it has; this puts the questions, and changes nothing.

import { dayOf } from '../../worker/payments/domain/day.ts'
import type { Settlement as Asked, Movement, Settled } from '../api/types.ts'
import type { SettledRow, Settlement } from './read-settlement.ts'

/** In their order: the first that is so counts. */
export const CLASSES = [
  'unreadable',
  'twice',
  'not_ours',
  'other_currency',
  'other_amount',
  'paid_there',
  'refunded_there',
  'late',
  'same',
  'here_only',
] as const
export type Class = (typeof CLASSES)[number]

type SettledAnswer = Settled['rows'][number]

export interface Compared {
  class: Class
  /** The file's; missing for what is here only. */
  line?: number
  /** The line of the row that it repeats. */
  first?: number
  why?: string
  row?: SettledRow
  /** What we have. */
  ours?: SettledAnswer
  /** What is here only. */
  movement?: Movement
}

/** How we are asked. */
export interface Books {
  settle(rows: Asked['rows']): Promise<readonly SettledAnswer[]>
  /** This gateway's, booked in these days; the second is not part of them. */
  movements(after: string, before: string): AsyncIterable<Movement>
  /** Has the gateway asked about a payment. */
  check?(transactionId: string): Promise<void>
}

export interface Comparison {
  rows: Compared[]
  counts: Readonly<Record<Class, number>>
  /** The file's first and last day. Missing: it has none, so nothing is said of what it lacks. */
  days?: { first: string; last: string }
  skipped: number
}

const ROWS_AT_ONCE = 5_000

/** `zone`: that of the file's days, an IANA name. */
export async function compare(
  settlement: Settlement,
  books: Books,
  zone = 'UTC',
): Promise<Comparison> {
  const { unreadable, twice, skipped } = settlement
  // Those of one payment together, so that each of its refunds agrees with one row.
  const rows = settlement.rows.toSorted((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1))
  let settled = await settleAll(rows, books)
  const different = settled.filter(({ ours }) => ours.as !== 'same' && ours.transactionId)
  if (books.check && different.length > 0) {
    const ids = new Set(different.flatMap(({ ours }) => ours.transactionId ?? []))
    for (const id of ids) await books.check(id)
    settled = await settleAll(rows, books)
  }
  const days = daysOf(rows)
  const compared: Compared[] = [
    ...unreadable.map(({ line, why }): Compared => ({ class: 'unreadable', line, why })),
    ...twice.map(({ row, first }): Compared => ({ class: 'twice', line: row.line, row, first })),
    ...settled.map(({ row, ours }): Compared => ({ class: ours.as, line: row.line, row, ours })),
  ].sort((a, b) => (a.line ?? 0) - (b.line ?? 0))
  if (days) compared.push(...(await hereOnly({ ...days, zone }, settled, books)))
  const counts = Object.fromEntries(CLASSES.map((name) => [name, 0])) as Record<Class, number>
  for (const each of compared) counts[each.class] += 1
  return { rows: compared, counts, ...(days && { days }), skipped }
}

export const isDifference = (each: { class: Class }): boolean => each.class !== 'same'

interface Pair {
  row: SettledRow
  ours: SettledAnswer
}

const nameOf = ({ ours, id, reference }: SettledRow): string => ours ?? id ?? reference ?? ''

async function settleAll(rows: readonly SettledRow[], books: Books): Promise<Pair[]> {
  const pairs: Pair[] = []
  for (let at = 0; at < rows.length; ) {
    const part = rows.slice(at, at + partSize(rows, at))
    const asked = part.map(({ line: _, day: _day, ...row }) => row)
    const answers = await books.settle(asked)
    for (const [n, row] of part.entries())
      pairs.push({ row, ours: answers[n] ?? { as: 'not_ours' } })
    at += part.length
  }
  return pairs
}

/** Ends between two payments, where one has not more rows than are asked at once. */
function partSize(rows: readonly SettledRow[], from: number): number {
  let to = from + ROWS_AT_ONCE
  if (to >= rows.length) return rows.length - from
  const isCut = () => nameOf(rows[to] as SettledRow) === nameOf(rows[to - 1] as SettledRow)
  while (to > from + 1 && isCut()) to -= 1
  return to > from + 1 ? to - from : ROWS_AT_ONCE
}

function daysOf(rows: readonly SettledRow[]): { first: string; last: string } | undefined {
  const days = rows.flatMap(({ day }) => day ?? []).sort()
  const [first, last] = [days[0], days.at(-1)]
  return first === undefined || last === undefined ? undefined : { first, last }
}

const DAY_MS = 86_400_000

const dayAfter = (day: string, days: number): string =>
  new Date(Date.parse(day) + days * DAY_MS).toISOString().slice(0, 10)

/**
 * What happened on the file's days and has no row there. A webhook that came a day late is booked a
 * day late, so the books are read further.
 */
async function hereOnly(
  { first, last, zone }: { first: string; last: string; zone: string },
  settled: readonly Pair[],
  books: Books,
): Promise<Compared[]> {
  const open = new Map<string, number>()
  const keyOf = (id: string | undefined, isBack: boolean) => `${id} ${isBack}`
  for (const { row, ours } of settled) {
    const key = keyOf(ours.transactionId, row.type === 'refund')
    open.set(key, (open.get(key) ?? 0) + 1)
  }
  const missing: Compared[] = []
  for await (const movement of books.movements(dayAfter(first, -1), dayAfter(last, 3))) {
    const { kind, transactionId, occurredAt } = movement
    const isBack = kind === 'refunded'
    if (!isBack && kind !== 'paid' && kind !== 'late_paid') continue
    const key = keyOf(transactionId, isBack)
    const left = open.get(key) ?? 0
    if (left > 0) open.set(key, left - 1)
    const day = dayOf(Date.parse(occurredAt), zone)
    if (left === 0 && day >= first && day <= last) missing.push({ class: 'here_only', movement })
  }
  return missing
}
