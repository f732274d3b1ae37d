// Edge, console, ledger and, with boards, their sidecars in this process: what `signalbox` and
// `signalbox serve` run.

import {
  type BoardsPlan,
  type OpenBoards,
  openBoards,
  type PublishedBoard,
} from '../sidecar/boards/open-boards.ts'
import { EdgeHttp } from '../sidecar/publish/edge-http.ts'
import { noticePlan } from '../sidecar/publish/notices.ts'
import { callTransport } from '../sidecar/publish/transport.ts'
import { watchChokidar } from '../sidecar/watch/watch-chokidar.ts'
import { ConfigError } from '../worker/config.ts'
import {
  CHECKED_EVERY_MS,
  healthCheck,
  healthMetric,
  healthReport,
  pauseWarnings,
  withHealthz,
} from '../worker/healthz-process.ts'
import { type NodeEdge, openNodeEdge } from '../worker/node.ts'
import { staleWebhooks } from '../worker/payments/metrics.ts'
import { type AuthConfig, readAuth } from '../worker/shared/auth-config.ts'
import { hostClock } from '../worker/shared/clock.ts'
import { watchEnds } from '../worker/shared/ends-node.ts'
import { errorCode, isDamaged } from '../worker/shared/file-errors.ts'
import { defined } from '../worker/shared/json.ts'
import type { Log as EdgeLog, Log } from '../worker/shared/log.ts'
import { Metrics } from '../worker/shared/metrics.ts'
import type { NoticeRule } from '../worker/shared/notice-rules.ts'
import { createTokens } from '../worker/shared/tokens.ts'
import { backupMetric } from './database/backup/backup.ts'
import { openPaymentsDatabase, type PaymentsDatabasePlan } from './database/payments-database.ts'
import { LOOPBACK, portRefused } from './local/ports.ts'
import { StartError } from './start-error.ts'

export type Variables = Readonly<Record<string, string>>

type Naming = 'dirs' | 'search' | 'repo' | 'isRepoChosen'
type OfBoards = Naming | 'runOutput' | 'terminal' | 'onFound' | 'onLeft' | 'watchWithinMs' | 'lock'

export interface BoardsHere extends Pick<BoardsPlan, OfBoards> {
  /** What people are notified of. */
  notices: readonly NoticeRule[]
  /** Look at the files each second, and watch nothing. */
  isPolling: boolean
}

export interface SystemPlan extends PaymentsDatabasePlan {
  /** The console's page. The folder can be named before it is filled. */
  page: { dir: string; ready: Promise<unknown> }
  /** Absent: sidecars elsewhere publish to it. */
  boards?: BoardsHere | undefined
  /** This program's; the edge's status names it. */
  version: string
  /** How often the payments are swept. Absent: as on every host. */
  sweepEveryMs?: number
  /** The end takes no longer. Absent: as on every host. */
  stopWithinMs?: number
  /** Where its own certificate is, if it is shared. */
  sharedUrl?: string | undefined
  log: EdgeLog
  sidecarLog: Log
}

export interface System {
  edge: NodeEdge
  /** The first board first. One that is gone stays for ten minutes. */
  boards(): readonly PublishedBoard[]
  /** Resolves when the console and the boards are there. */
  ready: Promise<unknown>
  /** Replaces the AUTH_ variables. Throws ConfigError, and changes nothing then. */
  reload(variables: Variables): void
  /** Publishes what is pending, ends all streams, answers what is under way. */
  close(): Promise<void>
}

