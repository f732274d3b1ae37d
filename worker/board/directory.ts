// The port of the directory: which boards there are, with a few facts of each, so that a list of
// them wakes no repository. One for a deployment: a Durable Object or a file of the process. And
// the rules that its adapters have in common. Pure.

import type { Repos } from '../shared/repos.ts'
import { type BoardReport, HEARTBEAT_MS } from './wire.ts'

export interface Directory {
  /**
   * Stores the report of a board in place of its last one. False: it was not stored, since a later
   * sidecar publishes this board. The caller has validated both; `now` in ms.
   */
  put(path: string, report: BoardReport, now: number): Promise<boolean>
  /** The boards that `repos` cover, sorted by path. */
  list(repos: Repos, now: number): Promise<BoardRow[]>
}

export interface BoardRow {
  path: string
  report: BoardReport
  /** When the report came, in ms. */
  seenAt: number
}

/** The boards kept at most. One more takes the place of the one that was silent for longest. */
export const MAX_BOARDS = 10_000
/** A board that no sidecar reported for so long is forgotten. */
export const FORGET_MS = 30 * 24 * 3_600_000
/** One heartbeat that needs a few tries is not silence yet. */
const SILENT_MS = HEARTBEAT_MS + 120_000

/** Whether the sidecar of the row holds it against those that started earlier. */
export const isHeld = (row: Omit<BoardRow, 'path'>, now: number): boolean =>
  stateOf(row, now) === 'running'

/** A board as `GET /api/boards` lists it. */
export function listedBoard({ path, report, seenAt }: BoardRow, now: number) {
  const { run: _, sidecar, changedAt, ...board } = report
  return {
    path,
    ...board,
    sidecar: {
      state: stateOf({ report, seenAt }, now),
      lastSeenAt: new Date(seenAt).toISOString(),
      version: sidecar.version,
    },
    ...(changedAt !== undefined && { lastChangeAt: changedAt }),
  }
}

function stateOf({ report, seenAt }: Omit<BoardRow, 'path'>, now: number) {
  if (report.sidecar.state === 'ended') return 'ended'
  // A time far ahead of `now` was taken before the clock was set back, and means nothing.
  return Math.abs(now - seenAt) < SILENT_MS ? 'running' : 'silent'
}
