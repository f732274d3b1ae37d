// The columns side by side, and keyboard navigation: one card is in the tab order, and the arrow
// keys move from there.

import { useId, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import { locale, words } from '../words.ts'
import { Card } from './card.tsx'
import { type Column, statusName } from './columns.ts'
import { cardIdOf, focusCard, moveByKey, useKeptFocus } from './focus.ts'

interface ColumnsProps {
  columns: readonly Column[]
  changedAt: ReadonlyMap<string, number>
  isFiltered: boolean
}

/** Several screens full; few enough that 20,000 tasks open as quickly as 200. */
const PAGE = 50

export function ColumnsView({ columns, changedAt, isFiltered }: ColumnsProps) {
  const board = useRef<HTMLDivElement>(null)
  const [limits, setLimits] = useState<ReadonlyMap<string, number>>(new Map())
  const [active, setActive] = useState<string>()
  const wished = useRef<string>()
  const limitOf = (status: string) => limits.get(status) ?? PAGE
  const grid = useMemo(
    () =>
      columns.map(({ status, cards }) =>
        cards.slice(0, limits.get(status) ?? PAGE).map(({ task }) => task.id),
      ),
    [columns, limits],
  )
  useKeptFocus(board, grid)
  useLayoutEffect(() => {
    if (wished.current !== undefined) focusCard(board.current, wished.current)
    wished.current = undefined
  }, [limits])

  const showMore = ({ status, cards }: Column) => {
    const limit = limitOf(status)
    // The button may be gone then, and reading goes on at the first new card anyway.
    wished.current = cards[limit]?.task.id
    setLimits(new Map(limits).set(status, limit * 2))
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (!board.current || moveByKey(board.current, grid, event)) return
    const last = columns.find((_, at) => {
      return grid[at]?.at(-1) === cardIdOf(event.target)
    })
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

interface ColumnProps {
  column: Column
  /** How many cards are shown at most. */
  limit: number
  changedAt: ReadonlyMap<string, number>
  /** The card that is in the tab order. */
  active: string | undefined
  isFiltered: boolean
  onMore(column: Column): void
}

export function ColumnView({ column, limit, changedAt, active, isFiltered, onMore }: ColumnProps) {
  const { status, isClosed, cards, total } = column
  const heading = useId()
  const say = words.board.column
  const left = cards.length - limit
  return (
    <section class={isClosed ? 'column closed' : 'column'} aria-labelledby={heading}>
      <header>
        <h2 id={heading}>{statusName(status)}</h2>
        <span class="count">
          {isFiltered ? say.some(cards.length, total) : total.toLocaleString(locale)}
          <span class="visually-hidden"> {isFiltered ? '' : say.tasks(total)}</span>
        </span>
      </header>
      <div class="scroller">
        {cards.length === 0 && <p class="nothing">{total === 0 ? say.empty : say.noneMatch}</p>}
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
            {say.more(Math.min(left, limit))} <span class="left">{say.left(left)}</span>
          </button>
        )}
      </div>
    </section>
  )
}
