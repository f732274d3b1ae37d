// Edge, console, ledger and, with a board, its sidecar in this process: what `signalbox` and
// `signalbox serve` run, and the Node host of the tests.

import type { RunOutput } from '../sidecar/files/file-reader.ts'
import { healthOf } from '../sidecar/health.ts'
import type { Store } from '../sidecar/layouts/layout.ts'
import type { Log } from '../sidecar/log.ts'
import { sidecarMetrics } from '../sidecar/metrics.ts'
import { createProgress, openSidecar } from '../sidecar/open-sidecar.ts'
import { callTransport, EdgeHttp } from '../sidecar/publish/edge-http.ts'
import { watchChokidar } from '../sidecar/watch/watch-chokidar.ts'
import { ConfigError } from '../worker/config.ts'
import { type NodeEdge, openNodeEdge } from '../worker/node.ts'
import type { SignalboxFile } from '../worker/payments/define-config.ts'
import { type Database, libsqlDatabase } from '../worker/payments/ledger/libsql/http-libsql.ts'
import { type AuthConfig, readAuth } from '../worker/shared/auth-config.ts'
import { hostClock } from '../worker/shared/clock.ts'
import type { Log as EdgeLog } from '../worker/shared/log.ts'
import { Metrics } from '../worker/shared/metrics.ts'
import { createTokens } from '../worker/shared/tokens.ts'
import type { DataFolder } from './data-folder.ts'
import { healthCheck, withHealthz } from './healthz.ts'
import { prepareSchema } from './migrate.ts'
import { LOOPBACK, portRefused } from './ports.ts'
import { StartError } from './start-error.ts'

export type Variables = Readonly<Record<string, string>>

export interface BoardPlan {
  store: Store
  /** The repository's name at the edge. */
  repo: string
  runOutput: RunOutput
  /** Look at the files each second, and watch nothing. */
  isPolling: boolean
  /** Shows a line of progress. Absent: it is not shown. */
  terminal?: (text: string) => void
}

export interface SystemPlan {
  data: DataFolder
  /** The console's page. The folder can be named before it is filled. */
  page: { dir: string; ready: Promise<unknown> }
  /** Of the edge: all but its folders. */
  variables: Variables
  /** signalbox.config.ts */
  file: SignalboxFile
  /** Absent: sidecars elsewhere publish to it. */
  board?: BoardPlan | undefined
  /** Of this program; the edge's status names it. */
  version: string
  /** How often the payments are swept. Absent: as on every host. */
  sweepEveryMs?: number
  log: EdgeLog
  sidecarLog: Log
  /** Shows a sentence to the person at the terminal. */
  notice(sentence: string): void
  /** Aborted when the system is to end. */
  signal: AbortSignal
}

export interface System {
  edge: NodeEdge
  /** How many tasks the board has; 0 without one. */
  tasks(): number
  /** Resolves when the console and the board are there. */
  ready: Promise<unknown>
  /** Never resolves. Rejects when the board's sidecar failed by a defect. */
  failed: Promise<never>
  /** Replaces the AUTH_ variables. Throws ConfigError, and changes nothing then. */
  reload(variables: Variables): void
  /** Publishes what is pending, ends all streams, answers what is under way. */
  close(): Promise<void>
}

/** Throws StartError; nothing runs then. */
export async function openSystem(plan: SystemPlan): Promise<System> {
  const { data, page, variables, notice, signal } = plan
  page.ready.catch(() => undefined)
  const { LIBSQL_URL: url = '', LIBSQL_AUTH_TOKEN: authToken } = variables
  let database: Database = libsqlDatabase({ url, ...(authToken && { authToken }) }, Date.now)
  const folder = data.edgeDir
  const check = healthCheck({ database: () => database, folder, clock: hostClock })
  const metrics = new Metrics()
  const edge = await openNodeEdge({
    metrics,
    env: { ...variables, DATA_DIR: data.edgeDir, CONSOLE_DIR: page.dir },
    file: withHealthz(plan.file, async () =>
      signal.aborted ? 'This process is ending.' : await check(),
    ),
    log: plan.log,
    ...(plan.sweepEveryMs !== undefined && { sweepEveryMs: plan.sweepEveryMs }),
    async schema(embedded) {
      database = embedded
      await prepareSchema(embedded, { notice, signal })
    },
  }).catch((error: unknown) => {
    throw refusal(error, variables)
  })
  let auth = readAuth(variables)
  const board = plan.board && publish(plan.board, { ...plan, edge, auth: () => auth, metrics })
  return {
    edge,
    tasks: () => board?.tasks() ?? 0,
    ready: Promise.all([page.ready, board?.ready]),
    failed: board?.failed ?? new Promise<never>(() => undefined),
    reload(fresh) {
      edge.reload(fresh)
      auth = readAuth(fresh)
    },
    async close() {
      await board?.close()
      await edge.close()
    },
  }
}

