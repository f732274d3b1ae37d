// The app of a host that is one process (Deno, Node), with its repositories, its ledger and its
// dispatcher. Wiring only; the entry of each host brings HTTP and the databases.

import { createHash } from 'node:crypto'
import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { createApp } from './app.ts'
import { processDirectory } from './board/directory/directory-process.ts'
import { boardMetrics } from './board/metrics.ts'
import { createNoticeSender } from './board/notices/notice-sender.ts'
import { ProcessRepositories } from './board/repository/repositories-process.ts'
import { STREAM_LIMITS } from './board/streams/stream.ts'
import { type Config, ConfigError, type HostConfig } from './config.ts'
import { folderAssets } from './console/assets-node.ts'
import { libsqlEndedSessions } from './ended-sessions-libsql.ts'
import type { PaymentsConfig } from './payments/config/payments-config.ts'
import type { SignalboxFile } from './payments/define-config.ts'
import { SWEEP_EVERY_MS } from './payments/domain/check-times.ts'
import { createGuard } from './payments/gateways/guard.ts'
import { openLedger } from './payments/ledger/ledger.ts'
import type { Database } from './payments/ledger/libsql/database-libsql.ts'
import { Installation } from './payments/ledger/libsql/ledger-row-libsql.ts'
import { createRefusals } from './payments/ledger/refused-webhooks.ts'
import { countingLog } from './payments/metrics.ts'
import { createDeliverer, subscribersOf } from './payments/outbox/deliver.ts'
import type { Deliver } from './payments/outbox/dispatch.ts'
import type { WakeAt } from './payments/outbox/waiting.ts'
import { createPayments, type Payments } from './payments/payments.ts'
import { libsqlQueries } from './payments/queries/queries-libsql.ts'
import { sqliteEndedSessions } from './session/ended-sessions-sqlite.ts'
import { accessMetrics, createAccess } from './shared/access.ts'
import type { AuthConfig } from './shared/auth-config.ts'
import { hostClock, pause } from './shared/clock.ts'
import { compressed } from './shared/compress-hono.ts'
import { moveAside } from './shared/damaged-file-node.ts'
import { maxDescriptors, sharesOf } from './shared/descriptors-node.ts'
import { isDamaged } from './shared/file-errors.ts'
import type { Fields, Log } from './shared/log.ts'
import { isForThisMachine, isLoopback } from './shared/loopback.ts'
import type { Metrics } from './shared/metrics.ts'
import type { Sql } from './shared/sql.ts'
import { sqlPool } from './shared/sql-pool.ts'

export interface ProcessEdgeDeps {
  config: Config
  host: HostConfig
  /** signalbox.config.ts. */
  file: SignalboxFile
  /** The SQLite file of a repository. */
  openSql(file: string): Sql & { close(): void }
  /** Sends a POST once, whatever comes of it. */
  gatewayFetch: typeof fetch
  /** Which database of payments it is to be. Missing: as the configuration says. */
  installation?: Installation | undefined
  /** A charge at this gateway was stored. */
  onBegun?: ((gateway: string) => void) | undefined
  /** The database of payments, where they are configured. */
  openDatabase(target: PaymentsConfig['database']): Database
  log: Log
  metrics: Metrics
  /** How often the payments are swept. */
  sweepEveryMs?: number | undefined
}

/** Where descriptors are no bound: each costs memory, too. */
const MAX_STRANGERS = 1_024

export interface ProcessEdge {
  /** Resolves when what waits in the database was counted, or it did not answer: at most 6 s. */
  looked: Promise<void>
  /** `granted` is called when the request has shown its token. */
  fetch(request: Request, granted?: () => void): Response | Promise<Response>
  /** How many connections without a token there may be. */
  strangers: number
  /** These keys verify and sign from now on. Streams that are open stay open. */
  reload(auth: AuthConfig): void
  /** Streams never end by themselves; their clients resume by id. */
  endStreams(): void
  /**
   * When no request is under way any more: sweeps no more, and waits for what goes on behind
   * answers. The repositories still take what sidecars of this process publish.
   */
  settle(): Promise<void>
  /** Settles, and closes the databases of repositories. */
  close(): Promise<void>
}

