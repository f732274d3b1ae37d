// The Deno entry: the app of one process over Deno's HTTP server. Wiring only.

import { getCACertificates } from 'node:tls'
import file from '../signalbox.config.ts'
import { readConfig, readHostConfig } from './config.ts'
import { openProcessEdge } from './edge-process.ts'
import { createFetchOnce } from './fetch-once-deno.ts'
import {
  CHECKED_EVERY_MS,
  hasSpaceIn,
  healthCheck,
  healthMetric,
  healthReport,
  pauseWarnings,
  withHealthz,
} from './healthz-process.ts'
import { gatewayPrefixes } from './payments/config/payments-config.ts'
import { libsqlDatabase } from './payments/ledger/libsql/http-libsql.ts'
import { Installation } from './payments/ledger/libsql/ledger-row-libsql.ts'
import { staleWebhooks } from './payments/metrics.ts'
import { hostClock } from './shared/clock.ts'
import { consoleLog } from './shared/log.ts'
import { Metrics } from './shared/metrics.ts'
import { processMetrics, serveMetrics } from './shared/metrics-node.ts'
import { SecretFileError, withSecretFiles } from './shared/secret-files-node.ts'
import { openSql } from './shared/sql-node.ts'

// What it writes is for its user alone.
if (Deno.build.os !== 'windows') Deno.umask(0o077)
const variables = withSecretFiles(Deno.env.toObject(), gatewayPrefixes(file))
const environment = await variables.catch((error: unknown) => {
  if (!(error instanceof SecretFileError)) throw error
  console.error(error.message)
  Deno.exit(2)
})
const config = readConfig(environment, file)
const host = readHostConfig(environment, 'deno', config)
// Without --allow-sys=ca it ends here, and not each charge with an error.
if (config.payments) getCACertificates()
const metrics = new Metrics()
const installation = new Installation(config.payments?.installation)
const database = config.payments && libsqlDatabase(config.payments.database, hostClock.now)
const check = healthCheck({
  database: () => database,
  installation,
  folder: host.dataDir,
  clock: hostClock,
  // Whether it may write there cannot be asked without a right that none of this needs.
  hasRoom: hasSpaceIn,
})
const stale = staleWebhooks(hostClock, consoleLog)
const edge = openProcessEdge({
  config,
  host,
  file: withHealthz(file, check, async () => [
    ...stale.warnings(),
    ...(await pauseWarnings(database)),
  ]),
  openSql,
  gatewayFetch: createFetchOnce(environment),
  installation,
  openDatabase: (target) => database ?? libsqlDatabase(target, hostClock.now),
  log: stale.log,
  metrics,
})
const { setHealthy } = healthMetric(metrics)
const { signal } = new AbortController()
const reportHealth = healthReport({ check, setHealthy, log: consoleLog, signal })
setInterval(() => void reportHealth(), CHECKED_EVERY_MS)
if (host.metrics) {
  processMetrics(metrics)
  await Promise.all([edge.looked, reportHealth()])
  await serveMetrics(metrics, host.metrics)
}
const server = Deno.serve(
  {
    hostname: host.hostname,
    port: host.port,
    onListen: ({ hostname, port }) => consoleLog('info', 'edge.listening', { hostname, port }),
  },
  (request) => edge.fetch(request),
)
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  // Streams never end by themselves soon enough for a graceful shutdown; clients resume by id.
  Deno.addSignalListener(signal, () => Deno.exit(0))
}
await server.finished
