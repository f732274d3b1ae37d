// What the sidecar remembers of a file: enough to derive from and to notice a change, never a
// title or a body. At 100,000 tasks every byte here is a tenth of a megabyte.

import type { Entry, Parsed, Standing, Store } from '../layouts/layout.ts'
import { compact, digest, interned } from './compact.ts'
import type { SeenStat } from './file-stat.ts'

/** A board that does not say: cairn's own default. */
export const STALE_AFTER_MS = 180_000

interface Origin {
  path: string
  /** The hash of the bytes that this fact was read from. */
  hash: string
  /** The published entry's hash, over all fields: a change of any field makes another record. */
  sent: string
  /** The linked worktree that has it. Absent: the main tree. */
  tree?: string
}

export interface TaskFact extends Origin {
  kind: 'task'
  id: string
  status: string
  standing: Standing | undefined
  isMisnamed: boolean
  /** Folded id. */
  milestone: string | undefined
  deps: readonly string[]
  attempt: string | undefined
}

export interface SessionFact extends Origin {
  kind: 'session'
  id: string
  task: string
  attempt: string
  status: string
  startedAtMs: number
  /** It is in a tree of another branch than it ran on. */
  isElsewhere?: true
}

export interface LiveFact extends Origin {
  kind: 'live'
  id: string
  heartbeatAtMs: number
}

interface RunFact extends Origin {
  kind: 'run'
  id: string
}

interface BoardFact extends Origin {
  kind: 'board'
  id: 'board'
  /** False: nobody knows which statuses are closed now, so nothing is ready. */
  isRead: boolean
  /** As in the last configuration that could be read. */
  closed: readonly string[]
  states: readonly string[]
  staleAfterMs: number
  /** With which the names of files begin. */
  prefix: string | undefined
  project: string | undefined
}

interface SettingFact extends Origin {
  kind: 'setting'
  id: string
  value: string
}

export type Fact = TaskFact | SessionFact | LiveFact | RunFact | BoardFact | SettingFact
/** What everything else is derived by. */
export type Rules = Pick<BoardFact, 'isRead' | 'closed' | 'states' | 'staleAfterMs' | 'prefix'>

/** A file that was read and parsed. */
export interface ParsedFile extends Parsed {
  /** The whole text's. */
  hash: string
  /** Length of the text, which the entries keep alive. */
  chars: number
  /** As it was before the text was read: a write meanwhile then differs. */
  stat?: SeenStat
  /** In a linked worktree: the ids that git may have given the file's bytes. */
  blobs?: readonly string[]
}

/** In place of the path of a configuration that is in no file. */
export const NO_FILE = ''

/** What is known of a file. */
export interface FileFacts {
  hash: string
  facts: readonly Fact[]
  stat: SeenStat | undefined
}

/** What is kept of a file for the next start. */
export interface SavedFile extends FileFacts {
  /** Facts that were not published under their own id. */
  besides: ReadonlySet<Fact>
}

const NO_DEPS: readonly string[] = []

/** Milliseconds of a time as a file spells it; 0, long ago, when it cannot be read. */
const timeOf = (text: string): number => Date.parse(text) || 0

/** The file of an entry. */
type EntryFile = Pick<ParsedFile, 'hash' | 'state'> & { path: string }

/** The facts of one entry; undefined when nothing in it counts (a live file out of order). */
export function factOf(
  { path, hash: fileHash, state }: EntryFile,
  entry: Entry,
  lastRules: Rules | undefined,
): Fact | undefined {
  const sent = digest(JSON.stringify(entry))
  switch (entry.kind) {
    case 'task': {
      const { status, deps, activeAttempt, milestone } = entry.task
      return {
        kind: 'task',
        path,
        id: compact(entry.id),
        hash: entry.source === undefined ? fileHash : digest(entry.source),
        sent,
        status: interned(status),
        // What cannot be read whole is never ready.
        standing: entry.standing ?? (entry.task.invalid === undefined ? undefined : 'held'),
        isMisnamed: entry.isMisnamed === true,
        milestone: milestone === undefined ? undefined : interned(milestone),
        deps: deps === undefined || deps.length === 0 ? NO_DEPS : deps.map(compact),
        attempt: activeAttempt === undefined ? undefined : compact(activeAttempt),
      }
    }
    case 'session': {
      const { task, attempt, status, startedAt } = entry.session
      return {
        kind: 'session',
        path,
        id: compact(entry.id),
        hash: fileHash,
        sent,
        task: compact(task),
        attempt: compact(attempt),
        status: interned(status),
        startedAtMs: timeOf(startedAt),
      }
    }
    case 'live': {
      const heartbeatAtMs = timeOf(entry.live.heartbeatAt)
      // Half of a heartbeat must not make a session stalled: without one, its start counts.
      if (heartbeatAtMs === 0) return undefined
      return { kind: 'live', path, id: compact(entry.id), hash: fileHash, sent, heartbeatAtMs }
    }
    case 'run':
      return { kind: 'run', path, id: compact(entry.id), hash: fileHash, sent }
    case 'setting':
      return { kind: 'setting', path, id: entry.id, hash: fileHash, sent, value: entry.value }
    case 'board': {
      const { board, staleAfterMs } = entry
      const given = {
        closed: board.closed.map(compact),
        states: board.states.map(compact),
        staleAfterMs: staleAfterMs ?? STALE_AFTER_MS,
        prefix: board.prefix === undefined ? undefined : compact(board.prefix),
      }
      // Of a broken list the configuration may be whole.
      const isRead = state === 'ok' || board.invalid === undefined
      const rules = { ...((!isRead && lastRules) || given), isRead }
      // Not of the file's bytes: a file that also holds the tasks would be a new configuration
      // with every save of a task, and every client would fetch the whole board.
      const hash = digest(JSON.stringify([board, rules.staleAfterMs, isRead]))
      const project = board.project === undefined ? undefined : compact(board.project)
      return { kind: 'board', path, id: 'board', hash, sent: hash, ...rules, project }
    }
  }
}

/** The log of a run counts as a file of its task. */
export const isOfTask = ({ kind }: Fact): boolean => kind === 'task' || kind === 'run'

/** Under which name a fact is looked up: ids that a tool takes for the same are the same here. */
export const nameOf = (store: Pick<Store, 'fold'>, kind: Fact['kind'], id: string): string =>
  kind === 'task' ? `task:${store.fold(id)}` : `${kind}:${id}`

/** One after the other, without a list of 100,000. */
export function* factsIn(...tables: readonly { facts(): Iterable<Fact> }[]): Generator<Fact> {
  for (const table of tables) yield* table.facts()
}
