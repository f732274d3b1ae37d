// SQLite of the host process, under Node and Deno alike.

import process from 'node:process'
import type { StatementSync } from 'node:sqlite'
import type { Sql } from './sql.ts'

const { DatabaseSync } = withoutWarning(() => process.getBuiltinModule('node:sqlite'))

/** Node 22 warns at the user's terminal that it is experimental. */
function withoutWarning<Result>(load: () => Result): Result {
  const { emitWarning } = process
  process.emitWarning = () => undefined
  try {
    return load()
  } finally {
    process.emitWarning = emitWarning
  }
}

/** `file` may be `:memory:`. The caller closes it by `close()`. */
export function openSql(file: string): Sql & { close(): void } {
  const database = new DatabaseSync(file)
  try {
    // FULL: a power loss must not undo a message that clients have got. Its event id would be used
    // again for another message, and those clients would miss that one.
    database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL')
  } catch (error) {
    database.close()
    throw error
  }
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
        // A full disk has ended it already.
        if (database.isTransaction) database.exec('ROLLBACK')
        throw error
      }
    },
  }
  return { ...sql, close: () => database.close() }
}

/** A file that stays as it is, without a log beside it. The caller closes it. */
export function openToRead(file: string) {
  const database = new DatabaseSync(file, { readOnly: true })
  return {
    all: (sql: string): object[] => database.prepare(sql).all() as object[],
    close: () => database.close(),
  }
}
