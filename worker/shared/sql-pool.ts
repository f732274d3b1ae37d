// SQLite files of which only so many are open at once: each takes three descriptors, and whoever
// holds a token for a prefix can name as many repositories as they like.

import { isDamaged } from './file-errors.ts'
import type { Sql } from './sql.ts'

type OpenSql = Sql & { close(): void }

export interface SqlPool {
  /**
   * Open while it is used, and as long as there is room. `onDamaged`: it is damaged, and closed.
   * What asked gets the error all the same.
   */
  sql(file: string, onDamaged?: () => void): Sql
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
  /** A transaction has calls in it: it is closed after the last one of them. */
  let depth = 0
  function judged<Result>(work: () => Result, file: string, onDamaged?: () => void): Result {
    depth++
    try {
      return work()
    } catch (error) {
      if (depth === 1 && isDamaged(error)) {
        opened.get(file)?.close()
        opened.delete(file)
        onDamaged?.()
      }
      throw error
    } finally {
      depth--
    }
  }
  return {
    sql: (file, onDamaged) => ({
      all: (query, ...values) => judged(() => use(file).all(query, ...values), file, onDamaged),
      transaction: (run) => judged(() => use(file).transaction(run), file, onDamaged),
    }),
    close() {
      for (const sql of opened.values()) sql.close()
      opened.clear()
    },
  }
}
