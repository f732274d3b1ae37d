// What a repository's read model holds: its one row of state, its filters and its rows.

import type { Touched } from './message.ts'
import type { StoreState } from './wire.ts'

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
