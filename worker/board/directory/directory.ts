// The port of the directory: which boards there are, with a few facts of each, so that a list of
// them wakes no repository. One for a deployment: a Durable Object or a file of the process. And
// the rules that its adapters have in common. Pure.

import { isRecent } from '../../shared/clock.ts'
import type { Repos } from '../../shared/repos.ts'
import { type BoardReport, HEARTBEAT_MS } from '../wire.ts'

export interface Directory {
  /**
   * Stores the report of a board in place of its last one. `superseded`: it was not stored, since
   * a later sidecar publishes this board; `full`: nor was it, since there is no room for a new one.
   * The caller has validated both.
   */
  put(path: string, report: BoardReport, by: Reporter): Promise<Put>
  /** The boards that `repos` cover, sorted by path. */
  list(repos: Repos, now: number): Promise<BoardRow[]>
  /** The board was found to be offline: says so, unless it reported after that was read. In ms. */
  offline(path: string, found: { since: number; readAt: number }): Promise<void>
  /** Drops the row of a board that no sidecar publishes. The caller has validated the path. */
  forget(path: string, now: number): Promise<Forgotten>
}

export type Put = 'stored' | 'superseded' | 'full'
export type Forgotten = 'forgotten' | 'published' | 'unknown'

/** As the edge is configured. */
export interface DirectoryLimits {
  /** The boards that are kept at most, of all holders. */
  maxBoards: number
}

export interface Reporter extends DirectoryLimits {
  /** A hash of the token's subject. */
  holder: string
  /** ms */
  now: number
}

export interface BoardRow {
  path: string
  report: BoardReport
  /** When the report came, in ms, or since when it is offline. */
  seenAt: number
  isOffline: boolean
}

/** With one token that covers a prefix, somebody must not fill the directory of all. */
export const shareOf = (maxBoards: number): number => Math.max(1, Math.floor(maxBoards / 4))

/** A board that no sidecar reported for so long is forgotten. */
export const FORGET_MS = 30 * 24 * 3_600_000
/** After that it is offline, though nobody has asked. A machine may have slept over a heartbeat. */
export const ROW_SILENT_MS = HEARTBEAT_MS + 3_600_000

/** Whether the sidecar of the row holds it against those that started earlier. */
export const holdsRow = (row: Omit<BoardRow, 'path'>, now: number): boolean =>
  stateOf(row, now) === 'running'

/** In the order of `GET /api/boards`: what runs first, what is gone last. `rows`: by path. */
export const inOrder = (rows: readonly BoardRow[], now: number): BoardRow[] =>
  rows.toSorted((one, other) => placeOf(one, now) - placeOf(other, now))

const placeOf = (row: BoardRow, now: number): number =>
  row.report.store === 'missing' ? 2 : holdsRow(row, now) ? 0 : 1

/** A board as `GET /api/boards` lists it. */
export function listedBoard(row: BoardRow, now: number) {
  const { path, report, seenAt } = row
  const { run: _, sidecar, changedAt, ...board } = report
  return {
    path,
    ...board,
    sidecar: {
      state: stateOf(row, now),
      lastSeenAt: new Date(seenAt).toISOString(),
      version: sidecar.version,
    },
    ...(changedAt !== undefined && { lastChangeAt: changedAt }),
  }
}

function stateOf({ report, seenAt, isOffline }: Omit<BoardRow, 'path'>, now: number) {
  if (report.sidecar.state === 'ended') return 'ended'
  return !isOffline && isRecent(seenAt, ROW_SILENT_MS, now) ? 'running' : 'offline'
}
