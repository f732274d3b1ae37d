// The types of a repository's read model: its state, its filters and its rows.

import type * as z from 'zod'
import type { sessionsQuery, tasksQuery } from '../queries.ts'
import type { Touched } from '../streams/message.ts'
import type { DataRecord, Place, Reading, StoreState } from '../wire.ts'

/** Everything that a repository stores besides its records and its log. */
export interface RepositoryState {
  epoch: string
  /** The sidecar run that may publish, and its last batch. 0 before the first sync. */
  run: number
  batch: number
  /** That sidecar has ended in order. */
  ended?: boolean
  /** A first sync is complete. Until then, there is no repository for readers. */
  published: boolean
  /** Rise with every change to what the list of tasks shows, and that of sessions. */
  tasksRev: number
  sessionsRev: number
  /** A sync has named records that the edge does not have yet. */
  lacking: boolean
  /**
   * Applied, but clients have no message yet. It is stored, so that no change stays without a
   * message when a sidecar ends between two parts of it.
   */
  pending: Touched
  /** What claims may have to follow once this change is whole, and which tasks may be theirs. */
  moved?: Moved
  candidates?: CandidateTask[]
  /** The session that began last, kept when it is deleted. */
  newestSession?: { id: string; startedAt: string }
  store: 'present' | 'missing'
  /** Known before the configuration: a new board may have none yet. */
  layout?: StoreState['layout']
  sidecarVersion?: string
  /** Until a first sync is complete: how far the sidecar has read. */
  reading?: Reading
  /** The sidecar finds changes by scans alone, because its watcher has failed. */
  unwatched?: boolean
  lastSeenAt?: number
  /** The socket of the sidecar that leads. `isFreed`: one that waits may publish. In ms. */
  socket?: { run: number; since: number; closedAt?: number; isFreed?: true }
  /** Clients were informed that the sidecar is gone, since then (ms). */
  offlineSince?: number
  /** When the edge last held all that the sidecar saw (ms). */
  currentAt?: number
  /** Where git has the main tree. */
  main?: Place
  /** git switched the main tree, and what follows from that is not whole yet. */
  isSwitching?: true
  /** Until the board is published: whether the history knows its tasks of an earlier life. */
  recording?: 'first' | 'again'
  /** When the head of the history was last a line of the log (ms). */
  headLineAt?: number
}

/** What the parts of a publication brought that claims may follow, until it is whole. */
export interface Moved {
  /** Tasks that have the title of a claim and are new, or had another: their ids. */
  named: string[]
  /** Tasks without a number that went, and that came, in the lists of claims. */
  went: ListPlace[]
  came: ListPlace[]
}

/** Where a task without a number stands. */
export interface ListPlace {
  id: string
  parent: string
  rank: number | undefined
}

/** A task that may be that of a claim: nobody else may take it until then (ms). */
export interface CandidateTask {
  id: string
  generation: number
  until: number
}

/** What `tasksQuery` filters by. Its conditions are in columns-sqlite.ts. */
export type TaskFilter = Omit<z.infer<typeof tasksQuery>, NotFilters | 'ready'> & {
  ready?: boolean
}

/** With these a list depends on sessions and on the time, too. */
export const isByState = ({ work, review }: TaskFilter): boolean =>
  work !== undefined || review !== undefined

export type SessionFilter = Omit<z.infer<typeof sessionsQuery>, NotFilters>

type NotFilters = 'path' | 'since' | 'after' | 'limit'

/** A row of a list. */
export interface Row {
  id: string
  hash: string
  json: string
}

/** The position of a row in a list that is ordered by time (ms), then id. */
export interface Cursor {
  at: number
  id: string
}

export type CursorRow = Row & Cursor

/** What a reader can ask for by what changed of it. */
export type List = 'tasks' | 'sessions'

/** A row that changed. */
export interface ChangedRow extends Row {
  /** The number of the message about it. */
  seq: number
  /** It matches the filter. */
  shown: boolean
}

/** What writing a record has changed. */
export interface PutResult {
  record: DataRecord
  /** `follows`: a task has changed, but its own file has not. */
  change: 'follows' | 'changed'
  /** What a list shows of it has changed, too. */
  inList: boolean
  /** The row of a task until now, and its checks, as JSON. */
  before?: string
  checks?: string | null | undefined
}
