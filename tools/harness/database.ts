// The database of payments: libSQL's own server in a process or, for an edge under Node, a file.

import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { prepareSchema } from '../../system/database/migrate.ts'
import { loopbackUrl } from '../../system/local/ports.ts'
import { databaseAccess } from '../../system/local/tokens.ts'
import { type Database, isTransient } from '../../worker/payments/ledger/libsql/database-libsql.ts'
import { embeddedDatabase, fileOf } from '../../worker/payments/ledger/libsql/embedded-libsql.ts'
import { libsqlDatabase } from '../../worker/payments/ledger/libsql/http-libsql.ts'
import {
  type Row,
  statement,
  type Value,
} from '../../worker/payments/ledger/libsql/statement-libsql.ts'
import { errorCode } from '../../worker/shared/file-errors.ts'
import { openSqlite } from '../../worker/shared/sqlite-libsql.ts'
import { libsqlServer } from '../start/processes.ts'
import { freePort } from './free-port.ts'
import { Process } from './process.ts'

export interface PaymentsDatabase {
  /** For an edge. */
  url: string
  token: string
  /** Absent: it is a file. */
  process?: Process
  /** The rows of one statement, which may also write. Asks again while an edge writes. */
  query(sql: string, args?: Record<string, Value>): Promise<Row[]>
  close(): Promise<void>
}

export interface LibsqlServer extends PaymentsDatabase {
  port: number
  process: Process
  /** A connection of our own. */
  database: Database
}

const WITHIN_MS = 60_000
const BUSY_MS = 2

interface ServerPlan {
  /** An existing folder for its files and its log. Absent: one of its own, which ends with it. */
  dir?: string
  /** It has no tables. */
  isEmpty?: true
}

/** With the tables of payments. */
export async function startLibsql(plan: ServerPlan = {}): Promise<LibsqlServer> {
  const dir = plan.dir ?? (await mkdtemp(join(tmpdir(), 'signalbox-libsql-')))
  const port = await freePort()
  const url = loopbackUrl(port)
  const { publicKey, token } = await databaseAccess(randomUUID())
  const spec = libsqlServer(
    { dir: join(dir, 'db'), port, publicKey },
    { env: {}, logFile: join(dir, 'sqld.log') },
  )
  const server = new Process(spec, `${url}/health`)
  await server.start()
  const database = libsqlDatabase({ url, authToken: token }, Date.now)
  if (!plan.isEmpty) await prepareSchema(database, { signal: AbortSignal.timeout(WITHIN_MS) })
  return {
    url,
    token,
    port,
    process: server,
    database,
    query: (sql, args) => ask(database, sql, args),
    async close() {
      await server.stop()
      if (plan.dir === undefined) await rm(dir, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}

export interface DatabaseFile extends PaymentsDatabase {
  /** Another process holds its lock until the returned function is called. */
  lock(): Promise<() => void>
}

/** The edge in whose folder it is makes its tables. */
export function fileIn(dir: string): DatabaseFile {
  const url = `file:${join(dir, 'payments.db')}`
  const file = fileOf(url)
  return {
    url,
    token: '',
    async query(sql, args) {
      const database = embeddedDatabase(file)
      try {
        return await ask(database, sql, args)
      } finally {
        database.close()
      }
    },
    async lock() {
      const other = openSqlite(file)
      await retryWhileLocked(async () => other.exec('BEGIN IMMEDIATE'))
      return () => other.close()
    },
    close: async () => undefined,
  }
}

async function ask(database: Database, sql: string, args?: Record<string, Value>): Promise<Row[]> {
  const asked = [statement(sql, args)]
  const [rows = []] = await retryWhileLocked((signal) => database.write(asked, signal))
  return rows.map((row) => ({ ...row }))
}

async function retryWhileLocked<Result>(
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const signal = AbortSignal.timeout(WITHIN_MS)
  for (;;) {
    try {
      return await work(signal)
    } catch (error) {
      const isBusy = errorCode(error) === 'SQLITE_BUSY'
      if (signal.aborted || !(isBusy || isTransient(error))) throw error
      await sleep(BUSY_MS)
    }
  }
}