export function openProcessEdge(deps: ProcessEdgeDeps): ProcessEdge {
  const { config, host, file, openDatabase, log, metrics, sweepEveryMs = SWEEP_EVERY_MS } = deps
  // For its user alone, since it contains tasks and payments.
  mkdirSync(host.dataDir, { recursive: true, mode: 0o700 })
  const work = underWay()
  const opened: { close(): void }[] = []
  const fileOf = (name: string) => join(host.dataDir, `${name}.sqlite`)
  const openSessions = () => {
    const sessions = fileOf('sessions')
    try {
      const sql = deps.openSql(sessions)
      opened.push(sql)
      return sql
    } catch (cause) {
      if (!isDamaged(cause)) throw cause
      const why = `${sessions} is damaged: without it, sessions that were ended are good again`
      throw new ConfigError(`${why}. Change AUTH_SECRETS, and remove it.`)
    }
  }
  /** What sidecars send again: the next one that is made is filled by them. */
  const replace = (name: string, about: Fields = {}) =>
    log('error', 'board.file_damaged', { ...about, movedTo: moveAside(fileOf(name)) })
  const settings = config.payments
  const database = settings && openDatabase(settings.database)
  let waking: ReturnType<typeof setTimeout> | undefined
  const payments: Payments | undefined =
    settings &&
    database &&
    openPayments(settings, database, {
      keepAlive: work.add,
      log,
      metrics,
      gatewayFetch: deps.gatewayFetch,
      installation: deps.installation ?? new Installation(settings.installation),
      ...(deps.onBegun && { onBegun: deps.onBegun }),
      wakeAt(at) {
        clearTimeout(waking)
        waking = setTimeout(() => payments?.dispatchLater(), Math.max(0, at - hostClock.now()))
      },
    })
  const counted = boardMetrics(metrics)
  const sessions = {
    endedSessions: database ? libsqlEndedSessions(database) : sqliteEndedSessions(openSessions()),
    metrics: accessMetrics(metrics),
  }

  const shares = sharesOf(maxDescriptors(), {
    databases: host.openRepositories,
    streams: host.streams.all,
    strangers: MAX_STRANGERS,
  })
  const pool = sqlPool(shares.databases, deps.openSql)
  opened.push(pool)
  const senderOf = ({ secrets }: AuthConfig) =>
    createNoticeSender({
      secrets,
      ...config.notices,
      allowsLoopback: isForThisMachine(host.hostname, config.publicUrl),
      clock: hostClock,
      fetch,
    })
  let sendNotice = senderOf(config.auth)
  const repositories = new ProcessRepositories({
    // A path may hold anything; its file's name must not.
    openSql: (path, make) => {
      const name = createHash('sha256').update(path).digest('hex').slice(0, 32)
      if (!make && !existsSync(fileOf(name))) return undefined
      return pool.sql(fileOf(name), () => {
        replace(name, { board: path })
        repositories.letGo(path)
      })
    },
    maxIdle: host.openRepositories,
    log,
    now: hostClock.now,
    elapsed: hostClock.elapsed,
    after: hostClock.after,
    variables: config.board,
    sendNotice: (request) => {
      const sending = sendNotice(request)
      work.add(sending)
      return sending
    },
    room: config.room,
    roomOfAll: { ...host.streams, all: shares.streams },
  })
  const directory = processDirectory(
    () => deps.openSql(fileOf('boards')),
    () => replace('boards'),
  )
  opened.push(directory)
  const appOf = (auth: AuthConfig) =>
    createApp({
      config: { ...config, auth },
      payments,
      hostFetch: file.fetch,
      assets: folderAssets(host.consoleDir),
      isOnLoopback: isLoopback(host.hostname),
      compressed: compressed(),
      repositories,
      directory,
      access: createAccess(auth, { clock: hostClock, fetch, ...sessions }),
      clock: hostClock,
      log,
      limits: { ...STREAM_LIMITS, unreadMs: host.silenceMs },
      metrics: counted,
    })
  let app = appOf(config.auth)
  const countBoards = async () => {
    const boards = await directory.list(['*'], hostClock.now())
    counted.listed(boards, (path) => repositories.isPublishing(path))
    return boards
  }
  const boards = countBoards()
  const looked = Promise.all([payments?.sweeper.look(), boards]).then(() => undefined)
  work.add(looked)
  work.add(boards.then((all) => repositories.resume(all.map(({ path }) => path))))
  // Nobody reads the number otherwise.
  const counting = host.metrics && setInterval(() => work.add(countBoards()), sweepEveryMs)
  // What the cron trigger does on Cloudflare.
  const sweeping = payments && setInterval(() => payments.sweepLater(), sweepEveryMs)

  const settle = async () => {
    clearInterval(sweeping)
    clearInterval(counting)
    await work.ended()
    clearTimeout(waking)
  }
  return {
    looked,
    fetch: (request, granted) => app.fetch(request, { granted }),
    strangers: shares.strangers,
    reload(auth) {
      app = appOf(auth)
      sendNotice = senderOf(auth)
    },
    endStreams: () => repositories.endStreams(),
    settle,
    async close() {
      await settle()
      for (const sql of opened) sql.close()
    },
  }
}

interface PaymentsHost {
  keepAlive: Work['add']
  wakeAt: WakeAt
  log: Log
  metrics: Metrics
  gatewayFetch: typeof fetch
  installation: Installation
  onBegun?: (gateway: string) => void
}

function openPayments(
  config: PaymentsConfig,
  database: Database,
  { log: uncounted, metrics, gatewayFetch, installation, onBegun, ...behind }: PaymentsHost,
): Payments {
  const { gateways, listeners, endpoint, rules } = config
  const log = countingLog(metrics, gateways.keys(), uncounted)
  const host = { clock: hostClock, log, fetch: gatewayFetch, ...behind }
  // An event may come twice, so that the host's own fetch will do, which keeps its connections.
  const deliverer = createDeliverer({ listeners, endpoint, ...host, fetch })
  const deliver: Deliver = async (pending, called) => {
    // Behind the answers of what caused them: listeners run on the same thread.
    if (!called) await pause(hostClock, 0)
    return await deliverer.deliver(pending, called)
  }
  const subscribers = subscribersOf(listeners, endpoint)
  return createPayments({
    config,
    ledger: openLedger({
      database,
      installation,
      ...(onBegun && { onBegun }),
      subscribers,
      rules,
      deliver,
      ...host,
    }),
    guard: createGuard({ ...config, store: new Map(), ...host }),
    refusals: createRefusals(hostClock),
    queries: libsqlQueries(database, () => installation.refuseOther()),
    deliverer,
    ...host,
  })
}

interface Work {
  /** Work that rejects is over too. */
  add(work: Promise<unknown>): void
  ended(): Promise<void>
}

function underWay(): Work {
  const all = new Set<Promise<unknown>>()
  return {
    add(work) {
      all.add(work)
      const over = () => void all.delete(work)
      work.then(over, over)
    },
    async ended() {
      while (all.size > 0) await Promise.allSettled(all)
    },
  }
}
