// The board: search and filters, columns of cards, and the open task, which is in the URL, so that
// links and the back button work.

import { type ReadonlySignal, useComputed } from '@preact/signals'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { Live } from '../data/live.ts'
import { lampOf } from '../frame/lamp.ts'
import { route } from '../router.ts'
import { filterBy } from '../ui/filter-bar.tsx'
import { now } from '../ui/time.tsx'
import { BoardFilters } from './board-filters.tsx'
import { announcementOf, type Cards, cardsOf, changedIds } from './cards.ts'
import { columnsOf } from './columns.ts'
import { ColumnsView } from './columns-view.tsx'
import { countsOf, stuckOf } from './counts.ts'
import { TaskDialog } from './detail/task-dialog.tsx'
import { choicesOf, filtersOf, isFiltering, passes, placed, turnedOf } from './filters.ts'
import { Glance } from './glance.tsx'
import { isGrouped, lanesOf, turnedGroups } from './lanes.ts'
import { LanesView } from './lanes-view.tsx'
import { useLimits } from './limits.ts'
import { Empty, NoBoard, NoMatch, Notices, Skeleton } from './notices.tsx'
import { ReviewView } from './review-view.tsx'
import { useBoard } from './use-board.ts'
import { useOpening } from './use-opening.ts'

export function BoardView({ live }: { live: Live }) {
  const board = useRef<HTMLDivElement>(null)
  const { open, close } = useOpening(board)
  const { id } = route.value
  const isOld = useComputed(() => lampOf(live.state.value, now.value).lamp === 'stop').value
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: it listens for the links within it.
    // biome-ignore lint/a11y/useKeyWithClickEvents: Enter on a link is a click.
    <div class={`board${isOld ? ' old' : ''}`} ref={board} onClick={open}>
      <h1 class="visually-hidden">Board</h1>
      <Notices live={live} />
      {live.tasks.value ? <Tasks live={live} /> : <NoBoard live={live} />}
      {live.tasks.value && <Announcer changedAt={live.changedAt} />}
      {id !== undefined && <TaskDialog id={id} live={live} onClose={close} />}
    </div>
  )
}

const NO_CARDS: Cards = new Map()

function Tasks({ live }: { live: Live }) {
  const board = useBoard(live)
  const limits = useLimits(live)
  const { config, layout } = board ?? {}
  const { query, id } = route.value
  const filters = useMemo(() => filtersOf(query), [query])
  const shown = useRef(NO_CARDS)
  const cards = useMemo(() => {
    shown.current = board ? cardsOf(board, shown.current) : NO_CARDS
    return shown.current
  }, [board])
  const currentTag = config?.currentTag
  const onBoard = useMemo(
    () => placed(cards.values(), filters, currentTag),
    [cards, filters, currentTag],
  )
  const counts = useMemo(() => countsOf(cards.values(), filters, currentTag), [cards, filters])
  const stuck = useMemo(() => stuckOf(cards.values()), [cards])
  const choices = useMemo(() => choicesOf(onBoard, [...cards.values()]), [onBoard, cards])
  const areGroups = choices.parent.length > 0 && isGrouped(query, layout)
  const { lanes, columns } = useMemo(() => {
    const isShown = passes(filters)
    const turned = turnedOf(query)
    if (areGroups) return lanesOf({ cards, onBoard, config, isShown, turned })
    return { lanes: undefined, columns: columnsOf(onBoard, config, isShown, turned) }
  }, [cards, onBoard, config, filters, areGroups])
  const passing = useMemo(() => onBoard.filter(passes(filters)), [onBoard, filters])
  if (cards.size === 0) return live.status.value ? <Empty layout={layout} /> : <Skeleton />
  const view = {
    changedAt: live.changedAt.value,
    opened: id,
    isFiltered: isFiltering(filters),
    columns,
  }
  // When the order of the columns becomes known, start again at the first: a narrow screen would
  // otherwise stay at a column in the middle.
  const key = config === undefined ? 'unordered' : 'ordered'
  return (
    <>
      <Glance counts={counts} stuck={stuck} limits={limits} />
      <BoardFilters
        filters={filters}
        choices={choices}
        currentTag={currentTag}
        titleOf={(task) => cards.get(task)?.task.title}
        shown={passing.length}
        total={onBoard.length}
        areGroups={areGroups}
        turnGroups={() => filterBy({ groups: turnedGroups(areGroups, layout) })}
      />
      {passing.length === 0 && view.isFiltered ? (
        <NoMatch filters={filters} />
      ) : filters.review !== '' ? (
        <ReviewView cards={passing} live={live} />
      ) : lanes ? (
        <LanesView key={key} lanes={lanes} {...view} />
      ) : (
        <ColumnsView key={key} {...view} />
      )}
    </>
  )
}

/** With a shorter interval, an agent at work would interrupt each sentence. */
const INTERVAL_MS = 3_000

/** Announces changes to screen readers, at most one sentence every few seconds. */
function Announcer({ changedAt }: { changedAt: ReadonlySignal<ReadonlyMap<string, number>> }) {
  const [sentence, setSentence] = useState('')
  useEffect(() => {
    let announced = changedAt.peek()
    let timer: ReturnType<typeof setTimeout> | undefined
    const stop = changedAt.subscribe((after) => {
      if (after === announced || timer !== undefined) return
      timer = setTimeout(() => {
        timer = undefined
        setSentence(announcementOf(changedIds(announced, changedAt.peek())))
        announced = changedAt.peek()
      }, INTERVAL_MS)
    })
    return () => {
      stop()
      clearTimeout(timer)
    }
  }, [changedAt])
  return (
    <p role="status" class="visually-hidden">
      {sentence}
    </p>
  )
}
