// The app in this process, with repositories in memory.

import { createApp } from '../../worker/app.ts'
import { sqliteDirectory } from '../../worker/board/directory/directory-sqlite.ts'
import { boardMetrics } from '../../worker/board/metrics.ts'
import { createNoticeSender } from '../../worker/board/notices/notice-sender.ts'
import { ProcessRepositories } from '../../worker/board/repository/repositories-process.ts'
import { STREAM_LIMITS, type StreamLimits } from '../../worker/board/streams/stream.ts'
import { type Environment, readConfig } from '../../worker/config.ts'
import type { Assets } from '../../worker/console/assets.ts'
import type { HostFetch } from '../../worker/payments/define-config.ts'
import type { Payments } from '../../worker/payments/payments.ts'
import { sqliteEndedSessions } from '../../worker/session/ended-sessions-sqlite.ts'
import { accessMetrics, createAccess } from '../../worker/shared/access.ts'
import { type Clock, hostClock } from '../../worker/shared/clock.ts'
import { compressed } from '../../worker/shared/compress-hono.ts'
import type { EndedSessions } from '../../worker/shared/ended-sessions.ts'
import type { Log } from '../../worker/shared/log.ts'
import { Metrics } from '../../worker/shared/metrics.ts'
import { openSql } from '../../worker/shared/sql-node.ts'
import { type Edge, NOTICE_SECRET, SECRET, token } from './edge.ts'
import { serve } from './http.ts'
import { documentedFetch } from './openapi-operations.ts'
import { request } from './payments.ts'
import { type PaymentsSetup, setUpPayments } from './payments-setup.ts'

export interface ProcessEdgeOptions {
  env?: Environment
  clock?: Clock
  limits?: Partial<StreamLimits>
  log?: Log
  payments?: Payments
  metrics?: Metrics
  /** Default: in memory. */
  endedSessions?: EndedSessions
  hostFetch?: HostFetch
  /** Fetches the keys of AUTH_JWKS_URL. */
  fetch?: typeof fetch
  isOnLoopback?: boolean
  /** Default: no built page. */
  assets?: Assets
}

export interface ProcessEdge extends Edge {
  /** All routes and middlewares of the app, in order. */
  routes: readonly { method: string; path: string }[]
  /** `seen`: the origin that the app sees, if it differs from that of the browser. */
  fetch(path: string, init?: RequestInit, seen?: string): Promise<Response>
}

export function processEdge(options: ProcessEdgeOptions = {}): ProcessEdge {
  const config = readConfig(options.env ?? { AUTH_SECRETS: SECRET, NOTICE_SECRET })
  const clock = options.clock ?? hostClock
  const metrics = options.metrics ?? new Metrics()
  const app = createApp({
    config,
    repositories: new ProcessRepositories({
      openSql: (_path, make) => (make ? openSql(':memory:') : undefined),
      now: clock.now,
      elapsed: clock.elapsed,
      after: clock.after,
      maxIdle: Number.POSITIVE_INFINITY,
      log: () => undefined,
      sendNotice: createNoticeSender({
        secrets: config.auth.secrets,
        ...config.notices,
        allowsLoopback: true,
        clock,
        fetch: options.fetch ?? fetch,
      }),
      room: config.room,
      roomOfAll: config.room,
    }),
    directory: sqliteDirectory(openSql(':memory:')),
    access: createAccess(config.auth, {
      clock,
      fetch: options.fetch ?? fetch,
      metrics: accessMetrics(metrics),
      endedSessions: options.endedSessions ?? sqliteEndedSessions(openSql(':memory:')),
    }),
    clock,
    log: options.log ?? (() => undefined),
    payments: options.payments,
    hostFetch: options.hostFetch,
    assets: options.assets ?? { read: async () => undefined },
    isOnLoopback: options.isOnLoopback ?? false,
    compressed: compressed(),
    limits: { ...STREAM_LIMITS, ...options.limits },
    metrics: boardMetrics(metrics),
  })
  const origin = 'https://edge.test'
  const send: typeof fetch = async (input, init) => app.request(String(input), init)
  return {
    origin,
    routes: app.routes,
    fetch: (path, init, seen = origin) => documentedFetch(seen, send)(path, init),
  }
}

export interface PaymentsServer {
  setup: PaymentsSetup
  /** What `createPayments` is given. */
  place: { url: string; token: string }
  close(): Promise<void>
}

/** Payments with a scripted gateway, on a real port. */
export async function servePayments(env: Environment = {}): Promise<PaymentsServer> {
  const setup = setUpPayments()
  const edge = processEdge({ env: { AUTH_SECRETS: SECRET, ...env }, payments: setup.payments })
  const { url, close } = await serve(async ({ url, method, headers, body }) => {
    const { origin, pathname, search } = new URL(url)
    const init = { method, headers, ...(body && { body, duplex: 'half' as const }) }
    return await edge.fetch(`${pathname}${search}`, init, origin)
  })
  const scope = 'payments:read payments:write'
  return { setup, place: { url, token: await token({ scope, repos: [] }) }, close }
}

export const LAMP = request({ description: 'A lamp' })
