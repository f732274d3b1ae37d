// Notices where the board cannot be shown, is not current, or has nothing to show.

import type { ComponentChildren } from 'preact'
import { useEffect } from 'preact/hooks'
import type { BoardStatus } from '../../libraries/api/types.ts'
import { toolOf } from '../../worker/shared/layouts.ts'
import { ApiProblem, request } from '../data/http.ts'
import { canSwitch, knownPaths, type Live } from '../data/live.ts'
import { openPagePoller } from '../data/page-poller.ts'
import { SignInAgainForm } from '../frame/session-end.tsx'
import { linkTo } from '../router.ts'
import { clearFilters } from '../ui/filter-bar.tsx'
import { number } from '../ui/format.ts'
import { type Filters, isFiltering } from './filters.ts'

/** Shown above the board. */
export function Notices({ live }: { live: Live }) {
  const state = live.state.value
  const status = live.status.value
  if (state.name === 'stale' && state.reason === 'missing') {
    return (
      <section class="notice stop" role="status">
        <h2>The folder of the board is missing.</h2>
        <p>The page shows the last known state, until the folder is back.</p>
      </section>
    )
  }
  // Until something is published, nothing is missing.
  const isMissing = status && !status.config && status.counts.tasks > 0
  const invalid = isMissing ? 'its configuration is missing.' : status?.config?.invalid
  return invalid === undefined ? null : (
    <section class="notice caution" role="status">
      <p>The board cannot be read whole: {invalid}</p>
    </section>
  )
}

interface WholeProps {
  title: string
  isProblem?: true
  children: ComponentChildren
}

/** Shown instead of the board. */
const Whole = ({ title, isProblem, children }: WholeProps) => (
  <section class={isProblem ? 'notice whole stop' : 'notice whole'} role={isProblem && 'alert'}>
    <h2>{title}</h2>
    {children}
  </section>
)

/** Shown instead of the board while there is no data. */
export function NoBoard({ live }: { live: Live }) {
  const state = live.state.value
  switch (state.name) {
    case 'waiting':
      return <Unpublished live={live} />
    case 'refused':
      return (
        <Whole title="The edge refuses to show this board." isProblem>
          <p>{state.error}</p>
          <p>
            Sign in again with a token for {live.path}, here or by a link in another tab. Its
            session replaces this one.
          </p>
          <SignInAgainForm />
          {knownPaths.value.map((path) => (
            <p key={path}>
              Your token covers <a href={linkTo({ view: 'board', path })}>{path}</a>
            </p>
          ))}
        </Whole>
      )
    default:
      return <Skeleton />
  }
}

function Unpublished({ live }: { live: Live }) {
  const { path } = live
  useReading(live)
  const reading = live.reading.value
  if (reading) {
    const { done, total } = reading
    return (
      <Whole title="The board is being read for the first time.">
        <p>
          {number(done)} of {number(total)} files. The board appears here when all are read.
        </p>
        <progress value={done} max={total} aria-label="Files read" />
      </Whole>
    )
  }
  return (
    <Whole title="This repository has not been published yet.">
      <p>Start a sidecar where its files are. The board then appears here.</p>
      <pre>
        signalbox watch DIR --edge {location.origin} --repo {path}
      </pre>
      <p>
        If its folder was renamed or moved, it has another name: sign in again
        {canSwitch.value && ', or look for it in the list of boards'}.
      </p>
    </Whole>
  )
}

function useReading({ path, reading }: Live): void {
  useEffect(() => {
    const poller = openPagePoller({
      async round(aborted) {
        const at = `/api/status?path=${encodeURIComponent(path)}`
        const status = await request<BoardStatus>(at, { signal: aborted }).catch(whereNone)
        reading.value = status?.reading
      },
      onFreshness: () => undefined,
    })
    poller.refresh()
    return () => {
      poller.close()
      reading.value = undefined
    }
  }, [path, reading])
}

/** No sidecar has begun. */
function whereNone(problem: unknown): undefined {
  if (!(problem instanceof ApiProblem && problem.status === 404)) throw problem
}

export const Empty = ({ layout }: { layout: BoardStatus['layout'] }) => (
  <Whole title="This board has no tasks yet.">
    <p>
      {layout === undefined ? 'Save a first task' : `Make a first task with ${toolOf(layout)}`}, and
      it appears here.
    </p>
  </Whole>
)

export const NoMatch = ({ filters }: { filters: Filters }) => (
  <Whole title="No task matches.">
    <p>{noMatchAdvice(filters)}</p>
    <button type="button" onClick={clearFilters}>
      Clear filters
    </button>
  </Whole>
)

function noMatchAdvice(filters: Filters): string {
  if (filters.q.trim() === '') return 'Choose other filters, or clear them.'
  const isSearchOnly = !isFiltering({ ...filters, q: '' })
  return isSearchOnly ? 'Check the spelling.' : 'Check the spelling, or clear the other filters.'
}

/** As large as the board will be, so that nothing jumps when it appears. */
export function Skeleton() {
  return (
    <>
      <div class="filters skeleton" aria-hidden="true">
        <span class="bone search" />
      </div>
      <div class="columns skeleton" role="status" aria-label="Loading the board…">
        {[5, 3, 2, 4].map((cards, column) => (
          <div class="column" key={column} aria-hidden="true">
            <header>
              <span class="bone name" />
            </header>
            <div class="scroller">
              {Array.from({ length: cards }, (_, at) => (
                <div class="card" key={at}>
                  <span class="bone" />
                  <span class="bone short" />
                </div>
              ))}
            </div>
          </div>
        ))}
      </div>
    </>
  )
}
