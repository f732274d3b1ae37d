// A small board for tests of the board view, and functions to make tasks and cards.

import type { Board, CardData } from '../../console/board/cards.ts'
import type { ListedBoard } from '../../libraries/api/types.ts'
import type { Session, Task, TaskDetail } from '../../libraries/client/index.ts'
import type { BoardUpdate } from './board-page.ts'

export const CONFIG = {
  states: ['backlog', 'in_progress', 'done', 'canceled'],
  closed: ['done', 'canceled'],
}

export const task = (id: string, fields: Partial<Task> = {}): Task => ({
  id,
  title: `The task ${id}`,
  status: 'backlog',
  ready: false,
  ...fields,
})

export const card = (fields: Partial<Task> = {}, more: Partial<CardData> = {}): CardData => ({
  task: task(fields.id ?? 'LAMP-1', fields),
  isClosed: false,
  waitsFor: [],
  ...(fields.ready && { state: 'ready' }),
  ...more,
})

export const session = (id: string, fields: Partial<Session> = {}): Session => ({
  id,
  task: 'LAMP-1',
  attempt: 'att_1',
  actor: 'agent:otto',
  status: 'active',
  startedAt: '2026-03-03T09:00:03Z',
  health: 'active',
  ...fields,
})

export const boardOf = (tasks: Task[], sessions: Session[] = []): Board => ({
  tasks: new Map(tasks.map((it) => [it.id, it])),
  sessions: new Map(sessions.map((it) => [it.id, it])),
  config: CONFIG,
  moment: { now: Date.parse('2026-03-03T10:00:00Z'), silentAfterMs: 20 * 60_000 },
})

export const STATUS = {
  config: CONFIG,
  store: 'present' as const,
  counts: { tasks: 4, sessions: 1, runs: 0, invalid: 0 },
  sidecar: { state: 'running' as const },
  streams: 1,
  awakeSince: '2026-03-03T09:00:00Z',
  silentAfterMs: 1_200_000,
  now: '2026-03-03T10:00:00Z',
}
export const LIVE = { name: 'live', since: 1, currentAt: 1 }
export const TASKS = [
  task('LAMP-1', { title: 'Dim slowly', ready: true, labels: ['comfort'] }),
  task('LAMP-2', { title: 'Read the sensor', deps: ['LAMP-1', 'LAMP-9'] }),
  task('LAMP-3', { title: 'Pair with the switch', ready: true }),
  task('LAMP-4', { status: 'in_progress', executionState: 'stalled', sessionId: 'ses_1' }),
]
export const FIRST: BoardUpdate = {
  tasks: TASKS,
  sessions: [session('ses_1', { task: 'LAMP-4', health: 'stalled' })],
  status: STATUS,
  state: LIVE,
}

/** The tasks, with one of them changed. */
export const withChanged = (id: string, fields: Partial<Task>) =>
  TASKS.map((it) => (it.id === id ? { ...it, ...fields } : it))

/** A board of the list of boards. */
export const listed = (path: string, fields: Partial<ListedBoard> = {}): ListedBoard => ({
  path,
  title: path,
  layout: 'cairn',
  store: 'present',
  counts: { tasks: 3, closed: 1, ready: 1 },
  sidecar: { state: 'running', lastSeenAt: '2026-03-03T09:00:00Z', version: '1.2.3' },
  ...fields,
})

export const detailOf = (id: string, more: Partial<TaskDetail> = {}): TaskDetail => ({
  ...task(id),
  runs: [],
  sessions: [],
  ...more,
})
