// A database with the tables of schema.sql, in a new folder: libSQL's own server, or the file of a
// Node edge.

import { mkdirSync } from 'node:fs'
import { databaseAccess } from '../../../system/tokens.ts'
import type { Database } from '../../../worker/payments/ledger/libsql/database-libsql.ts'
import { embeddedDatabase } from '../../../worker/payments/ledger/libsql/embedded-libsql.ts'
import {
  type Row,
  statement,
  type Value,
} from '../../../worker/payments/ledger/libsql/statement-libsql.ts'
import { startLibsql } from '../../harness/database.ts'

const SECRET = 'the-secret-of-the-benchmark-that-opens-its-databases'
/** Every database of the benchmarks has it. */
export const ACCESS = await databaseAccess(SECRET)
const WRITE_WAIT_MS = 60_000

export interface BenchStore {
  /** One statement that writes. */
  write(sql: string, args: Record<string, Value>): Promise<void>
  /** Rows of one statement that reads: it is answered also when no write goes through any more. */
  read(sql: string): Promise<Row[]>
}

export async function startDatabase(dir: string) {
  mkdirSync(dir, { recursive: true })
  const { port, url, database, close } = await startLibsql({ dir, secret: SECRET })
  return { port, url, stop: close, ...storeOver(database) }
}

/** The file of an edge that runs: only one of them may write at a time. */
export const openStore = (file: string): BenchStore & { close(): void } => {
  const database = embeddedDatabase(file)
  return { ...storeOver(database), close: () => database.close() }
}

function storeOver(database: Database): BenchStore {
  return {
    async write(sql, args) {
      await database.write([statement(sql, args)], AbortSignal.timeout(WRITE_WAIT_MS))
    },
    async read(sql) {
      const [rows = []] = await database.read([statement(sql)])
      return rows
    },
  }
}
