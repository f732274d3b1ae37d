// The columns side by side, and keyboard navigation: one card is in the tab order, and the arrow
// keys move from there.

import { useId, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import { count, number } from '../ui/text.ts'
import { Card } from './card.tsx'
import { statusName } from './cards.ts'
import type { Column } from './columns.ts'
import { cardIdOf, focusCard, moveByKey, useCardFocus } from './focus.ts'

interface ColumnsProps {
  columns: readonly Column[]
  changedAt: ReadonlyMap<string, number>
  isFiltered: boolean
}

/** Several screens full, but few enough that 20,000 tasks open as quickly as 200. */
const PAGE = 50

export function ColumnsView({ columns, changedAt, isFiltered }: ColumnsProps) {
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

interface ColumnProps extends Omit<ColumnsProps, 'columns'> {
  column: Column
  /** The maximum number of rendered cards. */
  limit: number
  /** The card in the tab order. */
  active: string | undefined
  onMore(column: Column): void
}

function ColumnView({ column, limit, changedAt, active, isFiltered, onMore }: ColumnProps) {
  const { status, isClosed, cards, total } = column
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
