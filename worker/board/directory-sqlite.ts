// The directory of boards in SQLite: of a Durable Object, or of a process.

import { coversPath } from '../shared/repos.ts'
import type { Sql } from '../shared/sql.ts'
import { type Directory, FORGET_MS, isHeld, MAX_BOARDS } from './directory.ts'
import type { BoardReport } from './wire.ts'

interface Stored extends Record<string, string | number> {
  path: string
  report: string
  seen_at: number
}

export function sqliteDirectory(sql: Sql, maxBoards = MAX_BOARDS): Directory {
  // A report again changes one row, and no index beside it: Cloudflare counts each.
  sql.all(`CREATE TABLE IF NOT EXISTS boards (
    path TEXT PRIMARY KEY, report TEXT NOT NULL, seen_at REAL NOT NULL) WITHOUT ROWID`)
  const read = ({ path, report, seen_at }: Stored) => ({
    path,
    report: JSON.parse(report) as BoardReport,
    seenAt: seen_at,
  })

  function makeRoom(now: number): void {
    sql.all('DELETE FROM boards WHERE seen_at <= ?', now - FORGET_MS)
    sql.all(
      `DELETE FROM boards WHERE path IN (
        SELECT path FROM boards ORDER BY seen_at DESC LIMIT -1 OFFSET ?)`,
      maxBoards - 1,
    )
  }

  return {
    put: async (path, report, now) =>
      sql.transaction(() => {
        const [known] = sql.all<Stored>('SELECT * FROM boards WHERE path = ?', path).map(read)
        if (known && report.run < known.report.run && isHeld(known, now)) return false
        if (!known) makeRoom(now)
        sql.all(
          `INSERT INTO boards (path, report, seen_at) VALUES (?, ?, ?) ON CONFLICT (path) DO
            UPDATE SET report = excluded.report, seen_at = excluded.seen_at`,
          ...[path, JSON.stringify(report), now],
        )
        return true
      }),
    list: async (repos, now) =>
      sql
        .all<Stored>('SELECT * FROM boards WHERE seen_at > ? ORDER BY path', now - FORGET_MS)
        .filter(({ path }) => coversPath(repos, path))
        .map(read),
  }
}
