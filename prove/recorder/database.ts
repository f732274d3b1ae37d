// The payments' database of a run: libSQL's server behind a proxy or, under Node, a file.

import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Process } from '../../harness/process.ts'
import { prepareSchema } from '../../local/migrate.ts'
import { loopbackUrl } from '../../local/ports.ts'
import { libsqlServer } from '../../local/processes.ts'
import { databaseAccess } from '../../local/tokens.ts'
import { type Patience, untilAnswers } from '../../local/until.ts'
import { embeddedDatabase, fileOf } from '../../worker/payments/ledger/libsql/embedded-libsql.ts'
import {
  type Database,
  isTransient,
  libsqlDatabase,
} from '../../worker/payments/ledger/libsql/http-libsql.ts'
import { type Row, statement } from '../../worker/payments/ledger/libsql/statement-libsql.ts'
import { openSqlite } from '../../worker/shared/sqlite-libsql.ts'
import { FaultyProxy } from './proxy.ts'

export interface RunDatabase {
  /** Of the edges. */
  url: string
  token: string
  /** Absent: it is a file. */
  server?: { process: Process; proxy: FaultyProxy }
  /** Of a file: another process holds its lock until the returned function is called. */
  lock?(): Promise<() => void>
  /** With a connection of our own, past every proxy. */
  query(sql: string): Promise<Row[][]>
  close(): Promise<void>
}

const WRITE_WITHIN_MS = 60_000
const BUSY_MS = 2

/**
 * Starts the server, and makes its tables. `secret` signs the token of its clients; `patience` is
 * for one start, and a fault may start the server again.
 */
export async function startServer(
  dir: string,
  port: number,
  secret: string,
  patience: () => Patience,
): Promise<RunDatabase> {
  const { publicKey, token } = await databaseAccess(secret)
  const url = loopbackUrl(port)
  const spec = libsqlServer(
    { dir: join(dir, 'db'), port, publicKey },
    { env: { PATH: process.env.PATH ?? '', HOME: dir }, logFile: join(dir, 'database.log') },
  )
  const server = new Process(spec, () => untilAnswers(`${url}/health`, patience()))
  await server.start()
  const direct = libsqlDatabase({ url, authToken: token }, Date.now)
  await prepareSchema(direct, { signal: patience().signal })
  const proxy = await FaultyProxy.before(port)
  return {
    url: proxy.url,
    token,
    server: { process: server, proxy },
    query: (sql) => write(direct, sql),
    async close() {
      await server.stop()
      await proxy.close()
    },
  }
}

/** The edge makes its tables. */
export function fileIn(dir: string): RunDatabase {
  const url = `file:${join(dir, 'payments.db')}`
  const file = fileOf(url)
  return {
    url,
    token: '',
    async lock() {
      const other = openSqlite(file)
      await retryWhileLocked(async () => other.exec('BEGIN IMMEDIATE'))
      return () => other.close()
    },
    async query(sql) {
      const direct = embeddedDatabase(file)
      try {
        return await write(direct, sql)
      } finally {
        direct.close()
      }
    },
    close: async () => undefined,
  }
}

const write = (database: Database, sql: string): Promise<Row[][]> =>
  retryWhileLocked((signal) => database.write([statement(sql)], signal))

/** Again while an edge writes. */
async function retryWhileLocked<Result>(
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const signal = AbortSignal.timeout(WRITE_WITHIN_MS)
  for (;;) {
    try {
      return await work(signal)
    } catch (error) {
      const isBusy = error instanceof Error && 'code' in error && error.code === 'SQLITE_BUSY'
      if (signal.aborted || !(isBusy || isTransient(error))) throw error
      await sleep(BUSY_MS)
    }
  }
}
