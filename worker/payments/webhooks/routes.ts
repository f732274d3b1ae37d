// The routes for gateways' webhooks. Signatures protect them: no access token is needed.

import { type Context, Hono } from 'hono'
import { bodyRefusal, readText } from '../../shared/body-limit-hono.ts'
import type { Log } from '../../shared/log.ts'
import { Problem } from '../../shared/problem.ts'
import type { Payments } from '../payments.ts'
import {
  apiMiddleware,
  CORRELATION_ID,
  correlationIdOf,
  runMiddleware,
  withCorrelationId,
  withHeaders,
} from './middleware.ts'
import type { WebhookAnswer } from './receive.ts'
import { routePath, WEBHOOK_ROUTE_NAMES } from './route-names.ts'

const MAX_BODY_BYTES = 256 << 10

/** The routes of `route-names.ts`; mounted at the root. */
export function webhookRoutes(payments: Payments, now: () => number, log: Log): Hono {
  const { routePrefix, middleware } = payments.config
  // Copying the request takes about 50 µs, and our own middleware does not read it.
  const isRequestRead = middleware.some((each) => each !== apiMiddleware)

  /** The correlation id comes first, so that every answer has it. */
  async function receive(c: Context): Promise<Response> {
    const receivedAt = now()
    const correlationId = correlationIdOf(c.req.header(CORRELATION_ID), receivedAt)
    if (isRequestRead) c.req.raw = withCorrelationId(c.req.raw, correlationId)
    const handler = () => handle(c, payments, { receivedAt, correlationId })
    const running = runMiddleware(middleware, c.req.raw, handler)
    const response = await running.catch((error: unknown) => {
      const fields = { correlationId, error: String(error) }
      // The only Problem here is a body whose sender left in the middle: nobody gets the answer.
      if (error instanceof Problem) log('debug', 'payments.webhook.refused', fields)
      else log('error', 'payments.webhook.crashed', fields)
      return respond(500, 'error')
    })
    return withHeaders(response, { [CORRELATION_ID]: correlationId })
  }

  const app = new Hono()
  for (const name of WEBHOOK_ROUTE_NAMES)
    app.post(routePath(name, routePrefix, ':gateway'), receive)
  return app
}

const tooLarge = bodyRefusal({
  maxSize: MAX_BODY_BYTES,
  onError: () => respond(413, 'too_large'),
})

const respond = (
  status: WebhookAnswer['status'] | 413,
  body: WebhookAnswer['body'] | 'too_large',
) =>
  new Response(body, {
    status,
    headers: {
      'Content-Type': 'text/plain; charset=utf-8',
      ...(status === 503 && { 'Retry-After': '5' }),
    },
  })

async function handle(
  c: Context,
  payments: Payments,
  { receivedAt, correlationId }: { receivedAt: number; correlationId: string },
): Promise<Response> {
  const key = c.req.param('gateway') ?? ''
  // An unknown gateway gets its 404 before the body is read.
  if (!payments.config.gateways.has(key)) return respond(404, 'unknown')
  const refused = await tooLarge(c)
  if (refused) return refused
  const { headers } = c.req.raw
  const { url } = c.req
  const request = {
    headers,
    query: new URLSearchParams(url.includes('?') ? url.slice(url.indexOf('?')) : ''),
    body: await readText(c),
    receivedAt,
  }
  const { status, body } = await payments.receive(key, request, correlationId)
  return respond(status, body)
}
