// Where gateways call back. Protected by the callbacks' signatures alone: no token is asked for.

import { type Context, Hono } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import type { Log } from '../../shared/log.ts'
import type { Middleware } from '../define-config.ts'
import type { Payments } from '../payments.ts'
import { apiMiddleware, withHeaders } from './api-middleware.ts'
import { CORRELATION_ID, carrying, correlationIdOf } from './correlation.ts'
import type { WebhookAnswer } from './receive.ts'
import { routePath, WEBHOOK_ROUTE_NAMES } from './route-names.ts'

const BODY_BYTES = 256 << 10

/** Of the names in `route-names.ts`; mounted at the root. */
export function webhookRoutes(payments: Payments, now: () => number, log: Log): Hono {
  const { routePrefix, middleware } = payments.config
  // A copy of the request costs a webhook some 50 µs, and our own middleware reads nothing of it.
  const isRead = middleware.some((each) => each !== apiMiddleware)

  /** The id is the first of all, so that the answer carries it, whoever answers. */
  async function receive(c: Context): Promise<Response> {
    const receivedAt = now()
    const correlationId = correlationIdOf(c.req.header(CORRELATION_ID), receivedAt)
    if (isRead) c.req.raw = carrying(c.req.raw, correlationId)
    const last = () => answer(c, payments, { receivedAt, correlationId })
    const response = await run(middleware, c.req.raw, last).catch((error: unknown) => {
      log('error', 'payments.webhook.crashed', { correlationId, error: String(error) })
      return say(500, 'error')
    })
    return withHeaders(response, { [CORRELATION_ID]: correlationId })
  }

  const app = new Hono()
  for (const name of WEBHOOK_ROUTE_NAMES)
    app.post(routePath(name, routePrefix, ':gateway'), receive)
  return app
}

async function run(
  [first, ...rest]: readonly Middleware[],
  request: Request,
  last: () => Promise<Response>,
): Promise<Response> {
  const answered = await (first ? first(request, () => run(rest, request, last)) : last())
  if (answered instanceof Response) return answered
  throw new TypeError('a middleware of payments.webhooks answers nothing')
}

const limit = bodyLimit({
  maxSize: BODY_BYTES,
  onError: () => new Response(null, { status: 413 }),
})
const nothing = async () => undefined

const say = (status: WebhookAnswer['status'] | 413, word: WebhookAnswer['word'] | 'too_large') =>
  new Response(word, {
    status,
    headers: {
      'Content-Type': 'text/plain; charset=utf-8',
      ...(status === 503 && { 'Retry-After': '5' }),
    },
  })

async function answer(
  c: Context,
  payments: Payments,
  { receivedAt, correlationId }: { receivedAt: number; correlationId: string },
): Promise<Response> {
  const key = c.req.param('gateway') ?? ''
  // Before anything is read: for nobody, nothing is too large either.
  if (!payments.config.gateways.has(key)) return say(404, 'unknown')
  if (await limit(c, nothing)) return say(413, 'too_large')
  const { headers } = c.req.raw
  const { url } = c.req
  const request = {
    headers,
    query: new URLSearchParams(url.includes('?') ? url.slice(url.indexOf('?')) : ''),
    body: await c.req.text(),
    receivedAt,
  }
  const { status, word } = await payments.receive(key, request, correlationId)
  return say(status, word)
}
