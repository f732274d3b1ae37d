// Which columns the board has, which cards are in each, and in which order. Pure.

import type { BoardConfig, Task } from '../../libraries/api/types.ts'
import type { CardData } from './cards.ts'

export interface Column {
  status: string
  /** Its tasks are done, so it is shown less prominently. */
  isClosed: boolean
  /** The last changed card first, instead of the tool's own order. */
  isByChange: boolean
  /** There are several cards, and some of them say when they changed. */
  canSort: boolean
  /** The cards that pass the filters, in order. */
  cards: readonly CardData[]
  /** All cards, including filtered ones. */
  total: number
}

/**
 * The states of the configuration in their order, including empty ones; then any other status of a
 * task, in the order of appearance. `turned`: the columns in the other order than by default.
 */
export function columnsOf(
  cards: Iterable<CardData>,
  config: Pick<BoardConfig, 'states' | 'closed'> | undefined,
  isShown: (card: CardData) => boolean,
  turned: ReadonlySet<string> = new Set(),
): readonly Column[] {
  const closed = new Set(config?.closed)
  const empty = (status: string) => {
    const isClosed = closed.has(status)
    // Nobody looks for what was done first.
    const isByChange = isClosed !== turned.has(status)
    return { status, isClosed, isByChange, canSort: false, cards: [] as CardData[], total: 0 }
  }
  const dated = new Set<string>()
  const columns = new Map((config?.states ?? []).map((status) => [status, empty(status)]))
  for (const card of cards) {
    const { status } = card.task
    const column = columns.get(status) ?? empty(status)
    columns.set(status, column)
    column.total++
    if (card.task.updatedAt !== undefined) dated.add(status)
    if (isShown(card)) column.cards.push(card)
  }
  for (const column of columns.values()) {
    column.canSort = column.total > 1 && dated.has(column.status)
    column.cards.sort(column.isByChange ? compareChanges : compareCards)
  }
  return [...columns.values()]
}

/**
 * By rank, with unranked tasks last; then by id, with numbers in numeric order: LAMP-2 before
 * LAMP-10. Runs for 20,000 cards at every change, so it avoids `Intl.Collator`, which is slow.
 */
export function compareTasks(one: Ranked, other: Ranked): number {
  const byRank = rankOf(one) - rankOf(other)
  return Number.isNaN(byRank) || byRank === 0 ? compareIds(one.id, other.id) : byRank
}

type Ranked = Pick<Task, 'id' | 'rank'>

const compareCards = (one: CardData, other: CardData) => compareTasks(one.task, other.task)

/** The last changed first. Of the same time, or without one, the newer id first. */
function compareChanges(one: CardData, other: CardData): number {
  const { updatedAt: a = '' } = one.task
  const { updatedAt: b = '' } = other.task
  return a === b ? compareIds(other.task.id, one.task.id) : a < b ? 1 : -1
}

/** For two tasks without a rank, the difference is NaN: they are equal. */
const rankOf = ({ rank = Infinity }: Ranked): number => rank

/** With each number in numeric order, so `tea/2.10` is between `tea/2.9` and `tea/10.1`. */
function compareIds(one: string, other: string): number {
  let at = 0
  while (at < one.length && one.charCodeAt(at) === other.charCodeAt(at)) at++
  // Back to where the number begins within which they differ.
  while (at > 0 && isDigit(one.charCodeAt(at - 1))) at--
  const a = numberEnd(one, at)
  const b = numberEnd(other, at)
  const areNumbers = a > at && b > at
  const difference = areNumbers ? Number(one.slice(at, a)) - Number(other.slice(at, b)) : 0
  return difference || (one < other ? -1 : Number(one > other))
}

/** Where the number that begins at `at` ends; `at` if none does. */
function numberEnd(text: string, at: number): number {
  let end = at
  while (isDigit(text.charCodeAt(end))) end++
  return end
}

const isDigit = (code: number) => code >= 48 && code <= 57
