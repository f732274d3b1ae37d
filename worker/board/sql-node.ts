// SQLite of the host process, under Node and Deno alike.

import { DatabaseSync, type StatementSync } from 'node:sqlite'
import type { Sql } from './sql.ts'

/** `file` may be `:memory:`. The caller closes it by `close()`. */
export function openSql(file: string): Sql & { close(): void } {
  const database = new DatabaseSync(file)
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL')
  const statements = new Map<string, StatementSync>()
  const prepare = (query: string) => {
    const known = statements.get(query) ?? database.prepare(query)
    statements.set(query, known)
    return known
  }
  let depth = 0
  const sql: Sql = {
    all: <Row>(query: string, ...values: (string | number | null)[]) =>
      prepare(query).all(...values) as Row[],
    transaction(run) {
      if (depth > 0) return run()
      database.exec('BEGIN IMMEDIATE')
      depth++
      try {
        const result = run()
        database.exec('COMMIT')
        return result
      } catch (error) {
        database.exec('ROLLBACK')
        throw error
      } finally {
        depth--
      }
    },
  }
  return { ...sql, close: () => database.close() }
}