/** Where nothing can listen, as Node's errors have it. */
interface Place {
  address: string
  hostname: string
  port: number
}

/** What a start cannot work with, as a sentence. */
function refusal(error: unknown, { HOST = '', PORT, METRICS_HOST, METRICS_PORT }: Variables) {
  if (error instanceof ConfigError) {
    return new StartError('bad_configuration', error.message, { cause: error })
  }
  const failure = error as NodeJS.ErrnoException & Partial<Place>
  const { syscall, code, address, hostname, port = Number(PORT) } = failure
  const ofMetrics = hostname ? hostname === METRICS_HOST : port === Number(METRICS_PORT)
  const host = hostname ?? address ?? (ofMetrics ? METRICS_HOST : HOST) ?? LOOPBACK
  const isForeign = syscall === 'listen' && code === 'EADDRNOTAVAIL'
  if (isForeign || (code === 'ENOTFOUND' && (ofMetrics || hostname === HOST))) {
    const name = ofMetrics ? 'METRICS_HOST' : 'HOST'
    const why = `${name}: ${host} is no address of this machine (${code}).`
    return new StartError('bad_configuration', why, { cause: error })
  }
  if (syscall !== 'listen') return error
  return portRefused(host, port, String(code), ofMetrics ? 'METRICS_PORT' : '--port')
}

type Publishing = Pick<SystemPlan, 'data' | 'version' | 'sidecarLog'> & {
  edge: NodeEdge
  /** As the edge has it now: the first secret signs what the sidecar sends. */
  auth: () => AuthConfig
  metrics: Metrics
}

/** The sidecar of a board in the process of its edge: without a socket, and with its own token. */
function publish(plan: BoardPlan, { data, edge, auth, ...more }: Publishing) {
  const { store, repo, runOutput, terminal } = plan
  const token = tokenSource(repo, auth)
  const transport = callTransport(async (request) => {
    request.headers.set('authorization', `Bearer ${await token()}`)
    return await edge.fetch(request)
  })
  const metrics = sidecarMetrics(more.metrics)
  const { run, board, status } = openSidecar({
    ...{ store, runOutput, version: more.version, log: more.sidecarLog, metrics },
    edge: new EdgeHttp({ url: new URL(edge.url), repo, token, transport }),
    cacheDir: data.cacheDir,
    watch: plan.isPolling ? undefined : watchChokidar,
    progress: terminal && createProgress(terminal),
  })
  metrics.watch(() => healthOf([{ board: repo, ...status() }]))
  const end = new AbortController()
  const { ready, ended } = run(end.signal)
  const failed = ended.then(() => new Promise<never>(() => undefined))
  // A failure is for those who wait for it. Until then it must not end the process.
  failed.catch(() => undefined)
  return {
    ready: Promise.race([ready, failed]),
    failed,
    tasks: () => board.countTasks(),
    async close() {
      end.abort()
      await ended.catch(() => undefined)
    },
  }
}

const TOKEN_MS = 86_400_000

/**
 * Signs again after a day, and for other secrets: no token outlives the secret that signed it. A
 * signature for each message would take longer than the message.
 */
function tokenSource(repo: string, auth: () => AuthConfig): () => Promise<string> {
  const claims = { sub: 'local:sidecar', scope: 'board:read board:write', repos: [repo] }
  let signed: { by: AuthConfig; until: number; token: Promise<string> } | undefined
  return () => {
    const [by, now] = [auth(), Date.now()]
    if (signed?.by !== by || now > signed.until) {
      const tokens = createTokens(by, { clock: hostClock, fetch })
      const token = tokens.sign(claims, 'api', now + 2 * TOKEN_MS)
      signed = { by, until: now + TOKEN_MS, token }
    }
    return signed.token
  }
}
