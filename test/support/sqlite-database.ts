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
  /** Leaves the tables of a fresh database. */
  wipe(): void
}

export function sqliteDatabase(): SqliteDatabase {
  const schema = readFileSync('schema.sql', 'utf8')
  let database: DatabaseSync
  let prepared: Map<string, StatementSync>

  function wipe(): void {
    database = new DatabaseSync(':memory:')
    prepared = new Map()
    database.exec(schema)
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
    write: inTransaction('BEGIN IMMEDIATE'),
    load: inTransaction('BEGIN'),
    read: inTransaction('BEGIN'),
  }
}

const bound = (value: Statement['args'][string]): SQLInputValue =>
  typeof value === 'boolean' ? Number(value) : value
