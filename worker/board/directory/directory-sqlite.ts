// The directory of boards in SQLite: of a Durable Object, or of a process.

import { coversPath } from '../../shared/repos.ts'
import type { Sql } from '../../shared/sql.ts'
import type { BoardReport } from '../wire.ts'
import {
  type Directory,
  FORGET_MS,
  holdsRow,
  type Reporter,
  ROW_SILENT_MS,
  shareOf,
} from './directory.ts'

interface Stored extends Record<string, string | number> {
  path: string
  report: string
  seen_at: number
  is_offline: number
}

export function sqliteDirectory(sql: Sql): Directory {
  // A report again changes one row, and no index beside it: Cloudflare counts each.
  sql.all(`CREATE TABLE IF NOT EXISTS boards (
    path TEXT PRIMARY KEY, report TEXT NOT NULL, seen_at REAL NOT NULL, holder TEXT NOT NULL,
    is_offline INTEGER NOT NULL DEFAULT 0) WITHOUT ROWID`)
  const read = ({ path, report, seen_at, is_offline }: Stored) => ({
    path,
    report: JSON.parse(report) as BoardReport,
    seenAt: seen_at,
    isOffline: is_offline === 1,
  })

  /** False: every row that could make room is of a sidecar that runs. */
  function makeRoom({ holder, maxBoards, now }: Reporter): boolean {
    sql.all('DELETE FROM boards WHERE seen_at <= ?', now - FORGET_MS)
    const [count = { all: 0, own: 0 }] = sql.all<{ all: number; own: number }>(
      'SELECT COUNT(*) AS "all", COALESCE(SUM(holder = ?), 0) AS own FROM boards',
      holder,
    )
    const isShareFull = count.own >= shareOf(maxBoards)
    if (!isShareFull && count.all < maxBoards) return true
    const dropped = sql.all(
      `DELETE FROM boards WHERE path = (
        SELECT path FROM boards
        WHERE (is_offline OR json_extract(report, '$.sidecar.state') = 'ended'
            OR abs(? - seen_at) >= ?)
          AND (holder = ? OR NOT ?)
        ORDER BY seen_at LIMIT 1) RETURNING path`,
      now,
      ROW_SILENT_MS,
      holder,
      isShareFull ? 1 : 0,
    )
    return dropped.length > 0
  }

  return {
    put: async (path, report, by) =>
      sql.transaction(() => {
        const { holder, now } = by
        const [known] = sql.all<Stored>('SELECT * FROM boards WHERE path = ?', path).map(read)
        if (known && report.run < known.report.run && holdsRow(known, now)) return 'superseded'
        if (!known && !makeRoom(by)) return 'full'
        sql.all(
          `INSERT INTO boards (path, report, seen_at, holder) VALUES (?, ?, ?, ?) ON CONFLICT (path)
            DO UPDATE SET report = excluded.report, seen_at = excluded.seen_at,
              holder = excluded.holder, is_offline = 0`,
          path,
          JSON.stringify(report),
          now,
          holder,
        )
        return 'stored'
      }),
    offline: async (path, { since, readAt }) => {
      sql.all(
        `UPDATE boards SET is_offline = 1, seen_at = ?
          WHERE path = ? AND NOT is_offline AND seen_at <= ?`,
        since,
        path,
        readAt,
      )
    },
    forget: async (path, now) =>
      sql.transaction(() => {
        const [known] = sql.all<Stored>('SELECT * FROM boards WHERE path = ?', path).map(read)
        if (!known) return 'unknown'
        if (holdsRow(known, now)) return 'published'
        sql.all('DELETE FROM boards WHERE path = ?', path)
        return 'forgotten'
      }),
    list: async (repos, now) =>
      sql
        .all<Stored>('SELECT * FROM boards WHERE seen_at > ? ORDER BY path', now - FORGET_MS)
        .filter(({ path }) => coversPath(repos, path))
        .map(read),
  }
}
