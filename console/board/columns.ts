// Which columns the board has, which cards are in each, and in which order. Pure.

import type { BoardConfig } from '../../worker/board/wire.ts'
import { words } from '../words.ts'
import type { CardData } from './cards.ts'

export interface Column {
  status: string
  /** Its tasks are done with: shown quietly. */
  isClosed: boolean
  /** Those that pass the filters, by rank. */
  cards: readonly CardData[]
  /** With those that do not pass. */
  total: number
}

/**
 * The configuration's states in their order, empty ones too; behind them whatever else tasks stand
 * in, in the order of appearance.
 */
export function columnsOf(
  cards: Iterable<CardData>,
  config: Pick<BoardConfig, 'states' | 'closed'> | undefined,
  isShown: (card: CardData) => boolean,
): readonly Column[] {
  const closed = new Set(config?.closed)
  const empty = (status: string) => ({
    status,
    isClosed: closed.has(status),
    cards: [] as CardData[],
    total: 0,
  })
  const columns = new Map((config?.states ?? []).map((status) => [status, empty(status)]))
  for (const card of cards) {
    const { status } = card.task
    const column = columns.get(status) ?? empty(status)
    columns.set(status, column)
    column.total++
    if (isShown(card)) column.cards.push(card)
  }
  for (const { cards: shown } of columns.values()) shown.sort(compareCards)
  return [...columns.values()]
}

/** `in_progress` reads as `In progress`; a board that writes its states well keeps them. */
export function statusName(status: string): string {
  const spaced = status.replaceAll(/[_-]+/g, ' ').trim()
  // A file that cannot be read whole may have none.
  if (spaced === '') return words.board.column.noStatus
  return spaced.charAt(0).toLocaleUpperCase() + spaced.slice(1)
}

/**
 * By rank, what has none behind; among equals by id as people count: LAMP-2 stands before LAMP-10.
 * For 20,000 cards with every change, so nothing here asks for the reader's alphabet.
 */
export function compareCards(one: CardData, other: CardData): number {
  const byRank = rankOf(one) - rankOf(other)
  return Number.isNaN(byRank) || byRank === 0 ? compareIds(one.task.id, other.task.id) : byRank
}

/** Two without a rank differ by NaN, which is no difference. */
const rankOf = ({ task }: CardData): number => task.rank ?? Infinity

function compareIds(one: string, other: string): number {
  const [a, b] = [split(one), split(other)]
  if (a.text !== b.text) return a.text < b.text ? -1 : 1
  return a.number - b.number || (one < other ? -1 : Number(one > other))
}

/** `LAMP-10` is LAMP- and 10; `3.2` is `3.` and 2, so that a subtask stands among its like. */
function split(id: string): { text: string; number: number } {
  let start = id.length
  while (start > 0 && isDigit(id.charCodeAt(start - 1))) start--
  const number = start === id.length ? -1 : Number(id.slice(start))
  return { text: id.slice(0, start), number }
}

const isDigit = (code: number) => code >= 48 && code <= 57
