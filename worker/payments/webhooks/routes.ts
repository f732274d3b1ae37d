// Where gateways call back. Protected by the callbacks' signatures alone: no token is asked for.

import { type Context, Hono } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import { correlationIdOf } from '../correlation.ts'
import type { Middleware } from '../define-config.ts'
import type { Payments } from '../payments.ts'

const BODY_BYTES = 256 << 10

/** Named `payments.webhook` and `payments.webhook.callback`; mounted at the root. */
export function webhookRoutes(payments: Payments, now: () => number): Hono {
  const { routePrefix, middleware } = payments.config
  const app = new Hono()
  const limit = bodyLimit({
    maxSize: BODY_BYTES,
    onError: (c) => c.text('too_large', 413),
  })
  const receive = (c: Context) => run(middleware, c.req.raw, () => answer(c, payments, now))
  for (const path of [`/${routePrefix}/:gateway`, `/${routePrefix}/:gateway/callback`]) {
    app.post(path, limit, receive)
  }
  return app
}

function run(
  [first, ...rest]: readonly Middleware[],
  request: Request,
  last: () => Promise<Response>,
): Promise<Response> {
  return first ? Promise.resolve(first(request, () => run(rest, request, last))) : last()
}

async function answer(c: Context, payments: Payments, now: () => number): Promise<Response> {
  const receivedAt = now()
  const correlationId = correlationIdOf(c.req.header('X-Correlation-Id'), receivedAt)
  const { headers } = c.req.raw
  const request = {
    headers,
    query: new URL(c.req.url).searchParams,
    body: await c.req.text(),
    receivedAt,
  }
  const { status, word } = await payments.receive(
    c.req.param('gateway') ?? '',
    request,
    correlationId,
  )
  return new Response(word, {
    status,
    headers: {
      'Content-Type': 'text/plain; charset=utf-8',
      'X-Correlation-Id': correlationId,
      ...(status === 503 && { 'Retry-After': '5' }),
    },
  })
}
