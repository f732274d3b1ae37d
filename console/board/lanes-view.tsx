// The groups one below the other: the head of each says what it is and how much of it is done, and
// its columns are under those of the others.

import { useId, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import { linkTo, route } from '../router.ts'
import { count, number } from '../ui/format.ts'
import { Title, WorkChip } from './card.tsx'
import { type CardGrid, CardList, useCardGrid } from './card-grid.tsx'
import { plainTitle, statusName, unreadable } from './cards.ts'
import { ColumnCount, type ColumnsProps, SortButton } from './columns-view.tsx'
import type { Lane, Lanes } from './lanes.ts'

interface LanesProps extends Omit<ColumnsProps, 'columns'>, Lanes {}

/** At first: some screens full, but few enough that 20,000 tasks open as quickly as 200. */
const LANES = 20
const CARDS = 20

export function LanesView({ lanes, columns, changedAt, opened, isFiltered }: LanesProps) {
  const folded = useFolded(lanes)
  const [areFoldedShown, showFolded] = useState(() => lanes.every(({ id }) => folded.has(id)))
  const [turned, setTurned] = useState<ReadonlyMap<string, boolean>>(new Map())
  const [limit, setLimit] = useState(LANES)
  const isOpen = ({ id }: Lane) => turned.get(id) ?? (isFiltered || !folded.has(id))

  const isAway = ({ id }: Lane) => !isFiltered && folded.has(id)
  const finished = lanes.filter(isAway)
  const current = lanes.filter((lane) => lane.isShown && !isAway(lane))
  const named = current.filter(({ id }) => id !== '')
  const others = current.filter(({ id }) => id === '')
  const upTo = (limit: number) => [
    ...named.slice(0, limit),
    ...others,
    ...(areFoldedShown ? finished.slice(0, limit) : []),
  ]
  const cellsOf = (of: readonly Lane[]) =>
    of.filter(isOpen).flatMap((lane) => lane.columns.map((column) => cellOf(lane, column)))
  const cells = useMemo(
    () => cellsOf(upTo(limit)),
    [lanes, isFiltered, areFoldedShown, turned, limit],
  )
  const grid = useCardGrid(cells, CARDS, opened, {
    all: () => cellsOf(upTo(lanes.length)),
    show: () => setLimit(lanes.length),
  })
  useLayoutEffect(() => {
    // Among the fewer groups that match, the scroll position from before would be the end.
    if (opened === undefined) grid.props.ref.current?.scrollTo({ top: 0 })
  }, [JSON.stringify(route.value.query)])

  const shown = opened === undefined ? undefined : lanes.find((lane) => has(lane, opened))
  useLayoutEffect(() => {
    if (!shown || opened === undefined) return
    const at = Math.max(named.indexOf(shown), finished.indexOf(shown))
    if (at >= limit) setLimit(at + 1)
    if (finished.includes(shown)) showFolded(true)
    // The task of the lane is its head, which is there already.
    if (shown.id !== opened && !isOpen(shown)) setTurned(new Map(turned).set(shown.id, true))
  }, [opened, Boolean(shown)])

  const focusNext = useRef<string>()
  useLayoutEffect(() => {
    const board = grid.props.ref.current
    if (focusNext.current === undefined || !board) return
    board
      .querySelector<HTMLElement>(`[data-lane="${CSS.escape(focusNext.current)}"] button`)
      ?.focus()
    focusNext.current = undefined
  }, [limit])
  const more = (all: readonly Lane[]) =>
    all.length > limit && (
      <button
        type="button"
        class="quiet more"
        onClick={() => {
          // The button may disappear. The first new group gets the focus.
          focusNext.current = all[limit]?.id
          setLimit(limit * 2)
        }}
      >
        Show {count(Math.min(all.length - limit, limit), 'more group')}{' '}
        <span class="hint">{number(all.length - limit)} not shown</span>
      </button>
    )
  const view = (lane: Lane) => (
    <LaneView
      key={lane.id}
      lane={lane}
      isOpen={isOpen(lane)}
      onTurn={() => setTurned(new Map(turned).set(lane.id, !isOpen(lane)))}
      {...{ grid, changedAt, isFiltered }}
    />
  )
  return (
    <div class="lanes" style={`--columns: ${columns.length}`} {...grid.props}>
      <div class="cells heads">
        {columns.map((column) => (
          <div key={column.status}>
            <b>{statusName(column.status)}</b>
            <ColumnCount column={column} isFiltered={isFiltered} />
            <SortButton column={column} />
          </div>
        ))}
      </div>
      {named.slice(0, limit).map(view)}
      {more(named)}
      {others.map(view)}
      {finished.length > 0 && (
        <button
          type="button"
          class="quiet fold"
          aria-expanded={areFoldedShown}
          onClick={() => showFolded(!areFoldedShown)}
        >
          {count(finished.length, 'finished group')}
        </button>
      )}
      {areFoldedShown && finished.slice(0, limit).map(view)}
      {areFoldedShown && more(finished)}
    </div>
  )
}

const cellOf = ({ id }: Lane, column: Lane['columns'][number]) => ({
  ...column,
  key: `${id}\n${column.status}`,
})

const has = ({ id, columns }: Lane, taskId: string) =>
  id === taskId || columns.some(({ cards }) => cards.some(({ task }) => task.id === taskId))

/**
 * The lanes that were finished when they were first seen, and still are. One that is finished under
 * the reader's eyes stays where it is.
 */
function useFolded(lanes: readonly Lane[]): ReadonlySet<string> {
  const seen = useRef(new Set<string>())
  const folded = useRef(new Set<string>())
  for (const { id, isFinished } of lanes) {
    if (!isFinished) folded.current.delete(id)
    else if (!seen.current.has(id)) folded.current.add(id)
    seen.current.add(id)
  }
  return folded.current
}

interface LaneProps extends Pick<LanesProps, 'changedAt' | 'isFiltered'> {
  lane: Lane
  grid: CardGrid
  isOpen: boolean
  onTurn(): void
}

function LaneView({ lane, grid, changedAt, isFiltered, isOpen, onTurn }: LaneProps) {
  const heading = useId()
  const { id, head, columns, closed, total } = lane
  const title = head?.task.title ?? (id || 'Other tasks')
  return (
    <section class="lane" aria-labelledby={heading}>
      <header data-lane={id}>
        <button
          type="button"
          class="icon"
          aria-expanded={isOpen}
          aria-label={`Tasks of ${plainTitle(title)}`}
          onClick={onTurn}
        >
          <svg viewBox="0 0 16 16" aria-hidden="true">
            <path d="M5 3l6 5-6 5" />
          </svg>
        </button>
        <div class="row">
          <h2 id={heading} dir="auto">
            {head ? (
              <a href={linkTo({ view: 'board', id })} data-open={id}>
                <Title of={title} />
              </a>
            ) : (
              title
            )}
          </h2>
          {head && title !== id && <span class="id">{id}</span>}
          {head && <span class="hint">{statusName(head.task.status)}</span>}
          {!head && id !== '' && <span class="hint">does not exist</span>}
          {head && <WorkChip card={head} />}
          {head?.task.invalid !== undefined && (
            <span class="problem-line">{unreadable(head.task.invalid)}</span>
          )}
          <span class="done">
            <progress value={closed} max={total} aria-hidden="true" />
            {number(closed)} of {number(total)}
            <span class="visually-hidden"> done</span>
          </span>
        </div>
      </header>
      {isOpen && (
        <div class="cells">
          {columns.map((column, at) => {
            const cell = cellOf(lane, column)
            const name = `${heading}-${at}`
            return (
              <div key={cell.key} class={classOf(column)}>
                <header>
                  <h3 id={name}>{statusName(column.status)}</h3>
                  <ColumnCount column={column} isFiltered={isFiltered} />
                </header>
                <CardList cell={cell} lane={id} labelledBy={name} {...{ grid, changedAt }} />
              </div>
            )
          })}
        </div>
      )}
    </section>
  )
}

const classOf = ({ isClosed, cards }: Lane['columns'][number]) =>
  `cell ${isClosed ? 'closed' : ''} ${cards.length === 0 ? 'empty' : ''}`
