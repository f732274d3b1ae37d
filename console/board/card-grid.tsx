// What the board's columns and groups have in common: lists of cards that show the first ones only,
// and keyboard navigation. One card is in the tab order, the arrow keys move from there, and the
// focus is kept while the board changes.

import type { RefObject } from 'preact'
import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import { number } from '../ui/format.ts'
import { Card } from './card.tsx'
import type { CardData } from './cards.ts'
import { type Grid, lastList, moveFrom, nearest, nextFocus } from './keyboard.ts'

/** A list of cards. Those with the same status are one column for the keyboard. */
export interface Cell {
  key: string
  status: string
  cards: readonly CardData[]
}

export type CardGrid = ReturnType<typeof useCardGrid>

/** For a view that does not render all its lists at first. */
interface Whole {
  /** In the order of the view. */
  all(): readonly Cell[]
  show(): void
}

/** `page`: how many cards a list shows at first. `opened`: the task that is open in front of it. */
export function useCardGrid(
  cells: readonly Cell[],
  page: number,
  opened: string | undefined,
  whole?: Whole,
) {
  const board = useRef<HTMLDivElement>(null)
  const [limits, setLimits] = useState<ReadonlyMap<string, number>>(new Map())
  const [active, setActive] = useState<string>()
  const focusNext = useRef<string>()
  const limitOf = ({ key }: Cell) => limits.get(key) ?? page
  const grid = useMemo(() => {
    const columns = new Map(cells.map(({ status }) => [status, [] as string[]]))
    for (const cell of cells) {
      const shown = cell.cards.slice(0, limitOf(cell))
      columns.get(cell.status)?.push(...shown.map(({ task }) => task.id))
    }
    return [...columns.values()]
  }, [cells, limits])
  useCardFocus(board, grid)
  useLayoutEffect(() => {
    if (focusNext.current !== undefined) focusCard(board.current, focusNext.current)
    focusNext.current = undefined
  }, [limits])

  const showUpTo = ({ key }: Cell, at: number) =>
    setLimits(new Map(limits).set(key, Math.ceil((at + 1) / page) * page))

  const found =
    opened !== undefined && cells.find(({ cards }) => cards.some(({ task }) => task.id === opened))
  useLayoutEffect(() => {
    if (!found) return
    const at = found.cards.findIndex(({ task }) => task.id === opened)
    // Its card may be far down, and gets the focus when the task is closed.
    if (at >= limitOf(found)) showUpTo(found, at)
    else show(linkOf(board.current, opened))
  }, [opened, Boolean(found), limits])

  const showMore = (cell: Cell) => {
    const limit = limitOf(cell)
    // The button may disappear. The first new card gets the focus.
    focusNext.current = cell.cards[limit]?.task.id
    setLimits(new Map(limits).set(cell.key, limit * 2))
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const id = cardIdOf(event.target)
    if (id === undefined || event.altKey || event.ctrlKey || event.metaKey) return
    const end = event.key === 'End' && lastList(whole?.all() ?? cells, id)
    const isShown = end && cells.some(({ key }) => key === end.key)
    if (end && (!isShown || end.cards.length > limitOf(end))) {
      event.preventDefault()
      if (!isShown) whole?.show()
      focusNext.current = end.cards.at(-1)?.task.id
      showUpTo(end, end.cards.length - 1)
      return
    }
    const isLast = (cell: Cell) => cell.cards[limitOf(cell) - 1]?.task.id === id
    const last = event.key === 'ArrowDown' && cells.find(isLast)
    if (!last || last.cards.length <= limitOf(last)) {
      if (board.current) moveByKey(board.current, grid, id, event)
      return
    }
    event.preventDefault()
    showMore(last)
  }
  const isActiveShown = active !== undefined && grid.some((ids) => ids.includes(active))
  return {
    limitOf,
    showMore,
    /** The card in the tab order. */
    active: isActiveShown ? active : grid.flat()[0],
    /** For the element that has all the cards. */
    props: {
      ref: board,
      onKeyDown,
      onFocusIn: ({ target }: FocusEvent) => setActive((id) => cardIdOf(target) ?? id),
    },
  }
}

