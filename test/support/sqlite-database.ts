// The database of payments in memory, with the adapter of the Node host: much faster than a server,
// for tests that need none.

import { readFileSync } from 'node:fs'
import { databaseOver } from '../../worker/payments/ledger/libsql/embedded-libsql.ts'
import type { Database } from '../../worker/payments/ledger/libsql/http-libsql.ts'
import { type Row, toRows } from '../../worker/payments/ledger/libsql/statement-libsql.ts'
import { openSqlite } from '../../worker/shared/sqlite-libsql.ts'

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
