// The selected repository and its live board: one watch, as signals. It is opened after the
// sign-in, stays open while other views are shown, and is closed on sign-out.

import { computed, effect, signal } from '@preact/signals'
import type { SignedIn } from '../../libraries/api/types.ts'
import {
  type BoardState,
  type BoardStatus,
  type Session,
  type Signal,
  type Task,
  watchBoard,
} from '../../libraries/client/index.ts'
import { coversPath, exactPaths, onlyPath } from '../../worker/shared/repos.ts'
import { ApiProblem, merge } from './http.ts'
import { expire, may, session } from './session.ts'

export type Repository =
  /** `path` is undefined if the session names exactly one, which the edge knows. */
  | { name: 'chosen'; path: string | undefined }
  | { name: 'unchosen'; known: readonly string[] }
  /** The session is for payments alone. */
  | { name: 'none' }

const STORAGE_KEY = 'signalbox.repository'
const chosen = signal<string | undefined>(localStorage.getItem(STORAGE_KEY) ?? undefined)

export const repository = computed<Repository>(() => {
  const now = session.value
  if (now.name !== 'signed-in') return { name: 'unchosen', known: [] }
  if (may('payments:read') && !may('board:read')) return { name: 'none' }
  return decide(now.session, chosen.value)
})

/** Selects a repository, also for the time after a reload. */
export function choose(path: string): void {
  localStorage.setItem(STORAGE_KEY, path)
  chosen.value = path
}

function decide({ repos }: SignedIn, wanted: string | undefined): Repository {
  const only = onlyPath(repos)
  if (only !== undefined) return { name: 'chosen', path: only }
  if (wanted !== undefined && coversPath(repos, wanted)) return { name: 'chosen', path: wanted }
  return { name: 'unchosen', known: exactPaths(repos) }
}

export type Live = ReturnType<typeof openLive>

const MAX_SIGNALS = 50

/** `path`: the repository; undefined if the session names exactly one. */
function openLive(path: string | undefined) {
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
    ...(path !== undefined && { path }),
    onTasks(fresh) {
      const before = tasks.peek()
      const { items, changed } = merge(before, fresh)
      tasks.value = items
      const seen = new Set(before && [...changed, ...[...named].filter((id) => items.has(id))])
      named.clear()
      if (seen.size === 0) return
      const at = Date.now()
      changedAt.value = new Map([...changedAt.peek(), ...[...seen].map((id) => [id, at] as const)])
    },
    onSessions(fresh) {
      sessions.value = merge(sessions.peek(), fresh).items
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
    /** Reads a task with its body, runs and sessions; undefined if it was deleted. */
    task: (id: string) => watch.task(id),
    close: () => watch.close(),
  }
}

export const live = signal<Live | undefined>(undefined)

/** Null: none. A new session for the same repository must not open it again. */
const watched = computed(() => (repository.value.name === 'chosen' ? repository.value.path : null))

effect(() => {
  const path = watched.value
  const opened = path === null ? undefined : openLive(path)
  live.value = opened
  return () => void opened?.close()
})

// The token expired while the page was open: show the sign-in, with the reason.
effect(() => {
  const state = live.value?.state.value
  if (state?.name !== 'refused' || state.code !== 'unauthorized') return
  expire(new ApiProblem(401, state.code, state.error))
})