interface CardListProps {
  cell: Cell
  grid: CardGrid
  changedAt: ReadonlyMap<string, number>
  /** The id of the task whose group this is. */
  lane?: string
  /** The id of what names the list. */
  labelledBy?: string
}

export function CardList({ cell, grid, changedAt, lane, labelledBy }: CardListProps) {
  const limit = grid.limitOf(cell)
  const left = cell.cards.length - limit
  return (
    <>
      <ul aria-labelledby={labelledBy}>
        {cell.cards.slice(0, limit).map((card) => (
          <Card
            key={card.task.id}
            card={card}
            lane={lane}
            changedAt={changedAt.get(card.task.id)}
            isActive={card.task.id === grid.active}
          />
        ))}
      </ul>
      {left > 0 && (
        <button type="button" class="quiet more" onClick={() => grid.showMore(cell)}>
          Show {number(Math.min(left, limit))} more{' '}
          <span class="hint">{number(left)} not shown</span>
        </button>
      )}
    </>
  )
}

/** The card that contains the target of an event, or the focus. */
function cardIdOf(target: EventTarget | null): string | undefined {
  if (!(target instanceof Element)) return undefined
  return target.closest<HTMLElement>('[data-card]')?.dataset.card
}

/** The link of a card, or of the head of a group. */
function linkOf(board: Element | null, id: string): HTMLElement | null {
  const name = `"${CSS.escape(id)}"`
  const both = `:is([data-card=${name}], [data-lane=${name}])`
  return board?.querySelector<HTMLElement>(`${both} a`) ?? null
}

export function focusCard(board: Element | null, id: string): void {
  const link = linkOf(board, id) ?? board?.querySelector<HTMLElement>('[data-card] a[tabindex="0"]')
  // `focus` alone would scroll the card to the middle.
  link?.focus({ preventScroll: true })
  show(link)
}

/** Scrolls as little as possible. */
function show(link: HTMLElement | null | undefined): void {
  link?.scrollIntoView({ block: 'nearest', inline: 'nearest' })
}

/**
 * A moved card keeps the focus. If it disappears, its neighbour gets the focus; if the head of a
 * group does, the card in the tab order. No scrolling.
 */
function useCardFocus(board: RefObject<HTMLElement>, grid: Grid): void {
  const before = useRef(grid)
  // Read before the render changes the document.
  const { activeElement } = document
  const focused = board.current?.contains(activeElement) ? (activeElement as HTMLElement) : null
  const id = cardIdOf(focused)
  useLayoutEffect(() => {
    const old = before.current
    before.current = grid
    if (!focused || document.activeElement === focused) return
    if (id === undefined) {
      if (focused.isConnected) focused.focus({ preventScroll: true })
      else focusCard(board.current, '')
      return
    }
    if (cardIdOf(document.activeElement) === id) return
    const next = nextFocus(old, grid, id)
    if (next !== undefined) linkOf(board.current, next)?.focus({ preventScroll: true })
  })
}

function moveByKey(board: Element, grid: Grid, id: string, event: KeyboardEvent): void {
  const direction = getComputedStyle(board).direction === 'rtl' ? 'rtl' : 'ltr'
  const move = moveFrom(grid, id, event.key, direction)
  if (!move) return
  event.preventDefault()
  focusCard(board, move.to === 'card' ? move.id : nearestOf(board, move.ids, id))
}

function nearestOf(board: Element, ids: readonly string[], id: string): string {
  const topOf = (card: string) => linkOf(board, card)?.getBoundingClientRect().top ?? Infinity
  return ids[nearest(ids.map(topOf), topOf(id))] ?? id
}
