// SQLite of the host process, under Node and Deno alike.

import { DatabaseSync, type StatementSync } from 'node:sqlite'
import type { Sql } from './sql.ts'

/** `file` may be `:memory:`. The caller closes it by `close()`. */
export function openSql(file: string): Sql & { close(): void } {
  const database = new DatabaseSync(file)
  // FULL: what was told may not be undone by a power loss, or its event id would be told again of
  // something else, and a client that has seen it would miss the second.
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL')
  const statements = new Map<string, StatementSync>()
  const prepare = (query: string) => {
    const known = statements.get(query) ?? database.prepare(query)
    statements.set(query, known)
    return known
  }
  const sql: Sql = {
    all: <Row>(query: string, ...values: (string | number | null)[]) =>
      prepare(query).all(...values) as Row[],
    transaction(run) {
      database.exec('BEGIN IMMEDIATE')
      try {
        const result = run()
        database.exec('COMMIT')
        return result
      } catch (error) {
        database.exec('ROLLBACK')
        throw error
      }
    },
  }
  return { ...sql, close: () => database.close() }
}
