// Which columns the board has, which cards are in each, and in which order. Pure.

import type { BoardConfig } from '../../libraries/api/types.ts'
import { compareIds } from '../../worker/board/tasks/next-task.ts'
import { TASK_STATES } from '../../worker/board/tasks/task-state.ts'
import { statusesOf } from '../../worker/board/tasks/to-do.ts'
import { type CardData, compareTasks } from './cards.ts'

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
  const statuses = statusesOf(config)
  const empty = (status: string) => {
    const isClosed = statuses.isClosed(status)
    // Nobody looks for what was done first.
    const isByChange = isClosed !== turned.has(status)
    return { status, isClosed, isByChange, canSort: false, cards: [] as CardData[], total: 0 }
  }
  const dated = new Set<string>()
  const columns = new Map((config?.states ?? []).map((status) => [status, empty(status)]))
  for (const card of cards) {
    const status = card.column ?? card.task.status
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

/** Who is stuck, and who works, first: below 50 others nobody would see them. */
const compareCards = (one: CardData, other: CardData) =>
  urgencyOf(one) - urgencyOf(other) || compareTasks(one.task, other.task)

/** What is ready stands among the others. */
const urgencyOf = ({ state = 'ready' }: CardData): number => TASK_STATES.indexOf(state)

/** The last changed first. Of the same time, or without one, the newer id first. */
function compareChanges(one: CardData, other: CardData): number {
  const { updatedAt: a = '' } = one.task
  const { updatedAt: b = '' } = other.task
  return a === b ? compareIds(other.task.id, one.task.id) : a < b ? 1 : -1
}
