// Spent ids in the repository's own SQLite.

import type { SpentIds } from './spent-ids.ts'
import type { Sql } from './sql.ts'

export const sqliteSpentIds = (sql: Sql): SpentIds => ({
  spend: (id, expiresAt, now) =>
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
