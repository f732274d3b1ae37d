// The list of ended sessions in the database of payments, so that all processes that share the
// database share it. It is no part of the ledger, whose saves it neither reads nor changes.

import type { Database } from './payments/ledger/libsql/database-libsql.ts'
import { statement } from './payments/ledger/libsql/statement-libsql.ts'
import type { EndedSessions } from './shared/ended-sessions.ts'

const WRITE_WITHIN_MS = 10_000

export const libsqlEndedSessions = (database: Pick<Database, 'read' | 'write'>): EndedSessions => ({
  async end(sid, expiresAt, now) {
    await database.write(
      [
        statement('DELETE FROM ended_sessions WHERE expires_at <= :now', { now }),
        statement(
          `INSERT INTO ended_sessions (sid, expires_at) VALUES (:sid, :expires_at)
            ON CONFLICT DO NOTHING`,
          { sid, expires_at: expiresAt },
        ),
      ],
      AbortSignal.timeout(WRITE_WITHIN_MS),
    )
  },
  async has(sid) {
    const one = statement('SELECT 1 AS found FROM ended_sessions WHERE sid = :sid', { sid })
    const [rows = []] = await database.read([one])
    return rows.length > 0
  },
})
