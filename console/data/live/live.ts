// The open board, kept up to date by one watch, as signals.

import { type ReadonlySignal, signal } from '@preact/signals'
import type { Session, Task } from '../../../api/types.ts'
import {
  type BoardState,
  type BoardStatus,
  type Signal,
  watchBoard,
} from '../../../client/index.ts'
import { merge } from '../merge.ts'

export interface Live {
  /** The repository; undefined if the session names exactly one. */
  path: string | undefined
  state: ReadonlySignal<BoardState>
  /** Undefined until the first read. In the order of the edge. */
  tasks: ReadonlySignal<ReadonlyMap<string, Task> | undefined>
  sessions: ReadonlySignal<ReadonlyMap<string, Session> | undefined>
  status: ReadonlySignal<BoardStatus | undefined>
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
  const status = signal<BoardStatus>()
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
    task: (id) => watch.task(id),
    refetch: () => watch.refetch(),
    close: () => watch.close(),
  }
}