/** Throws StartError, or StoreError without a board; nothing runs then. */
export async function openSystem(plan: SystemPlan): Promise<System> {
  const { data, page, variables, signal, sweepEveryMs, stopWithinMs } = plan
  page.ready.catch(() => undefined)
  const payments = await openPaymentsDatabase(plan)
  const { database, installation, onBegun, schema } = payments
  const metrics = new Metrics()
  const { setHealthy } = healthMetric(metrics)
  backupMetric(metrics, data.dir)
  const check = healthCheck({ database, installation, folder: data.edgeDir, clock: hostClock })
  const reportHealth = healthReport({ check, setHealthy, log: plan.log, signal })
  const stale = staleWebhooks(hostClock, plan.log)
  const end = new AbortController()
  if (variables.METRICS_PORT) watchItsEnds(plan, metrics, end.signal)
  let running: EdgeHere | undefined
  // Boards are found before there is an edge, and sent to it only when they run.
  const edgeHere = (): EdgeHere => {
    if (!running) throw new Error('A board was sent before its edge was there.')
    return running
  }
  const boards = plan.boards && (await openBoardsHere(plan.boards, plan, metrics, edgeHere))
  const edge = await openNodeEdge({
    metrics,
    beforeMetrics: reportHealth,
    env: { ...variables, DATA_DIR: data.edgeDir, CONSOLE_DIR: page.dir },
    file: withHealthz(
      plan.file,
      async () => (signal.aborted ? 'This process is ending.' : await check()),
      async () => [...stale.warnings(), ...(await pauseWarnings(database()))],
    ),
    log: stale.log,
    installation,
    onBegun,
    ...defined({ sweepEveryMs, stopWithinMs }),
    schema,
  }).catch((error: unknown) => {
    throw isDamaged(error) ? payments.damaged(error) : refusal(error, variables)
  })
  await payments.opened()
  running = { edge, auth: readAuth(variables) }
  void reportHealth()
  const checking = setInterval(() => void reportHealth(), CHECKED_EVERY_MS)
  const published = boards?.run(end.signal)
  return {
    edge,
    boards: () => boards?.boards() ?? [],
    ready: Promise.all([page.ready, published?.ready]),
    reload(fresh) {
      edge.reload(fresh)
      running = { edge, auth: readAuth(fresh) }
    },
    async close() {
      end.abort()
      clearInterval(checking)
      await edge.close(published?.ended)
    },
  }
}

/** The metrics of when its tokens and certificates end. */
function watchItsEnds(
  { sharedUrl, variables }: SystemPlan,
  metrics: Metrics,
  signal: AbortSignal,
): void {
  const { LIBSQL_AUTH_TOKEN: authToken, SIGNALBOX_PUBLIC_URL } = variables
  const reached = URL.parse(sharedUrl ?? SIGNALBOX_PUBLIC_URL ?? '')
  const tokens = authToken ? { database: () => authToken } : {}
  watchEnds(metrics, { tokens, url: reached ?? undefined, signal })
}

/** Where nothing can listen, as Node's errors have it. */
interface ListenFailure {
  syscall?: string
  address?: string
  hostname?: string
  port?: number
}

/** What a start cannot work with, as a sentence. */
function refusal(error: unknown, { HOST = '', PORT, METRICS_HOST, METRICS_PORT }: Variables) {
  if (error instanceof ConfigError) {
    return new StartError('bad_configuration', error.message, { cause: error })
  }
  const { syscall, address, hostname, port = Number(PORT) } = error as ListenFailure
  const code = errorCode(error)
  const ofMetrics = hostname ? hostname === METRICS_HOST : port === Number(METRICS_PORT)
  const host = hostname ?? address ?? (ofMetrics ? METRICS_HOST : HOST) ?? LOOPBACK
  const isForeign = syscall === 'listen' && code === 'EADDRNOTAVAIL'
  if (isForeign || (code === 'ENOTFOUND' && (ofMetrics || hostname === HOST))) {
    const name = ofMetrics ? 'METRICS_HOST' : 'HOST'
    const why = `${name}: ${host} is no address of this machine (${code}).`
    return new StartError('bad_configuration', why, { cause: error })
  }
  if (syscall !== 'listen') return error
  return portRefused(host, port, code, ofMetrics ? 'METRICS_PORT' : '--port')
}

interface EdgeHere {
  edge: NodeEdge
  /** What it verifies tokens by; its first secret signs what sidecars send. */
  auth: AuthConfig
}

/** The sidecars in the process of their edge: without a socket, and each with its own token. */
function openBoardsHere(
  { isPolling, notices: rules, ...boards }: BoardsHere,
  { data, version, sidecarLog: log }: SystemPlan,
  metrics: Metrics,
  edgeHere: () => EdgeHere,
): Promise<OpenBoards> {
  return openBoards({
    ...boards,
    cacheDir: data.cacheDir,
    path: process.env.PATH,
    version,
    log,
    metrics,
    watch: isPolling ? undefined : watchChokidar,
    edgeOf(repo) {
      const { edge } = edgeHere()
      const token = tokenSource(repo, () => edgeHere().auth)
      const transport = callTransport(async (request) => {
        request.headers.set('authorization', `Bearer ${await token()}`)
        return await edge.fetch(request)
      })
      const notices = noticePlan(rules, log)
      return new EdgeHttp({ url: new URL(edge.url), repo, token, transport, notices })
    },
  })
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
