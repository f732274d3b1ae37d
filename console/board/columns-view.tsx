// The columns side by side, and keyboard navigation: one card is in the tab order, the arrow keys
// move from there, and the focus is kept while the board changes.

import type { RefObject } from 'preact'
import { useId, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import { route } from '../router.ts'
import { filterBy } from '../ui/filter-bar.tsx'
import { count, number } from '../ui/format.ts'
import { Card } from './card.tsx'
import { statusName } from './cards.ts'
import type { Column } from './columns.ts'
import { turnedOf } from './filters.ts'
import { type Grid, moveFrom, nearest, nextFocus } from './keyboard.ts'

interface ColumnsProps {
  columns: readonly Column[]
  changedAt: ReadonlyMap<string, number>
  /** The id of the task that is open in front of the columns. */
  opened: string | undefined
  isFiltered: boolean
}

/** Several screens full, but few enough that 20,000 tasks open as quickly as 200. */
const PAGE = 50

export function ColumnsView({ columns, changedAt, opened, isFiltered }: ColumnsProps) {
  const board = useRef<HTMLDivElement>(null)
  const [limits, setLimits] = useState<ReadonlyMap<string, number>>(new Map())
  const [active, setActive] = useState<string>()
  const focusNext = useRef<string>()
  const limitOf = (status: string) => limits.get(status) ?? PAGE
  const grid = useMemo(
    () =>
      columns.map(({ status, cards }) =>
        cards.slice(0, limits.get(status) ?? PAGE).map(({ task }) => task.id),
      ),
    [columns, limits],
  )
  useCardFocus(board, grid)
  useLayoutEffect(() => {
    if (focusNext.current !== undefined) focusCard(board.current, focusNext.current)
    focusNext.current = undefined
  }, [limits])

  const place =
    opened !== undefined &&
    columns.find(({ cards }) => cards.some(({ task }) => task.id === opened))
  useLayoutEffect(() => {
    if (!place) return
    const at = place.cards.findIndex(({ task }) => task.id === opened)
    const needed = Math.ceil((at + 1) / PAGE) * PAGE
    // Its card may be far down, and gets the focus when the task is closed.
    if (needed > limitOf(place.status)) setLimits(new Map(limits).set(place.status, needed))
    else show(linkOf(board.current, opened))
  }, [opened, Boolean(place), limits])

  const showMore = ({ status, cards }: Column) => {
    const limit = limitOf(status)
    // The button may disappear. The first new card gets the focus.
    focusNext.current = cards[limit]?.task.id
    setLimits(new Map(limits).set(status, limit * 2))
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (!board.current || moveByKey(board.current, grid, event)) return
    const last = columns.find((_, at) => grid[at]?.at(-1) === cardIdOf(event.target))
    if (event.key !== 'ArrowDown' || !last || last.cards.length <= limitOf(last.status)) return
    event.preventDefault()
    showMore(last)
  }

  const isActiveShown = active !== undefined && grid.some((ids) => ids.includes(active))
  const inTabOrder = isActiveShown ? active : grid.flat()[0]
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: it listens for the cards within it.
    <div
      class="columns"
      ref={board}
      onKeyDown={onKeyDown}
      onFocusIn={({ target }) => setActive((id) => cardIdOf(target) ?? id)}
    >
      {columns.map((column) => (
        <ColumnView
          key={column.status}
          column={column}
          limit={limitOf(column.status)}
          changedAt={changedAt}
          active={inTabOrder}
          isFiltered={isFiltered}
          onMore={showMore}
        />
      ))}
    </div>
  )
}

interface ColumnProps extends Omit<ColumnsProps, 'columns' | 'opened'> {
  column: Column
  /** The maximum number of rendered cards. */
  limit: number
  /** The card in the tab order. */
  active: string | undefined
  onMore(column: Column): void
}

function ColumnView({ column, limit, changedAt, active, isFiltered, onMore }: ColumnProps) {
  const { status, isClosed, isByChange, canSort, cards, total } = column
  const heading = useId()
  const left = cards.length - limit
  return (
    <section class={isClosed ? 'column closed' : 'column'} aria-labelledby={heading}>
      <header>
        <h2 id={heading}>{statusName(status)}</h2>
        <span class="count">
          {isFiltered ? `${number(cards.length)} of ${number(total)}` : number(total)}
          <span class="visually-hidden"> {isFiltered ? '' : count(total, 'task')}</span>
        </span>
        {canSort && (
          <button
            type="button"
            class="quiet small"
            aria-pressed={isByChange}
            onClick={() => turn(status)}
          >
            Last changed<span class="visually-hidden"> first: {statusName(status)}</span>
          </button>
        )}
      </header>
      <div class="scroller">
        {cards.length === 0 && <p class="hint">{total === 0 ? 'No tasks.' : 'No matches.'}</p>}
        <ul>
          {cards.slice(0, limit).map((card) => (
            <Card
              key={card.task.id}
              card={card}
              changedAt={changedAt.get(card.task.id)}
              isActive={card.task.id === active}
            />
          ))}
        </ul>
        {left > 0 && (
          <button type="button" class="quiet more" onClick={() => onMore(column)}>
            Show {number(Math.min(left, limit))} more{' '}
            <span class="hint">{number(left)} not shown</span>
          </button>
        )}
      </div>
    </section>
  )
}

/** Sorts a column the other way. It is in the URL, as the filters are. */
function turn(status: string): void {
  const turned = new Set(turnedOf(route.peek().query))
  if (!turned.delete(status)) turned.add(status)
  filterBy({ sort: [...turned].join('\n') })
}

/** The card that contains the target of an event, or the focus. */
function cardIdOf(target: EventTarget | null): string | undefined {
  if (!(target instanceof Element)) return undefined
  return target.closest<HTMLElement>('[data-card]')?.dataset.card
}

function linkOf(board: Element | null, id: string): HTMLElement | null {
  return board?.querySelector<HTMLElement>(`[data-card="${CSS.escape(id)}"] a`) ?? null
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

/** A moved card keeps the focus. If it disappears, its neighbour gets the focus. No scrolling. */
function useCardFocus(board: RefObject<HTMLElement>, grid: Grid): void {
  const before = useRef(grid)
  // Read before the render changes the document.
  const focused = board.current ? cardIdOf(document.activeElement) : undefined
  useLayoutEffect(() => {
    const old = before.current
    before.current = grid
    if (focused === undefined || cardIdOf(document.activeElement) === focused) return
    const next = nextFocus(old, grid, focused)
    if (next !== undefined) linkOf(board.current, next)?.focus({ preventScroll: true })
  })
}

/** Returns whether the key moved the focus. */
function moveByKey(board: Element, grid: Grid, event: KeyboardEvent): boolean {
  const id = cardIdOf(event.target)
  if (id === undefined || event.altKey || event.ctrlKey || event.metaKey) return false
  const direction = getComputedStyle(board).direction === 'rtl' ? 'rtl' : 'ltr'
  const move = moveFrom(grid, id, event.key, direction)
  if (!move) return false
  event.preventDefault()
  focusCard(board, move.to === 'card' ? move.id : nearestOf(board, move.ids, id))
  return true
}

function nearestOf(board: Element, ids: readonly string[], id: string): string {
  const topOf = (card: string) => linkOf(board, card)?.getBoundingClientRect().top ?? Infinity
  return ids[nearest(ids.map(topOf), topOf(id))] ?? id
}
