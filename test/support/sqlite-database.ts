// The database of payments in memory, with the adapter of the Node host: much faster than a server,
// for tests that need none.

import { readFileSync } from 'node:fs'
import type { Database } from '../../worker/payments/ledger/libsql/database-libsql.ts'
import { databaseOver } from '../../worker/payments/ledger/libsql/embedded-libsql.ts'
import {
  type LedgerDeps,
  openLedger,
} from '../../worker/payments/ledger/libsql/open-ledger-libsql.ts'
import { type Row, toRows } from '../../worker/payments/ledger/libsql/statement-libsql.ts'
import { libsqlQueries } from '../../worker/payments/queries/queries-libsql.ts'
import { openSqlite } from '../../worker/shared/sqlite-libsql.ts'
import { readable } from './readable-queries.ts'

export interface SqliteDatabase extends Database {
  /** Several statements at once, without their rows. */
  exec(sql: string): void
  /** The rows of one statement. */
  all(sql: string): Row[]
}

/** `script`: instead of schema.sql. */
export function sqliteDatabase(script = readFileSync('schema.sql', 'utf8')): SqliteDatabase {
  const sqlite = openSqlite(':memory:')
  sqlite.exec(script)
  return {
    ...databaseOver(sqlite),
    exec: (sql) => sqlite.exec(sql),
    all: (sql) => toRows(sqlite.all(sql)),
  }
}

/** The ledger over it: the product's own code and SQL, without a server. */
export function sqliteLedger(deps: Omit<LedgerDeps, 'database'>) {
  const database = sqliteDatabase()
  return { ledger: openLedger({ ...deps, database }), queries: readable(libsqlQueries(database)) }
}
