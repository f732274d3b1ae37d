// A database with the tables of schema.sql, in a new folder: libSQL's own server, or the file of a
// Node edge.

import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from '../../harness/free-port.ts'
import { prepareSchema } from '../../local/migrate.ts'
import { loopbackUrl } from '../../local/ports.ts'
import { libsqlServer } from '../../local/processes.ts'
import { databaseAccess } from '../../local/tokens.ts'
import { untilAnswers } from '../../local/until.ts'
import { embeddedDatabase } from '../../worker/payments/ledger/libsql/embedded-libsql.ts'
import { type Database, libsqlDatabase } from '../../worker/payments/ledger/libsql/http-libsql.ts'
import {
  type Row,
  statement,
  type Value,
} from '../../worker/payments/ledger/libsql/statement-libsql.ts'
import { type Program, startProgram } from './process.ts'

/** Of every database of the benchmarks. */
export const ACCESS = await databaseAccess('the-secret-of-the-benchmark-that-opens-its-databases')
const START_WAIT_MS = 30_000
const WRITE_WAIT_MS = 60_000

export interface BenchStore {
  /** One statement that writes. */
  write(sql: string, args: Record<string, Value>): Promise<void>
  /** Rows of one statement that reads: it is answered also when no write goes through any more. */
  read(sql: string): Promise<Row[]>
}

export interface BenchDatabase extends BenchStore, Program {
  port: number
  url: string
}

export async function startDatabase(dir: string): Promise<BenchDatabase> {
  mkdirSync(dir, { recursive: true })
  const port = await freePort()
  const url = loopbackUrl(port)
  const signal = AbortSignal.timeout(START_WAIT_MS)
  const { publicKey, token } = ACCESS
  const place = { dir: join(dir, 'database'), port, publicKey }
  const database = libsqlDatabase({ url, authToken: token }, Date.now)
  const program = await startProgram(
    libsqlServer(place, { env: {}, logFile: join(dir, 'sqld.log') }),
    async () => {
      await untilAnswers(`${url}/health`, { what: 'sqld', waitMs: START_WAIT_MS, signal })
      await prepareSchema(database, { signal })
    },
  )
  return { ...program, port, url, ...storeOver(database) }
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
