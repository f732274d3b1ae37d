// The board: search and filters, columns of cards, and the open task.

import { useEffect, useMemo, useRef } from 'preact/hooks'
import type { Live } from '../data/live/live.ts'
import { route } from '../router.ts'
import { Announcer } from './announcer.tsx'
import { type Cards, cardsOf } from './cards.ts'
import { columnsOf } from './columns.ts'
import { ColumnsView } from './columns-view.tsx'
import { TaskDialog } from './detail/task-dialog.tsx'
import { clearFilters, FilterBar } from './filter-bar.tsx'
import { choicesOf, filtersOf, isFiltering, passes, placed } from './filters.ts'
import { focusCard } from './focus.ts'
import { NoBoard, Notices, Skeleton } from './notices.tsx'
import { useOpening } from './opening.ts'
import { boardWords } from './words.ts'

export function BoardView({ live }: { live: Live }) {
  const { open, close } = useOpening()
  const { id } = route.value
  const board = useRef<HTMLDivElement>(null)
  const closed = useRef<string>()
  useEffect(() => {
    // After closing a task, its card gets the focus again, if it is still there.
    if (id === undefined && closed.current !== undefined) focusCard(board.current, closed.current)
    closed.current = id
  }, [id])
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: it listens for the links within it.
    // biome-ignore lint/a11y/useKeyWithClickEvents: Enter on a link is a click.
    <div class="board" ref={board} onClick={open}>
      <h1 class="visually-hidden">{boardWords.title}</h1>
      <Notices live={live} />
      {live.tasks.value ? <Tasks live={live} /> : <NoBoard live={live} />}
      {live.tasks.value && <Announcer changedAt={live.changedAt} />}
      {id !== undefined && <TaskDialog id={id} live={live} onClose={close} />}
    </div>
  )
}

function Tasks({ live }: { live: Live }) {
  const tasks = live.tasks.value
  const sessions = live.sessions.value
  const config = live.status.value?.config
  const { query } = route.value
  const filters = useMemo(() => filtersOf(query), [query])
  const shown = useRef<Cards>(new Map())
  const cards = useMemo(() => {
    shown.current = cardsOf({ tasks: tasks ?? new Map(), sessions, config }, shown.current)
    return shown.current
  }, [tasks, sessions, config])
  const onBoard = useMemo(
    () => placed(cards.values(), filters, config?.currentTag),
    [cards, filters, config],
  )
  const choices = useMemo(() => choicesOf(onBoard, cards.values()), [onBoard, cards])
  const columns = useMemo(
    () => columnsOf(onBoard, config, passes(filters)),
    [onBoard, config, filters],
  )
  if (cards.size === 0) return live.status.value ? <Empty /> : <Skeleton />
  const count = columns.reduce((sum, column) => sum + column.cards.length, 0)
  return (
    <>
      <FilterBar
        filters={filters}
        choices={choices}
        currentTag={config?.currentTag}
        titleOf={(task) => tasks?.get(task)?.title}
        shown={count}
        total={onBoard.length}
      />
      {count === 0 && isFiltering(filters) ? (
        <NoMatch />
      ) : (
        <ColumnsView
          // When the order of the columns becomes known, start again at the first: a narrow screen
          // would otherwise stay at a column in the middle.
          key={config === undefined ? 'unordered' : 'ordered'}
          columns={columns}
          changedAt={live.changedAt.value}
          isFiltered={isFiltering(filters)}
        />
      )}
    </>
  )
}

function Empty() {
  const { empty } = boardWords.notice
  return (
    <section class="notice whole">
      <h2>{empty.title}</h2>
      <p>{empty.lead}</p>
    </section>
  )
}

function NoMatch() {
  const { filters } = boardWords
  return (
    <section class="notice whole">
      <h2>{filters.none}</h2>
      <p>{filters.noneHint}</p>
      <button type="button" onClick={clearFilters}>
        {filters.clear}
      </button>
    </section>
  )
}
