// The database of payments in memory, with the adapter of the Node host: much faster than a server,
// for tests that need none.

import { readFileSync } from 'node:fs'
import { createLedger, type LedgerDeps } from '../../worker/payments/ledger/create-ledger.ts'
import { databaseOver } from '../../worker/payments/ledger/libsql/embedded-libsql.ts'
import type { Database } from '../../worker/payments/ledger/libsql/http-libsql.ts'
import { type Row, toRows } from '../../worker/payments/ledger/libsql/statement-libsql.ts'
import { libsqlStore } from '../../worker/payments/ledger/libsql/store-libsql.ts'
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
export function sqliteLedger(deps: Omit<LedgerDeps, 'store'>) {
  const database = sqliteDatabase()
  const ledger = createLedger({ ...deps, store: libsqlStore(database) })
  return { ledger, queries: readable(libsqlQueries(database)) }
}
