// The Deno entry: the same app over repositories in this process. Wiring only.

import { createHash } from 'node:crypto'
import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import file from '../signalbox.config.ts'
import { createApp } from './app.ts'
import { processRepositories } from './board/repositories-process.ts'
import { openSql } from './board/sql-node.ts'
import { STREAM_LIMITS } from './board/stream.ts'
import { streamRoom } from './board/stream-room.ts'
import { readConfig, readHostConfig } from './config.ts'
import { folderAssets } from './console/assets-node.ts'
import type { PaymentsConfig } from './payments/config.ts'
import { SWEEP_EVERY_MS } from './payments/domain/check-schedule.ts'
import { libsqlDatabase } from './payments/ledger/libsql/database-libsql.ts'
import { openLibsqlLedger } from './payments/ledger/libsql/open-ledger-libsql.ts'
import type { Dispatch } from './payments/outbox/dispatch.ts'
import { createDispatcher } from './payments/outbox/dispatcher.ts'
import { createPayments, type Payments } from './payments/payments.ts'
import { libsqlQueries } from './payments/queries/queries-libsql.ts'
import { createAccess } from './shared/access.ts'
import { hostClock, pause } from './shared/clock.ts'
import { consoleLog } from './shared/log.ts'

const environment = Deno.env.toObject()
const config = readConfig(environment, file)
const host = readHostConfig(environment)
mkdirSync(host.dataDir, { recursive: true })

const payments = config.payments && openPayments(config.payments)
const app = createApp({
  config,
  payments,
  hostFetch: file.fetch,
  assets: folderAssets(host.consoleDir),
  repositories: processRepositories({
    // A path may hold anything; its file's name must not.
    openSql: (path, make) => {
      const name = createHash('sha256').update(path).digest('hex').slice(0, 32)
      const file = join(host.dataDir, `${name}.sqlite`)
      return make || existsSync(file) ? openSql(file) : undefined
    },
    now: hostClock.now,
    room: streamRoom(config.maxStreams),
  }),
  access: createAccess(config.auth, { clock: hostClock, fetch }),
  clock: hostClock,
  log: consoleLog,
  limits: STREAM_LIMITS,
})

// What the cron trigger does on Cloudflare.
if (payments) setInterval(() => payments.sweepLater(), SWEEP_EVERY_MS)

const server = Deno.serve(
  {
    hostname: host.hostname,
    port: host.port,
    onListen: ({ hostname, port }) => consoleLog('info', 'edge.listening', { hostname, port }),
  },
  app.fetch,
)
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  // Streams never end by themselves soon enough for a graceful shutdown; clients resume by id.
  Deno.addSignalListener(signal, () => Deno.exit(0))
}
await server.finished

function openPayments(settings: PaymentsConfig): Payments {
  const host = { clock: hostClock, log: consoleLog, fetch }
  const dispatcher = createDispatcher({ ...settings, ...host })
  // Behind the answers of what caused them: listeners run on the same thread.
  const dispatch: Dispatch = async (pending) => {
    await pause(hostClock, 0)
    return await dispatcher.dispatch(pending)
  }
  return createPayments({
    config: settings,
    ledger: openLibsqlLedger({ config: settings, breakers: new Map(), dispatch, ...host }),
    queries: libsqlQueries(libsqlDatabase(settings.database, hostClock.now)),
    dispatcher,
    ...host,
    // The process goes on anyway.
    keepAlive: () => undefined,
  })
}
