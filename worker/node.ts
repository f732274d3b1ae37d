// The Node entry: the app of one process over Node's HTTP server, on embedded libSQL or a remote
// one. It starts nothing by itself: the process around it has the signals and the lock.

import {
  ConfigError,
  type Environment,
  type HostConfig,
  readConfig,
  readHostConfig,
} from './config.ts'
import { openProcessEdge, type ProcessEdge } from './edge-process.ts'
import type { SignalboxFile } from './payments/define-config.ts'
import type { Database } from './payments/ledger/libsql/database-libsql.ts'
import { fileOf, isEmbedded } from './payments/ledger/libsql/embedded-libsql.ts'
import { libsqlDatabase } from './payments/ledger/libsql/http-libsql.ts'
import type { Installation } from './payments/ledger/libsql/ledger-row-libsql.ts'
import { openThreaded, type ThreadedDatabase } from './payments/ledger/libsql/threaded-libsql.ts'
import { serveNode } from './serve-node.ts'
import { type AuthConfig, readAuth } from './shared/auth-config.ts'
import { hostClock, STOP_WITHIN_MS, within } from './shared/clock.ts'
import type { Log } from './shared/log.ts'
import { Metrics } from './shared/metrics.ts'
import { type MonitorServer, processMetrics, serveMetrics } from './shared/metrics-node.ts'
import { openSql } from './shared/sql-node.ts'
import { connectionMetrics } from './shared/strangers-node.ts'

/** The edge in this process: HTTP server, repositories, ledger, dispatcher, sweeper. */
export interface NodeEdge {
  /** Such as http://127.0.0.1:8787. */
  url: string
  /** The app without its socket. */
  fetch(request: Request): Promise<Response>
  /**
   * Replaces the AUTH_ variables. All others are unchanged. Throws ConfigError, and changes
   * nothing, where they are wrong or missing.
   */
  reload(env: Environment): void
  /**
   * Takes no connections any more, ends the streams, answers what is under way, finishes the
   * ledger's group and closes the databases. `boards` end here, too: the streams and the payments
   * wait a tenth of the time for their last messages, and repositories are closed after them.
   * Again: the same end.
   */
  close(boards?: Promise<unknown>): Promise<void>
}

export interface NodeEdgeOptions {
  /** HOST, PORT (0: any), DATA_DIR, CONSOLE_DIR and all that readConfig reads. */
  env: Environment
  /** signalbox.config.ts. */
  file: SignalboxFile
  log: Log
  /** Served at METRICS_PORT. Other parts of this process may count there, too. */
  metrics?: Metrics
  /** Awaited before they are served: a first scrape is as right as any. */
  beforeMetrics?: () => Promise<void>
  /** How often the payments are swept. Absent: as on every host. */
  sweepEveryMs?: number
  /** Which database of payments it is to be. Absent: PAYMENT_INSTALLATION, else any. */
  installation?: Installation
  /** A charge at this gateway was stored. */
  onBegun?: (gateway: string) => void
  /** Creates or upgrades the tables of an embedded database, but not those of a remote one. */
  schema?: (database: Database) => Promise<unknown>
  /** The end takes no longer. Absent: `STOP_WITHIN_MS`. */
  stopWithinMs?: number
}

/**
 * Parts of it: for the last messages of boards, for answers under way, for listeners and endpoints
 * after that, and for all of it with boards. A charge that is cut off stays open, and the sweeper
 * asks its gateway.
 */
const [LAST_MESSAGES, ANSWERS, BACKGROUND, WITH_BOARDS] = [0.1, 0.6, 0.2, 0.9]

/** Throws ConfigError. Rejects where the port or a file cannot be used; nothing is open then. */
export async function openNodeEdge(options: NodeEdgeOptions): Promise<NodeEdge> {
  const { env, file, log, schema, metrics = new Metrics(), sweepEveryMs } = options
  const { installation, onBegun } = options
  const { beforeMetrics, stopWithinMs = STOP_WITHIN_MS } = options
  const config = readConfig(env, file, { embeds: true })
  const host = readHostConfig(env, 'node', config)
  const url = config.payments?.database.url ?? ''
  const embedded = isEmbedded(url) ? await openFile(fileOf(url)) : undefined
  try {
    if (embedded) await schema?.(embedded)
    const edge = openProcessEdge({
      config,
      host,
      file,
      log,
      metrics,
      sweepEveryMs,
      installation,
      onBegun,
      gatewayFetch: fetch,
      openSql,
      openDatabase: (target) => embedded ?? libsqlDatabase(target, hostClock.now),
    })
    const { server, metricsServer } = await listen(edge, host, metrics, beforeMetrics)
    const inTime = (ms: number, work: () => Promise<unknown>) =>
      within(hostClock, ms, work).catch((error: unknown) =>
        log('warn', 'edge.closed_early', { error: String(error) }),
      )
    const end = async (boards?: Promise<unknown>) => {
      const until = hostClock.elapsed() + stopWithinMs * WITH_BOARDS
      const answered = server.close(stopWithinMs * ANSWERS)
      // What was saved before the end reaches the streams. A board that is stuck holds up nothing.
      const published = within(hostClock, stopWithinMs * LAST_MESSAGES, async () => await boards)
      await published.catch(() => undefined)
      edge.endStreams()
      await answered
      await metricsServer?.close()
      await inTime(stopWithinMs * BACKGROUND, edge.settle)
      await embedded?.close()
      if (boards) await inTime(Math.max(until - hostClock.elapsed(), 0), () => boards)
      await inTime(stopWithinMs * BACKGROUND, edge.close)
    }
    let ended: Promise<void> | undefined
    log('info', 'edge.listening', { url: server.url })
    return {
      url: server.url,
      fetch: async (request) => await edge.fetch(request),
      reload: (changed) => edge.reload(keysIn(changed)),
      close(boards) {
        ended ??= end(boards)
        return ended
      },
    }
  } catch (error) {
    await embedded?.close()
    throw error
  }
}

function openFile(path: string): Promise<ThreadedDatabase> {
  return openThreaded(path).catch((cause: unknown) => {
    const why = `The database of payments ${path} cannot be opened: ${cause}.`
    throw new ConfigError(why, { cause })
  })
}

/** Nothing listens, and the edge is closed, where a port cannot be had. */
async function listen(
  edge: ProcessEdge,
  host: HostConfig,
  metrics: Metrics,
  beforeMetrics?: () => Promise<void>,
) {
  let metricsServer: MonitorServer | undefined
  try {
    if (host.metrics) {
      processMetrics(metrics)
      // Or the first scrape would see no alert and an empty outbox.
      await Promise.all([edge.looked, beforeMetrics?.()])
      metricsServer = await serveMetrics(metrics, host.metrics)
    }
    const { strangers: max } = edge
    const strangers = { max, metrics: connectionMetrics(metrics) }
    return { server: await serveNode(edge.fetch, { ...host, strangers }), metricsServer }
  } catch (error) {
    await metricsServer?.close()
    await edge.close()
    throw error
  }
}

function keysIn(env: Environment): AuthConfig {
  const auth = readAuth(env)
  if (auth.problem !== undefined) throw new ConfigError(auth.problem)
  if (auth.secrets.length === 0 && auth.issuer === undefined) {
    throw new ConfigError('AUTH_SECRETS and AUTH_JWKS_URL are missing.')
  }
  return auth
}
