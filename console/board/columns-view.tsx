// The columns side by side.

import { useId, useMemo } from 'preact/hooks'
import { route } from '../router.ts'
import { filterBy } from '../ui/filter-bar.tsx'
import { count, number } from '../ui/format.ts'
import { type CardGrid, CardList, type Cell, useCardGrid } from './card-grid.tsx'
import { statusName } from './cards.ts'
import type { Column } from './columns.ts'
import { turnedOf } from './filters.ts'

export interface ColumnsProps {
  columns: readonly Column[]
  changedAt: ReadonlyMap<string, number>
  /** The id of the task that is open in front of the columns. */
  opened: string | undefined
  isFiltered: boolean
}

/** Several screens full, but few enough that 20,000 tasks open as quickly as 200. */
const PAGE = 50

export function ColumnsView({ columns, changedAt, opened, isFiltered }: ColumnsProps) {
  const cells = useMemo(
    () => columns.map((column) => ({ ...column, key: column.status })),
    [columns],
  )
  const grid = useCardGrid(cells, PAGE, opened)
  return (
    <div class="columns" {...grid.props}>
      {cells.map((cell) => (
        <ColumnView
          key={cell.key}
          column={cell}
          grid={grid}
          changedAt={changedAt}
          isFiltered={isFiltered}
        />
      ))}
    </div>
  )
}

interface ColumnProps extends Omit<ColumnsProps, 'columns' | 'opened'> {
  column: Column & Cell
  grid: CardGrid
}

function ColumnView({ column, grid, changedAt, isFiltered }: ColumnProps) {
  const { status, isClosed, cards, total } = column
  const heading = useId()
  return (
    <section class={isClosed ? 'column closed' : 'column'} aria-labelledby={heading}>
      <header>
        <h2 id={heading}>{statusName(status)}</h2>
        <ColumnCount column={column} isFiltered={isFiltered} />
        <SortButton column={column} />
      </header>
      <div class="scroller">
        {cards.length === 0 && <p class="hint">{total === 0 ? 'No tasks.' : 'No matches.'}</p>}
        <CardList cell={column} grid={grid} changedAt={changedAt} />
      </div>
    </section>
  )
}

interface ColumnCountProps {
  column: Column
  isFiltered: boolean
}

export const ColumnCount = ({ column: { cards, total }, isFiltered }: ColumnCountProps) => (
  <span class="count">
    {isFiltered ? `${number(cards.length)} of ${number(total)}` : number(total)}
    <span class="visually-hidden"> {isFiltered ? '' : count(total, 'task')}</span>
  </span>
)

export const SortButton = ({ column: { status, canSort, isByChange } }: { column: Column }) =>
  canSort && (
    <button
      type="button"
      class="quiet small"
      aria-pressed={isByChange}
      onClick={() => turn(status)}
    >
      Sorted by last change<span class="visually-hidden"> in {statusName(status)}</span>
    </button>
  )

/** Sorts a column the other way. It is in the URL, as the filters are. */
function turn(status: string): void {
  const turned = new Set(turnedOf(route.peek().query))
  if (!turned.delete(status)) turned.add(status)
  filterBy({ sort: [...turned].join('\n') })
}
