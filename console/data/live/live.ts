// The open board, kept up to date by one watch, as signals.

import { effect, type ReadonlySignal, signal } from '@preact/signals'
import { type BoardState, type Signal, watchBoard } from '../../../client/index.ts'
import type { Session, Task } from '../../../worker/board/wire.ts'
import { request } from '../http.ts'
import { merge } from '../merge.ts'
import { type BoardStatus, nextReadMs, type ReadStatus, readStatus } from './status.ts'

export interface Live {
  /** The repository; undefined if the session names exactly one. */
  path: string | undefined
  state: ReadonlySignal<BoardState>
  /** Undefined until the first read. In the order of the edge. */
  tasks: ReadonlySignal<ReadonlyMap<string, Task> | undefined>
  sessions: ReadonlySignal<ReadonlyMap<string, Session> | undefined>
  status: ReadonlySignal<ReadStatus | undefined>
  /** When a task changed, in ms. Empty after the first load. */
  changedAt: ReadonlySignal<ReadonlyMap<string, number>>
  /** The last change messages, newest first. */
  signals: ReadonlySignal<readonly Signal[]>
  /** Reads a task with its body, runs and sessions; undefined if it was deleted. */
  task: ReturnType<typeof watchBoard>['task']
  refetch(): Promise<void>
  close(): Promise<void>
}

const MAX_SIGNALS = 50

export function openLive(path: string | undefined): Live {
  const state = signal<BoardState>({ name: 'connecting', since: Date.now() })
  const tasks = signal<ReadonlyMap<string, Task>>()
  const sessions = signal<ReadonlyMap<string, Session>>()
  const changedAt = signal<ReadonlyMap<string, number>>(new Map())
  const signals = signal<readonly Signal[]>([])
  /** Tasks named by messages since the last list. A row does not show a change of the body. */
  const named = new Set<string>()

  const watch = watchBoard({
    ...(path !== undefined && { path }),
    onTasks(fresh) {
      const before = tasks.peek()
      const { items, changed } = merge(before ?? new Map<string, Task>(), fresh)
      tasks.value = items
      const seen = new Set(before && [...changed, ...[...named].filter((id) => items.has(id))])
      named.clear()
      if (seen.size === 0) return
      const at = Date.now()
      changedAt.value = new Map([...changedAt.peek(), ...[...seen].map((id) => [id, at] as const)])
    },
    onSessions(fresh) {
      sessions.value = merge(sessions.peek() ?? new Map<string, Session>(), fresh).items
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
  const status = followStatus(path, { state, signals })

  return {
    path,
    state,
    tasks,
    sessions,
    status: status.value,
    changedAt,
    signals,
    task: (id) => watch.task(id),
    refetch: () => watch.refetch(),
    async close() {
      status.stop()
      await watch.close()
    },
  }
}

/**
 * No message announces a new status. So it is read at once, when the stream opens, at each message
 * (the configuration may have changed, or the folder be gone), and after each expected sync of the
 * sidecar.
 * Never while the page is hidden.
 */
function followStatus(path: string | undefined, on: Pick<Live, 'state' | 'signals'>) {
  const value = signal<ReadStatus>()
  const query = path === undefined ? '' : `?${new URLSearchParams({ path })}`
  let timer: ReturnType<typeof setTimeout> | undefined
  const read = async () => {
    clearTimeout(timer)
    // The watch reports a failure with more detail.
    const status = await request<BoardStatus>(`/api/status${query}`).catch(() => undefined)
    if (status) value.value = readStatus(status, Date.now(), value.peek())
    clearTimeout(timer)
    timer = setTimeout(readIfVisible, nextReadMs(value.peek(), Date.now()))
  }
  const readIfVisible = () => {
    if (!document.hidden) void read()
  }
  const stopFollowing = effect(() => {
    const isOpen = on.state.value.name === 'live'
    void on.signals.value
    if (isOpen) readIfVisible()
  })
  document.addEventListener('visibilitychange', readIfVisible)
  readIfVisible()
  return {
    value,
    stop() {
      clearTimeout(timer)
      stopFollowing()
      document.removeEventListener('visibilitychange', readIfVisible)
    },
  }
}
