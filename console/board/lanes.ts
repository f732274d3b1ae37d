// The groups of the board: a task, and below it, in columns, all that is part of it. Pure.

import type { BoardConfig, BoardStatus } from '../../libraries/api/types.ts'
import { traitsOf } from '../../worker/shared/layouts.ts'
import { type CardData, type Cards, compareTasks } from './cards.ts'
import { type Column, columnsOf } from './columns.ts'

export interface Lane {
  /** The id of the task that the others are part of. Empty: these are part of nothing. */
  id: string
  /** Undefined: the board does not have that task. */
  head: CardData | undefined
  /** The same ones in each lane. */
  columns: readonly Column[]
  /** How many of its tasks are closed, filtered or not. */
  closed: number
  total: number
  isFinished: boolean
  /** Something in it, or its own task, passes the filters. */
  isShown: boolean
}

export interface Lanes {
  lanes: readonly Lane[]
  /** Those of the list: the heads of the lanes are counted, too. */
  columns: readonly Column[]
}

interface LanesPlan {
  /** All cards, and those of the chosen folder and tag. */
  cards: Cards
  onBoard: readonly CardData[]
  config: Pick<BoardConfig, 'states' | 'closed'> | undefined
  isShown(card: CardData): boolean
  turned: ReadonlySet<string>
}

const hasLists = (layout: BoardStatus['layout']): boolean => traitsOf(layout).hasLists === true

/** Whether the address asks for groups, or the board is shown so by default. */
export function isGrouped(
  { groups }: Readonly<Record<string, string>>,
  layout: BoardStatus['layout'],
): boolean {
  return groups === undefined ? hasLists(layout) : groups === 'on'
}

/** The address of the other way to show it. By default, the address has nothing. */
export const turnedGroups = (isNow: boolean, layout: BoardStatus['layout']): string =>
  isNow === hasLists(layout) ? (isNow ? 'off' : 'on') : ''

/** In the order of their own tasks, with that of the tasks that are part of nothing last. */
export function lanesOf({ cards, onBoard, config, isShown, turned }: LanesPlan): Lanes {
  const members = new Map<string, CardData[]>()
  const laneOf = laneFinder(cards)
  for (const card of onBoard) {
    const id = laneOf(card)
    const lane = members.get(id)
    if (lane) lane.push(card)
    else members.set(id, [card])
  }
  // The task of a lane is its head, and no card in the lane of the others.
  const others = members.get('')?.filter(({ task }) => !members.has(task.id)) ?? []
  members.delete('')
  if (others.length > 0) members.set('', others)
  const columns = columnsOf(onBoard, config, isShown, turned)
  const same = { states: columns.map(({ status }) => status), closed: config?.closed ?? [] }
  const moved = closedElsewhere(cards, onBoard, laneOf)
  const lanes = [...members].map(([id, own]): Lane => {
    const head = cards.get(id)
    const closed = own.filter(({ isClosed }) => isClosed).length + (moved.get(id) ?? 0)
    const total = own.length + (moved.get(id) ?? 0)
    const columns = columnsOf(own, same, isShown, turned)
    const isMatched = columns.some((column) => column.cards.length > 0)
    return {
      id,
      head,
      closed,
      total,
      columns,
      isFinished: closed === total && head?.isClosed !== false,
      isShown: isMatched || (head !== undefined && isShown(head)),
    }
  })
  return { lanes: lanes.sort(compareLanes), columns }
}

/**
 * The outermost task that a card is part of; empty if it is part of nothing. A circle is cut
 * where it closes. Each task is looked at once: a row of 10,000 parents would take ten seconds.
 */
function laneFinder(cards: Cards): (card: CardData) => string {
  const known = new Map<string, string>()
  return ({ task: { id } }) => {
    const way = new Set<string>()
    let outermost = id
    let next: string | undefined = id
    for (; next !== undefined && !way.has(next) && !known.has(next); next = parentOf(next, cards)) {
      way.add(next)
      outermost = next
    }
    // Another card came by here.
    if (next !== undefined && !way.has(next)) outermost = known.get(next) || next
    for (const at of way) known.set(at, at === outermost ? '' : outermost)
    return known.get(id) ?? ''
  }
}

const parentOf = (id: string, cards: Cards): string | undefined => cards.get(id)?.task.parent

/** By lane. Tools move what is done to another folder, and the progress must not fall by that. */
function closedElsewhere(
  cards: Cards,
  onBoard: readonly CardData[],
  laneOf: (card: CardData) => string,
): Map<string, number> {
  const here = new Set(onBoard)
  const counts = new Map<string, number>()
  for (const card of cards.values()) {
    if (!card.isClosed || here.has(card)) continue
    const id = laneOf(card)
    if (id !== '') counts.set(id, (counts.get(id) ?? 0) + 1)
  }
  return counts
}

function compareLanes(one: Lane, other: Lane): number {
  if (one.id === '' || other.id === '') return Number(one.id === '') - Number(other.id === '')
  return compareTasks(one.head?.task ?? one, other.head?.task ?? other)
}
