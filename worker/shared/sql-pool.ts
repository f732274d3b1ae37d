// SQLite files of which only so many are open at once: each takes three descriptors, and whoever
// holds a token for a prefix can name as many repositories as they like.

import type { Sql } from './sql.ts'

type OpenSql = Sql & { close(): void }

export interface SqlPool {
  /** Open while it is used, and as long as there is room. */
  sql(file: string): Sql
  close(): void
}

/** Everything in a `Sql` is done when it returns, so a file may be closed between two calls. */
export function sqlPool(max: number, open: (file: string) => OpenSql): SqlPool {
  /** The longest unused one first. */
  const opened = new Map<string, OpenSql>()
  const use = (file: string): OpenSql => {
    const known = opened.get(file)
    opened.delete(file)
    for (const [unused, sql] of opened) {
      if (opened.size < max) break
      opened.delete(unused)
      sql.close()
    }
    const sql = known ?? open(file)
    opened.set(file, sql)
    return sql
  }
  return {
    sql: (file) => ({
      all: (query, ...values) => use(file).all(query, ...values),
      transaction: (run) => use(file).transaction(run),
    }),
    close() {
      for (const sql of opened.values()) sql.close()
      opened.clear()
    },
  }
}
