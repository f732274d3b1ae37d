// Which columns there are, and which cards stand in each. Pure.

import type { BoardConfig } from '../../worker/board/wire.ts'
import { words } from '../words.ts'
import type { CardData } from './cards.ts'
import { compareCards } from './order.ts'

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
