// The board of this tab: one watch, as signals. It is opened after the sign-in, stays open while
// other views are shown, and is closed on sign-out.

import { computed, effect, signal, untracked } from '@preact/signals'
import {
  type BoardState,
  type BoardStatus,
  type Session,
  type Signal,
  type Task,
  watchBoard,
} from '../../libraries/client/index.ts'
import { exactPaths, onlyPath } from '../../worker/shared/repos.ts'
import { replace, route } from '../router.ts'
import { ApiProblem } from './http.ts'
import { isNotifying } from './notifying.ts'
import { expire, may, session } from './session.ts'

/** False for a session for payments alone. */
export const hasBoard = computed(() => may('board:read') || !may('payments:read'))

/** The boards that the session names one by one. */
export const knownPaths = computed<readonly string[]>(() =>
  session.value.name === 'signed-in' ? exactPaths(session.value.session.repos) : [],
)

/** Whether the session may be for several boards, now or later. */
export const canSwitch = computed(() => {
  if (session.value.name !== 'signed-in' || !hasBoard.value) return false
  const { repos } = session.value.session
  return repos.length > 1 || exactPaths(repos).length < repos.length
})

/**
 * The one in the address, so that two tabs are two boards; without one, the only one that the
 * session names. Undefined: the user has to choose. A new session for the same one changes nothing.
 */
const shownPath = computed<string | undefined>(() => {
  if (session.value.name !== 'signed-in' || !hasBoard.value) return undefined
  return route.value.path ?? onlyPath(session.value.session.repos)
})

/** Shows this board in this tab. */
const choose = (path: string): void => replace({ ...route.peek(), path })

export type Live = ReturnType<typeof openLive>

const MAX_SIGNALS = 50

/** An item that did not change is the same object, so its components are not rendered again. */
const byId = <Item extends { id: string }>(items: readonly Item[]): ReadonlyMap<string, Item> =>
  new Map(items.map((item) => [item.id, item]))

/** `path`: the repository. */
function openLive(path: string) {
  const state = signal<BoardState>({ name: 'connecting', since: Date.now() })
  /** Undefined until the first read. In the order of the edge. */
  const tasks = signal<ReadonlyMap<string, Task>>()
  const sessions = signal<ReadonlyMap<string, Session>>()
  const status = signal<BoardStatus>()
  /** When a task changed, in ms. Empty after the first load. */
  const changedAt = signal<ReadonlyMap<string, number>>(new Map())
  /** The last change messages, newest first. */
  const signals = signal<readonly Signal[]>([])
  /** Tasks named by messages since the last list. A row does not show a change of the body. */
  const named = new Set<string>()

  const watch = watchBoard({
    path,
    /** Asked whenever the page is hidden. */
    get keepWhileHidden() {
      return untracked(() => isNotifying(path))
    },
    onTasks(fresh) {
      const before = tasks.peek()
      const items = byId(fresh)
      tasks.value = items
      const changed = fresh.filter((task) => task !== before?.get(task.id)).map(({ id }) => id)
      const seen = new Set(before && [...changed, ...[...named].filter((id) => items.has(id))])
      named.clear()
      if (seen.size === 0) return
      const at = Date.now()
      changedAt.value = new Map([...changedAt.peek(), ...[...seen].map((id) => [id, at] as const)])
    },
    onSessions(fresh) {
      sessions.value = byId(fresh)
    },
    onStatus(fresh) {
      status.value = fresh
      // Its `currentAt` moves with each report of the sidecar, without a call of `onState`.
      state.value = watch.state
    },
    onState(now) {
      state.value = now
    },
    onSignal(received) {
      const { message } = received
      if (message.type === 'task-changed') named.add(message.id)
      signals.value = [received, ...signals.peek()].slice(0, MAX_SIGNALS)
    },
  })
  return {
    path,
    state,
    tasks,
    sessions,
    status,
    changedAt,
    signals,
    /** How far a first publication is; undefined: none is under way. */
    reading: signal<BoardStatus['reading']>(undefined),
    /** Reads a task with its body, runs and sessions; undefined if it was deleted. */
    task: (id: string) => watch.task(id),
    /** After a refusal. The state says what came of it. */
    retry: () => watch.refetch(),
    close: () => watch.close(),
  }
}

/** Undefined: nobody is signed in, there is no board, or the user has to choose one. */
export const live = signal<Live | undefined>(undefined)

effect(() => {
  const path = shownPath.value
  const opened = path === undefined ? undefined : openLive(path)
  // From now on, a copied link leads to this board.
  if (path !== undefined) untracked(() => choose(path))
  live.value = opened
  return () => void opened?.close()
})

// A new session, of this tab or another, may cover the board that the edge refused to the last one.
effect(() => {
  if (session.value.name !== 'signed-in') return
  const refused = untracked(() => (live.value?.state.value.name === 'refused' ? live.value : null))
  void refused?.retry()
})

// The token expired while the page was open: show the sign-in, with the reason.
effect(() => {
  const state = live.value?.state.value
  if (state?.name !== 'refused' || state.code !== 'unauthorized') return
  expire(new ApiProblem(401, state.code, state.error))
})
