// The small board that tests of the board view make up.

import type { Task } from '../../worker/board/wire.ts'
import type { TaskDetail } from '../../worker/console/client/index.ts'
import { CONFIG, session, task } from '../worker/console/page/board/some.ts'
import type { Told } from './board-page.ts'

export const STATUS = {
  config: CONFIG,
  store: 'present' as const,
  counts: { tasks: 4, sessions: 1, runs: 0 },
  sidecar: {},
  streams: 1,
  awakeSince: '2026-03-03T09:00:00Z',
}
export const LIVE = { name: 'live', since: 1, currentAt: 1 }
export const TASKS = [
  task('LAMP-1', { title: 'Dim slowly', ready: true, labels: ['comfort'] }),
  task('LAMP-2', { title: 'Read the sensor', deps: ['LAMP-1', 'LAMP-9'] }),
  task('LAMP-3', { title: 'Pair with the switch', ready: true }),
  task('LAMP-4', { status: 'in_progress', executionState: 'stalled', sessionId: 'ses_1' }),
]
export const FIRST: Told = {
  tasks: TASKS,
  sessions: [session('ses_1')],
  status: STATUS,
  state: LIVE,
}

/** The tasks, with one of them changed. */
export const withChanged = (id: string, fields: Partial<Task>) =>
  TASKS.map((it) => (it.id === id ? { ...it, ...fields } : it))

export const detailOf = (id: string, more: Partial<TaskDetail> = {}): TaskDetail => ({
  ...task(id),
  runs: [],
  sessions: [],
  ...more,
})

/** What axe finds that is serious, as text; axe itself must be in the page. */
export const FAULTS = `axe.run().then(({ violations }) => violations
  .filter(({ impact }) => impact === 'serious' || impact === 'critical')
  .map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html.slice(0, 120)).join(' | ')))`
