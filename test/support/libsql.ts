// libSQL's own server for a test file: one process, whose tables are emptied between tests.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../../harness/free-port.ts'
import { type Child, spawnChild } from '../../local/child.ts'
import { prepareSchema } from '../../local/migrate.ts'
import { loopbackUrl } from '../../local/ports.ts'
import { libsqlServer } from '../../local/processes.ts'
import { databaseAccess } from '../../local/tokens.ts'
import { untilAnswers } from '../../local/until.ts'
import { type Database, libsqlDatabase } from '../../worker/payments/ledger/libsql/http-libsql.ts'
import {
  type Row,
  statement,
  type Value,
} from '../../worker/payments/ledger/libsql/statement-libsql.ts'
import { SECRET } from './edge.ts'

export interface LibsqlServer {
  url: string
  token: string
  database: Database
  /** The rows of one statement, which may also write. */
  query(sql: string, args?: Record<string, Value>): Promise<Row[]>
  /** Empties all tables, as after a new migration. */
  wipe(): Promise<void>
  /** SIGKILL; resolves when the process is gone. */
  kill(): Promise<void>
  /** Starts the server again, with the same folder and port. */
  restart(): Promise<void>
  stop(): Promise<void>
}

/** The tables of payments. A table comes before those that it refers to. */
export const TABLES = [
  'payment_alerts',
  'payment_deliveries',
  'payment_outbox',
  'payment_refunds',
  'payment_webhook_events',
  'payment_charge_keys',
  'payment_transactions',
]

/** For each call: the tests of a file may take longer than any of them. */
const soon = (): AbortSignal => AbortSignal.timeout(300_000)

/** `older`: the script of an older schema, used instead of schema.sql. */
export async function startLibsql({ older }: { older?: string } = {}): Promise<LibsqlServer> {
  const dir = await mkdtemp(join(tmpdir(), 'signalbox-libsql-'))
  const port = await freePort()
  const url = loopbackUrl(port)
  const { publicKey, token } = await databaseAccess(SECRET)
  const place = { dir: join(dir, 'db'), port, publicKey }
  const spec = libsqlServer(place, { env: {}, logFile: join(dir, 'sqld.log') })
  const start = async (): Promise<Child> => {
    const child = spawnChild(spec)
    await untilAnswers(`${url}/health`, { what: 'sqld', waitMs: 60_000, signal: soon() })
    return child
  }

  let server = await start()
  const database = libsqlDatabase({ url, authToken: token }, Date.now)
  if (older === undefined) await prepareSchema(database, { signal: soon() })
  else {
    // Each statement ends with a line; none of its texts does.
    const statements = older.split(/;$/m).filter((sql) => sql.trim() !== '')
    await database.write(
      statements.map((sql) => ({ sql, args: {} })),
      soon(),
    )
  }
  const write = (sql: readonly string[]) =>
    database.write(
      sql.map((text) => statement(text)),
      soon(),
    )
  return {
    url,
    token,
    database,
    async query(sql, args) {
      const [rows = []] = await database.write([statement(sql, args)], soon())
      return rows.map((row) => ({ ...row }))
    },
    async wipe() {
      await write(TABLES.map((table) => `DELETE FROM ${table}`))
    },
    async kill() {
      server.kill()
      await server.ended
    },
    async restart() {
      server = await start()
    },
    async stop() {
      server.stop()
      await server.ended
      await rm(dir, { recursive: true, force: true })
    },
  }
}
