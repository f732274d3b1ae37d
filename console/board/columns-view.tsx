// The columns beside one another, and the keyboard's way through their cards: one of them is in the
// tab order, arrows lead on from it.

import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import { ColumnView } from './column-view.tsx'
import type { Column } from './columns.ts'
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
