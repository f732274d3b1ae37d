// The sidecar of a board in the process of its edge: without a socket, and with its own token.

import type { RunOutput } from '../../sidecar/files/file-reader.ts'
import type { Store } from '../../sidecar/layouts/layout.ts'
import type { Log } from '../../sidecar/log.ts'
import { openSidecar } from '../../sidecar/open-sidecar.ts'
import { callTransport, EdgeHttp } from '../../sidecar/publish/edge-http.ts'
import { watchChokidar } from '../../sidecar/watch/watch-chokidar.ts'
import type { AuthConfig } from '../../worker/shared/auth-config.ts'
import { hostClock } from '../../worker/shared/clock.ts'
import type { Metrics } from '../../worker/shared/metrics.ts'
import { createTokens } from '../../worker/shared/tokens.ts'

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

export interface PublishPlan extends BoardPlan {
  edge: { url: string; fetch(request: Request): Promise<Response> }
  /** As the edge has it now: the first secret signs what the sidecar sends. */
  auth: () => AuthConfig
  cacheDir: string
  /** What the edge's status says of this sidecar. */
  version: string
  log: Log
  metrics: Metrics
}

export interface Publishing {
  /** Resolves when the edge holds all of the board; rejects when that cannot be. */
  ready: Promise<void>
  /** Never resolves. Rejects when the sidecar failed by a defect. */
  failed: Promise<never>
  tasks(): number
  /** Publishes what is pending, and ends. */
  close(): Promise<void>
}

/** A token is made for each message, so that none outlives the secret that signed it. */
const TOKEN_MS = 60_000

export function publishBoard(plan: PublishPlan): Publishing {
  const { edge, repo, auth, store, log } = plan
  const claims = { sub: 'local:sidecar', scope: 'board:read board:write', repos: [repo] }
  const token = () =>
    createTokens(auth(), { clock: hostClock, fetch }).sign(claims, 'api', Date.now() + TOKEN_MS)
  const transport = callTransport(async (request) => {
    request.headers.set('authorization', `Bearer ${await token()}`)
    return await edge.fetch(request)
  })
  const { sidecar, publisher, board } = openSidecar({
    store,
    edge: new EdgeHttp({ url: new URL(edge.url), repo, token, transport }),
    cacheDir: plan.cacheDir,
    watch: plan.isPolling ? undefined : watchChokidar,
    runOutput: plan.runOutput,
    log,
    version: plan.version,
    metrics: plan.metrics,
    ...(plan.terminal && { terminal: plan.terminal }),
  })
  const end = new AbortController()
  const running = sidecar.run(end.signal)
  const failed = running.then(() => new Promise<never>(() => undefined))
  // A failure is for those who wait for it. Until then it must not end the process.
  failed.catch(() => undefined)
  const tasks = () => board.files.count('task')
  const synced = publisher.synced().then(() => {
    // Since the process began, its own loading included.
    const ms = Math.round(performance.now())
    if (!end.signal.aborted)
      log('info', 'sidecar.ready', { files: board.files.size, tasks: tasks(), ms })
  })
  return {
    ready: Promise.race([synced, failed]),
    failed,
    tasks,
    async close() {
      end.abort()
      await running.catch(() => undefined)
      const { behind, dirty } = publisher.status()
      log(behind ? 'warn' : 'info', 'sidecar.ended', { behind, dirty })
    },
  }
}
