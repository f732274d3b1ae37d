// Where gateways call back. Protected by the callbacks' signatures alone: no token is asked for.

import { type Context, Hono } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import { correlationIdOf } from '../correlation.ts'
import type { Middleware } from '../define-config.ts'
import type { Payments } from '../payments.ts'
import type { WebhookAnswer } from './receive.ts'

const BODY_BYTES = 256 << 10

/** Named `payments.webhook` and `payments.webhook.callback`; mounted at the root. */
export function webhookRoutes(payments: Payments, now: () => number): Hono {
  const { routePrefix, middleware } = payments.config
  const app = new Hono()
  const receive = (c: Context) => run(middleware, c.req.raw, () => answer(c, payments, now))
  for (const path of [`/${routePrefix}/:gateway`, `/${routePrefix}/:gateway/callback`]) {
    app.post(path, receive)
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

const limit = bodyLimit({
  maxSize: BODY_BYTES,
  onError: () => new Response(null, { status: 413 }),
})
const nothing = async () => undefined

async function answer(c: Context, payments: Payments, now: () => number): Promise<Response> {
  const receivedAt = now()
  const correlationId = correlationIdOf(c.req.header('X-Correlation-Id'), receivedAt)
  const say = (status: WebhookAnswer['status'] | 413, word: WebhookAnswer['word'] | 'too_large') =>
    new Response(word, {
      status,
      headers: {
        'Content-Type': 'text/plain; charset=utf-8',
        'X-Correlation-Id': correlationId,
        ...(status === 503 && { 'Retry-After': '5' }),
      },
    })

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
