// The board that is looked at, kept current: one watch, and what it told, as signals.

import { effect, type ReadonlySignal, signal } from '@preact/signals'
import { type BoardState, type Signal, watchBoard } from '../../../client/index.ts'
import type { Session, Task } from '../../../worker/board/wire.ts'
import { ask } from '../http.ts'
import { merge } from '../merge.ts'
import { type BoardStatus, nextAskMs } from './status.ts'

export interface Live {
  /** Of the repository; undefined where the session names exactly one. */
  path: string | undefined
  state: ReadonlySignal<BoardState>
  /** Undefined until they have been read once. In the edge's order. */
  tasks: ReadonlySignal<ReadonlyMap<string, Task> | undefined>
  sessions: ReadonlySignal<ReadonlyMap<string, Session> | undefined>
  status: ReadonlySignal<BoardStatus | undefined>
  /** When a task was seen to change, in ms; empty after the first load. */
  changedAt: ReadonlySignal<ReadonlyMap<string, number>>
  /** The last signals of the stream, newest first. */
  signals: ReadonlySignal<readonly Signal[]>
  /** A task with its body, runs and sessions; undefined when it is gone. */
  task: ReturnType<typeof watchBoard>['task']
  refetch(): Promise<void>
  close(): Promise<void>
}

const MOST_SIGNALS = 50

export function openLive(path: string | undefined): Live {
  const state = signal<BoardState>({ name: 'connecting', since: Date.now() })
  const tasks = signal<ReadonlyMap<string, Task>>()
  const sessions = signal<ReadonlyMap<string, Session>>()
  const changedAt = signal<ReadonlyMap<string, number>>(new Map())
  const signals = signal<readonly Signal[]>([])
  /** Tasks that a signal named, until the list is here: its rows say nothing of a body. */
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
    onSignal(told) {
      if (told.message.type === 'task-changed') named.add(told.message.id)
      signals.value = [told, ...signals.peek()].slice(0, MOST_SIGNALS)
    },
  })
  const status = followStatus(path, { state, tasks })

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
 * The status is in no signal. It is asked for at once, when the stream opens, when the list has
 * changed (the configuration may have), and when the sidecar's next sync should have come; never
 * while hidden.
 */
function followStatus(path: string | undefined, on: Pick<Live, 'state' | 'tasks'>) {
  const value = signal<BoardStatus>()
  const query = path === undefined ? '' : `?${new URLSearchParams({ path })}`
  let timer: ReturnType<typeof setTimeout> | undefined
  const look = async () => {
    clearTimeout(timer)
    // Refused or out of reach: the watch says so, and with more of the story.
    value.value = await ask<BoardStatus>(`/api/status${query}`).catch(() => value.peek())
    clearTimeout(timer)
    timer = setTimeout(lookIfSeen, nextAskMs(value.peek(), Date.now()))
  }
  const lookIfSeen = () => {
    if (!document.hidden) void look()
  }
  const stopFollowing = effect(() => {
    const isOpen = on.state.value.name === 'live'
    void on.tasks.value
    if (isOpen) lookIfSeen()
  })
  document.addEventListener('visibilitychange', lookIfSeen)
  lookIfSeen()
  return {
    value,
    stop() {
      clearTimeout(timer)
      stopFollowing()
      document.removeEventListener('visibilitychange', lookIfSeen)
    },
  }
}
