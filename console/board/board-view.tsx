// The board: search and filters, columns of cards, and the open task, which is in the URL, so that
// links and the back button work.

import { type ReadonlySignal, useComputed } from '@preact/signals'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { Task } from '../../libraries/api/types.ts'
import type { Live } from '../data/live.ts'
import { lampOf } from '../frame/lamp.ts'
import { go, replace, route } from '../router.ts'
import { filterBy } from '../ui/filter-bar.tsx'
import { now } from '../ui/time.tsx'
import { BoardFilters } from './board-filters.tsx'
import { focusCard } from './card-grid.tsx'
import { announcementOf, type Cards, cardsOf, changedIds } from './cards.ts'
import { columnsOf } from './columns.ts'
import { ColumnsView } from './columns-view.tsx'
import { TaskDialog } from './detail/task-dialog.tsx'
import { choicesOf, filtersOf, isFiltering, passes, placed, turnedOf } from './filters.ts'
import { isGrouped, lanesOf, turnedGroups } from './lanes.ts'
import { LanesView } from './lanes-view.tsx'
import { Empty, NoBoard, NoMatch, Notices, Skeleton } from './notices.tsx'

export function BoardView({ live }: { live: Live }) {
  const { open, close } = useOpening()
  const { id } = route.value
  const board = useRef<HTMLDivElement>(null)
  const isOld = useComputed(() => lampOf(live.state.value, now.value).lamp === 'stop').value
  const closed = useRef<string>()
  useEffect(() => {
    // After closing a task, its card gets the focus again, if it is still there.
    if (id === undefined && closed.current !== undefined) focusCard(board.current, closed.current)
    closed.current = id
  }, [id])
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

function useOpening() {
  /** Steps in the history since the board without an open task. */
  const depth = useRef(0)
  const { id } = route.value
  useEffect(() => {
    if (id === undefined) depth.current = 0
  }, [id])
  return {
    /** Handles clicks on links with `data-open` anywhere in the board. */
    open(event: MouseEvent): void {
      const taskId = linkedTask(event)
      if (taskId === undefined) return
      event.preventDefault()
      depth.current++
      go({ view: 'board', id: taskId, query: route.peek().query })
    },
    close(): void {
      // Without this, the back button would open the closed task again.
      if (depth.current === 1) history.back()
      else replace({ view: 'board', query: route.peek().query })
    },
  }
}

/** Undefined: leave the click to the browser, such as opening a new tab. */
function linkedTask(event: MouseEvent): string | undefined {
  const isPlain = event.button === 0 && !(event.ctrlKey || event.metaKey || event.shiftKey)
  if (!isPlain || !(event.target instanceof Element)) return undefined
  return event.target.closest<HTMLElement>('a[data-open]')?.dataset.open
}

const NONE: ReadonlyMap<string, Task> = new Map()

function Tasks({ live }: { live: Live }) {
  const tasks = live.tasks.value
  const sessions = live.sessions.value
  const { config, layout } = live.status.value ?? {}
  const { query, id } = route.value
  const filters = useMemo(() => filtersOf(query), [query])
  const shown = useRef<Cards>(new Map())
  const cards = useMemo(() => {
    shown.current = cardsOf({ tasks: tasks ?? NONE, sessions, config, layout }, shown.current)
    return shown.current
  }, [tasks, sessions, config, layout])
  const onBoard = useMemo(
    () => placed(cards.values(), filters, config?.currentTag),
    [cards, filters, config],
  )
  const choices = useMemo(() => choicesOf(onBoard, [...cards.values()]), [onBoard, cards])
  const areGroups = choices.parent.length > 0 && isGrouped(query, layout)
  const { lanes, columns } = useMemo(() => {
    const isShown = passes(filters)
    const turned = turnedOf(query)
    if (areGroups) return lanesOf({ cards, onBoard, config, isShown, turned })
    return { lanes: undefined, columns: columnsOf(onBoard, config, isShown, turned) }
  }, [cards, onBoard, config, filters, areGroups])
  const count = useMemo(() => onBoard.filter(passes(filters)).length, [onBoard, filters])
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
      <BoardFilters
        filters={filters}
        choices={choices}
        currentTag={config?.currentTag}
        titleOf={(task) => tasks?.get(task)?.title}
        shown={count}
        total={onBoard.length}
        areGroups={areGroups}
        turnGroups={() => filterBy({ groups: turnedGroups(areGroups, layout) })}
      />
      {count === 0 && view.isFiltered ? (
        <NoMatch filters={filters} />
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
