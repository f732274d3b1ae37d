// The port of a repository's read model: its records, the sums over their hashes, and its one row
// of state. Synchronous, because a repository decides and writes in one turn.

import type { Touched } from './message.ts'
import type { DataRecord, Key, StoreState } from './wire.ts'

/** Everything a repository remembers besides its records and its log. */
export interface RepositoryState {
  epoch: string
  /** The sidecar run that may publish, and its last batch. 0 before the first sync. */
  run: number
  batch: number
  /** A first sync was taken in whole: until then readers are told that there is no repository. */
  published: boolean
  /** Rise with every change to a task row, and to a session row. */
  tasksRev: number
  sessionsRev: number
  /** A sync under way named records that the edge lacks: what it has is not whole yet. */
  lacking: boolean
  /**
   * Applied but not yet told to clients. A row, so that a sidecar's death between two parts of a
   * change leaves no silent one.
   */
  pending: Touched
  /** The session that began last, kept when it is deleted. */
  newestSession?: { id: string; startedAt: string }
  store: StoreState['state']
  /** Known before the configuration is: a fresh board may have none yet. */
  layout?: StoreState['layout']
  sidecarVersion?: string
  lastSeenAt?: number
}

export interface TaskFilter {
  status?: string
  assignee?: string
  ready?: boolean
  execution?: string
  label?: string
}

export interface SessionFilter {
  task?: string
  actor?: string
  status?: string
  health?: string
}

/** A row of a list: where it stands, and its JSON. */
export interface Row {
  id: string
  hash: string
  json: string
}

/** Where a row stands in a list that is ordered by time (ms), then id. */
export interface Place {
  at: number
  id: string
}

export type PlacedRow = Row & Place

/** `follows`: a task is another than it was, though its own file is not. */
export type PutResult = 'same' | 'follows' | 'changed'

export interface BoardStore {
  /** All of it or nothing; `run` must not await, and ends with `save` when it changed anything. */
  transaction<T>(run: () => T): T
  state(): RepositoryState
  save(state: RepositoryState): void

  /** Writes the record unless the same hash is stored. */
  put(record: DataRecord): PutResult
  /** The key that clients know the removed record by (a run's is its task's); undefined: none. */
  remove(key: Key): Key | undefined
  root(): string
  /** The 256 bucket sums. */
  buckets(): string[]
  /** Keys and hashes of these buckets. */
  entries(buckets: readonly number[]): Map<Key, string>

  /** One page of light tasks, ordered by id, after `after`. */
  tasks(filter: TaskFilter, after: string, limit: number): Row[]
  /** The whole task, body included. */
  task(id: string): Row | undefined
  /** One page of sessions, newest first, after `after`. */
  sessions(filter: SessionFilter, after: Place | undefined, limit: number): PlacedRow[]
  session(id: string): Row | undefined
  /** One page of a task's runs, newest first, after `after`. */
  runs(task: string, after: Place | undefined, limit: number): PlacedRow[]
  /** Hashes of a task's runs and sessions. */
  relatedHashes(task: string): string[]
  config(): Row | undefined
  counts(): { tasks: number; sessions: number; runs: number; invalid: number }
}
