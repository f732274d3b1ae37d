// A board as a handful of values: what clients should see of it and be told of a change, by the
// contract's words and not by the sidecar's code.

import type { FakeBoard } from './fake-board.ts'
import { config, live, session, task } from './fake-board.ts'

export type Edit =
  | { do: 'save'; id: string; title: string; status: string; deps: readonly string[] }
  | { do: 'delete' | 'run' | 'beat' | 'end'; id: string }
  | { do: 'session'; id: string; of: string; status: string }
  | { do: 'rules'; closed: readonly string[] }
  | { do: 'wait'; ms: number }

type Content = Exclude<Edit, { do: 'wait' }> & { at?: number }

export interface State {
  /** Path → what stands there. */
  files: ReadonlyMap<string, Content>
  now: number
}

const STALE_MS = 1_000
const SESSIONS = ['s1', 's2']
const RULES: Content = { do: 'rules', closed: ['done'] }

export const FIRST: State = { files: new Map([['/s/config', RULES]]), now: 1_000 }

export function edited({ files, now }: State, edit: Edit): State {
  if (edit.do === 'wait') return { files, now: now + edit.ms }
  const after = new Map(files)
  if (edit.do === 'delete' || edit.do === 'end') after.delete(pathOf(edit))
  else after.set(pathOf(edit), edit.do === 'beat' ? { ...edit, at: now } : edit)
  return { files: after, now }
}

/** Writes the files that differ. */
export function write(
  fake: Pick<FakeBoard, 'put' | 'remove'>,
  before: State | undefined,
  after: State,
): void {
  for (const path of changedPaths(before, after)) {
    const content = after.files.get(path)
    if (content) fake.put(path, entryOf(content))
    else fake.remove(path)
  }
}

/** The rows of `GET /api/tasks`. */
export function rowsOf(state: State): object[] {
  const contents = [...state.files.values()]
  const tasks = contents.filter((it) => it.do === 'save')
  const closed = contents.find((it) => it.do === 'rules')?.closed ?? []
  const isClosed = (id: string) => tasks.some((it) => it.id === id && closed.includes(it.status))
  return tasks
    .toSorted((a, b) => (a.id < b.id ? -1 : 1))
    .map(({ id, title, status, deps }) => {
      const newest = SESSIONS.toReversed().find((it) => sessionOf(state, it)?.of === id)
      const health = newest && healthOf(state, newest)
      const unseen = isClosed(id) ? undefined : 'awaiting_review'
      const execution = health === 'finished' ? unseen : health
      const ready = !isClosed(id) && deps.every(isClosed)
      return { id, title, status, ready, ...(execution && { executionState: execution }) }
    })
}

/** What a window is told as, by the table of the contract; of a session its type alone. */
export function messageFor(before: State, after: State): string | null {
  const changed = changedPaths(before, after).map((path) => path.split('/').slice(2))
  const inFolder = (name: string) => changed.flatMap(([it, id = '']) => (it === name ? id : []))
  const tasks = new Set([...inFolder('tasks'), ...inFolder('runs')])
  if (inFolder('config').length > 0 || tasks.size > 1) return 'tasks-changed'
  const [only] = tasks
  if (only !== undefined) return `task-changed ${only}`
  const isTold = (id: string) =>
    inFolder('sessions').includes(id) ||
    (sessionOf(after, id) &&
      (inFolder('live').includes(id) || healthOf(before, id) !== healthOf(after, id)))
  return SESSIONS.some(isTold) ? 'session-changed' : null
}

function healthOf(state: State, id: string): string | undefined {
  const status = sessionOf(state, id)?.status
  if (status === undefined || status === 'finished') return status
  return state.now > (state.files.get(`/s/live/${id}`)?.at ?? 0) + STALE_MS ? 'stalled' : 'active'
}

function sessionOf({ files }: State, id: string): (Content & { do: 'session' }) | undefined {
  const content = files.get(`/s/sessions/${id}`)
  return content?.do === 'session' ? content : undefined
}

function changedPaths(before: State | undefined, after: State): string[] {
  const textOf = (state: State | undefined, path: string) => JSON.stringify(state?.files.get(path))
  const paths = new Set([...(before?.files.keys() ?? []), ...after.files.keys()])
  return [...paths].filter((path) => textOf(before, path) !== textOf(after, path))
}

function pathOf(edit: Exclude<Edit, { do: 'wait' }>): string {
  switch (edit.do) {
    case 'save':
    case 'delete':
      return `/s/tasks/${edit.id}`
    case 'session':
      return `/s/sessions/${edit.id}`
    case 'beat':
    case 'end':
      return `/s/live/${edit.id}`
    case 'run':
      return `/s/runs/${edit.id}`
    case 'rules':
      return '/s/config'
  }
}

function entryOf(content: Content) {
  switch (content.do) {
    case 'save': {
      const { id, title, status, deps } = content
      return task(id, { title, status, deps: [...deps], activeAttempt: 'a1' })
    }
    case 'session':
      return session(content.id, content.of, content.status)
    case 'beat':
      return live(content.id, content.at ?? 0)
    case 'run': {
      const { id } = content
      const run = { file: id, exit: 0, timedout: false }
      return { kind: 'run' as const, id, task: id, run }
    }
    case 'rules':
      return config([...content.closed])
    case 'delete':
    case 'end':
      throw new Error('what is gone has no content')
  }
}
