// Mounts the routes on one app: request id, authentication before anything under /api, one onError.

import { type Handler, Hono, type MiddlewareHandler } from 'hono'
import { cors } from 'hono/cors'
import { etag } from 'hono/etag'
import { requestId } from 'hono/request-id'
import { getPath } from 'hono/utils/url'
import { type BoardDeps, boardRoutes } from './board/api/routes.ts'
import type { Config } from './config.ts'
import type { Assets } from './console/assets.ts'
import { pageRoutes } from './console/routes.ts'
import { mcpRoutes } from './mcp/routes.ts'
import { KEPT_ON_304 } from './payments/api/reads-hono.ts'
import { paymentRoutes } from './payments/api/routes-hono.ts'
import type { HostFetch } from './payments/define-config.ts'
import type { Payments } from './payments/payments.ts'
import {
  routePath,
  routePrefixOf,
  WEBHOOK_ROUTE_NAMES,
  webhookPath,
} from './payments/webhooks/route-names.ts'
import { webhookRoutes } from './payments/webhooks/routes.ts'
import { type Spend, sessionRoutes, signInRoutes } from './session/routes.ts'
import { type ApiEnv, isWrite, requireKnownOrigin } from './shared/access.ts'
import { Problem, problemResponse } from './shared/problem.ts'
import { sha256Hex } from './shared/sha256.ts'

export type AppDeps = Omit<BoardDeps, 'directoryLimits' | 'secrets' | 'signsNotices'> & {
  config: Config
  /** Undefined: neither a gateway nor a database is configured. */
  payments: Payments | undefined
  /** The host application, for all requests that are not ours. */
  hostFetch: HostFetch | undefined
  /** The console's page, as it was built. */
  assets: Assets
  /** Only its own machine reaches it. */
  isOnLoopback?: boolean
  /** Absent: the host compresses answers by itself. */
  compressed?: MiddlewareHandler<ApiEnv>
}

export function createApp(deps: AppDeps): Hono<ApiEnv> {
  const { access, config, log, payments, clock } = deps
  const routePrefix = payments?.config.routePrefix ?? routePrefixOf({})
  const app = new Hono<ApiEnv>({
    getPath: (request) => webhookPath(getPath(request), routePrefix),
  })
  if (config.auth.problem !== undefined) {
    log('error', 'config.refused', { error: config.auth.problem })
  }
  // Mounted before CORS and auth: gateways use neither, and each would cost a webhook as much time
  // as its signature does.
  if (payments) app.route('/', webhookRoutes(payments, clock, log))
  if (deps.compressed) app.use(deps.compressed)
  app.use(requestId({ headerName: 'X-Request-Id' }))
  app.use(
    cors({
      origin: config.allowedOrigins,
      credentials: true,
      // biome-ignore format: several names a line.
      allowHeaders: [
        'Authorization', 'Content-Type', 'If-None-Match', 'Last-Event-ID',
        'Idempotency-Key', 'X-Correlation-Id', 'MCP-Protocol-Version', 'Mcp-Method', 'Mcp-Name',
      ],
      // biome-ignore format: several names a line.
      exposeHeaders: [
        'ETag', 'Retry-After', 'X-Signalbox-Seq', 'X-Request-Id', 'X-Correlation-Id',
      ],
      maxAge: 600,
    }),
  )

  // Hosts pass any Host header on in the URL. An invalid one would fail in the code that reads it.
  app.use(async (c, next) => {
    if (URL.canParse(c.req.url)) return next()
    throw new Problem('invalid_request', 'The Host header names no host.')
  })

  app.route('/', pageRoutes(deps.assets))
  app.get('/openapi.json', etag({ retainedHeaders: KEPT_ON_304 }), openapiRoute(routePrefix))
  // Before the authentication, since this is how a client gets its token or cookie.
  const { publicUrl } = config
  const knownOrigins = [...config.allowedOrigins, ...(publicUrl === undefined ? [] : [publicUrl])]
  const spend: Spend = (path, ...code) => deps.repositories.open(path).spend(...code)
  app.route('/api', signInRoutes({ access, knownOrigins, clock, spend }))

  app.use('/api/*', async (c, next) => {
    const grant = await access.authenticate(c.req.raw)
    if (grant.via === 'cookie' && isWrite(c.req.raw)) requireKnownOrigin(c.req.raw, knownOrigins)
    c.set('grant', grant)
    c.env?.granted?.()
    await next()
  })
  if (payments) {
    app.route('/api/payments', paymentRoutes(payments, clock.now))
  } else {
    app.all('/api/payments/*', () => {
      throw new Problem('not_configured', 'No payments are configured: set LIBSQL_URL.')
    })
  }
  app.route('/api', sessionRoutes(access))
  app.route(
    '/api',
    boardRoutes({
      ...deps,
      directoryLimits: config.directory,
      secrets: config.auth.secrets,
      signsNotices: config.notices.signing.length > 0,
    }),
  )
  app.route(
    '/mcp',
    mcpRoutes({
      access,
      knownOrigins,
      publicUrl,
      isOnLoopback: deps.isOnLoopback ?? false,
      secret: config.auth.secrets[0],
      send: async (request, env) => await app.fetch(request, env),
      log,
    }),
  )

  app.notFound(async (c) => {
    const answer = await deps.hostFetch?.(c.req.raw, { payments })
    c.set('isForeign', answer !== undefined)
    return answer ?? problemResponse(new Problem('not_found', 'There is nothing here.'))
  })
  app.onError((error, c) => {
    const problem = error instanceof Problem ? error : undefined
    const fields = { method: c.req.method, route: c.req.path, requestId: c.get('requestId') }
    if (problem) {
      const level = problem.cause === undefined ? 'debug' : 'warn'
      log(level, 'http.refused', { ...fields, code: problem.reason, cause: String(problem.cause) })
    } else log('error', 'http.failed', { ...fields, error: error.stack ?? String(error) })
    const known = problem ?? new Problem('internal', 'Something failed on our side.')
    const response = problemResponse(known)
    // A browser shows a refusal to its page only with the CORS headers that an answer has.
    for (const [name, value] of c.res.headers) {
      if (!response.headers.has(name)) response.headers.set(name, value)
    }
    return response
  })
  return app
}

/** It is loaded and hashed with the first request for it, and kept. */
function openapiRoute(routePrefix: string): Handler {
  let kept: { text: string; tag: string } | undefined
  return async (c) => {
    if (kept === undefined) {
      const { default: document } = await import('../libraries/api/openapi.json', {
        with: { type: 'json' },
      })
      const text = JSON.stringify({ ...document, paths: pathsWith(routePrefix, document.paths) })
      kept = { text, tag: await sha256Hex(text) }
    }
    return c.body(kept.text, 200, {
      ETag: `"${kept.tag}"`,
      'Content-Type': 'application/json',
      'Cache-Control': 'public, max-age=300',
    })
  }
}

/** The document was generated with the default prefix. */
function pathsWith(routePrefix: string, paths: object): object {
  const renamed = new Map(
    WEBHOOK_ROUTE_NAMES.map((name) => [
      routePath(name, routePrefixOf({}), '{gateway}'),
      routePath(name, routePrefix, '{gateway}'),
    ]),
  )
  const entries = Object.entries(paths).map(([path, item]) => [renamed.get(path) ?? path, item])
  return Object.fromEntries(entries)
}
