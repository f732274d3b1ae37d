// The payments' database in this process: SQLite in memory behind the same port, with the schema
// that the server gets. What a test then needs no server for is played in microseconds.

import { readFileSync } from 'node:fs'
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite'
import type {
  Database,
  Row,
  Statement,
} from '../../worker/payments/ledger/libsql/database-libsql.ts'

export interface SqliteDatabase extends Database {
  /** Leaves what the script makes of an empty database. */
  wipe(): void
  /** Several statements at once, without their rows. */
  exec(sql: string): void
  /** The rows of one statement; a parameter without a value is NULL. */
  all(sql: string): Row[]
}

/** `script`: instead of schema.sql. */
export function sqliteDatabase(script = readFileSync('schema.sql', 'utf8')): SqliteDatabase {
  let database: DatabaseSync
  let prepared: Map<string, StatementSync>

  function wipe(): void {
    database = new DatabaseSync(':memory:')
    prepared = new Map()
    database.exec(script)
  }

  function rowsOf({ sql, args }: Statement): Row[] {
    const known = prepared.get(sql) ?? database.prepare(sql)
    prepared.set(sql, known)
    const named = Object.entries(args).map(([name, value]) => [`:${name}`, bound(value)])
    return known.all(Object.fromEntries(named)).map((row) => ({ ...row })) as Row[]
  }

  const inTransaction = (begin: string) => async (statements: readonly Statement[]) => {
    database.exec(begin)
    try {
      const results = statements.map(rowsOf)
      database.exec('COMMIT')
      return results
    } catch (error) {
      database.exec('ROLLBACK')
      throw error
    }
  }

  wipe()
  return {
    wipe,
    exec: (sql) => database.exec(sql),
    all: (sql) =>
      database
        .prepare(sql)
        .all()
        .map((row) => ({ ...row })) as Row[],
    write: inTransaction('BEGIN IMMEDIATE'),
    load: inTransaction('BEGIN'),
    read: inTransaction('BEGIN'),
  }
}

const bound = (value: Statement['args'][string]): SQLInputValue =>
  typeof value === 'boolean' ? Number(value) : value
