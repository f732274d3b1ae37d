// Tasks and boards to try the board's logic on.

import type { Session, Task } from '../../../../../worker/board/wire.ts'
import type { Board, CardData } from '../../../../../worker/console/page/board/cards.ts'

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
})
