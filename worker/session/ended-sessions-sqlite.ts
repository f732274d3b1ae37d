// The list of ended sessions in SQLite: of a Durable Object, or of a process that has no database
// of payments.

import type { EndedSessions } from '../shared/ended-sessions.ts'
import type { Sql } from '../shared/sql.ts'

export function sqliteEndedSessions(sql: Sql): EndedSessions {
  sql.all(`CREATE TABLE IF NOT EXISTS ended_sessions (
    sid TEXT PRIMARY KEY, expires_at REAL NOT NULL)`)
  return {
    async end(sid, expiresAt, now) {
      sql.transaction(() => {
        sql.all('DELETE FROM ended_sessions WHERE expires_at <= ?', now)
        sql.all(
          'INSERT INTO ended_sessions (sid, expires_at) VALUES (?, ?) ON CONFLICT DO NOTHING',
          sid,
          expiresAt,
        )
      })
    },
    has: async (sid) =>
      sql.all('SELECT 1 AS found FROM ended_sessions WHERE sid = ?', sid).length > 0,
  }
}
