// The ids that a repository has seen and that are good only once, in its own SQLite: of sign-in
// links and tickets.

import type { Sql } from './sql.ts'

export type SpentIds = ReturnType<typeof sqliteSpentIds>

export const sqliteSpentIds = (sql: Sql) => ({
  /** False: it was spent before. Remembered until `expiresAt`; all times in ms. */
  spend: (id: string, expiresAt: number, now: number): boolean =>
    sql.transaction(() => {
      sql.all('DELETE FROM spent_ids WHERE expires_at <= ?', now)
      const spent = sql.all(
        'INSERT INTO spent_ids (id, expires_at) VALUES (?, ?) ON CONFLICT DO NOTHING RETURNING id',
        id,
        expiresAt,
      )
      return spent.length > 0
    }),
})
