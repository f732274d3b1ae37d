// The routes for gateways' webhooks, and the middlewares around them. Signatures protect them: no
// access token is needed.

import { type Context, Hono } from 'hono'
import { bodyRefusal, readBytes } from '../../shared/body-limit-hono.ts'
import { type Clock, DeadlineExceeded, within } from '../../shared/clock.ts'
import type { Log } from '../../shared/log.ts'
import { Problem } from '../../shared/problem.ts'
import { CORRELATION_ID, correlationIdOf } from '../domain/new-id.ts'
import type { Middleware } from '../facade.ts'
import type { WebhookRequest } from '../gateways/gateway.ts'
import type { Receive, WebhookAnswer } from './receive.ts'
import { routePath, WEBHOOK_ROUTE_NAMES } from './route-names.ts'

const MAX_BODY_BYTES = 256 << 10
/** A gateway sends its few KiB at once. Who takes longer only holds a connection. */
const BODY_MS = 10_000

export interface WebhookDeps {
  config: {
    gateways: ReadonlyMap<string, unknown>
    routePrefix: string
    /** The outermost first. `api`: our own. */
    middleware: readonly (Middleware | 'api')[]
  }
  receive: Receive
}

/** The routes of `route-names.ts`; mounted at the root. */
export function webhookRoutes(
  payments: WebhookDeps,
  clock: Pick<Clock, 'now' | 'after'>,
  log: Log,
): Hono {
  const { routePrefix, middleware: named } = payments.config
  const middleware = named.map((each) => (each === 'api' ? apiMiddleware : each))
  // Copying the request takes about 50 µs, and our own middleware does not read it.
  const isRequestRead = named.some((each) => each !== 'api')

  /** The correlation id comes first, so that every answer has it. */
  async function receive(c: Context): Promise<Response> {
    const receivedAt = clock.now()
    const correlationId = correlationIdOf(c.req.header(CORRELATION_ID), receivedAt)
    const respondTo = async (read: ReadWebhook | Response, { headers }: Request) => {
      if (read instanceof Response) return read
      const { key, ...body } = read
      const { url } = c.req
      const query = new URLSearchParams(url.includes('?') ? url.slice(url.indexOf('?')) : '')
      const request = { headers, query, ...body, receivedAt }
      const answered = await payments.receive(key, request, correlationId)
      return respond(answered.status, answered.body)
    }
    const answer = async () => {
      if (!isRequestRead) {
        return await runMiddleware(middleware, c.req.raw, {
          copy: (request) => request,
          handler: async (request) => await respondTo(await readInTime(c), request),
        })
      }
      c.req.raw = withCorrelationId(c.req.raw, correlationId)
      const read = await readInTime(c)
      const bytes = read instanceof Response ? undefined : read.bytes
      return await runMiddleware(middleware, c.req.raw, {
        copy: (request) => withBody(request, bytes),
        handler: (request) => respondTo(read, request),
      })
    }
    const response = await answer().catch((error: unknown) => {
      const fields = { correlationId, error: String(error) }
      // The only Problem here is a body whose sender left in the middle: it gets no answer.
      if (error instanceof Problem) log('debug', 'payments.webhook.refused', fields)
      else log('error', 'payments.webhook.crashed', fields)
      return respond(500, 'error')
    })
    return withHeaders(response, { [CORRELATION_ID]: correlationId })
  }

  const readInTime = (c: Context) =>
    within(clock, BODY_MS, () => readWebhook(c, payments)).catch((error: unknown) => {
      if (error instanceof DeadlineExceeded) return respond(408, 'timeout')
      throw error
    })

  const app = new Hono()
  for (const name of WEBHOOK_ROUTE_NAMES) app.all(routePath(name, routePrefix, ':gateway'), receive)
  return app
}

type ReadWebhook = Pick<WebhookRequest, 'bytes' | 'body'> & { key: string }

/** The answer to a request that is refused before its body is read. */
async function readWebhook(c: Context, { config }: WebhookDeps): Promise<ReadWebhook | Response> {
  const key = c.req.param('gateway') ?? ''
  if (!config.gateways.has(key)) return respond(404, 'unknown')
  if (c.req.method !== 'POST') return respond(405, 'not_allowed')
  // What it inflates to is not what was signed, and may be any number of times as long.
  const coding = c.req.header('Content-Encoding')?.trim().toLowerCase() || 'identity'
  if (coding !== 'identity') return respond(415, 'compressed')
  const refused = await tooLarge(c)
  if (refused) return refused
  const bytes = await readBytes(c)
  return { key, bytes, body: new TextDecoder().decode(bytes) }
}

const tooLarge = bodyRefusal({
  maxSize: MAX_BODY_BYTES,
  onError: () => respond(413, 'too_large'),
})

/** What a webhook is answered, if no middleware answers. */
export type WebhookResponse =
  | WebhookAnswer
  | { status: 405; body: 'not_allowed' }
  | { status: 408; body: 'timeout' }
  | { status: 413; body: 'too_large' }
  | { status: 415; body: 'compressed' }

const respond = (status: WebhookResponse['status'], body: WebhookResponse['body']): Response =>
  new Response(body, {
    status,
    headers: {
      'Content-Type': 'text/plain; charset=utf-8',
      ...(status === 405 && { Allow: 'POST' }),
      // What is still to come would precede the next request.
      ...(status === 408 && { Connection: 'close' }),
      ...(status === 415 && { 'Accept-Encoding': 'identity' }),
      ...(status === 503 && { 'Retry-After': '5' }),
    },
  })

/**
 * A copy with the id in its header. The body moves to it: do not read the old request. Under Node
 * that is a stand-in, for which a middleware's `new Request(request, …)` would throw.
 * @forTests Each runtime's own Request.
 */
export function withCorrelationId(request: Request, correlationId: string): Request {
  const copy = new Request(request.url, request)
  copy.headers.set(CORRELATION_ID, correlationId)
  return copy
}

/** A copy with a body that was read already; with none for what is refused anyway. */
const withBody = (
  { url, method, headers, signal }: Request,
  bytes: Uint8Array<ArrayBuffer> | undefined,
): Request => new Request(url, { method, headers, signal, ...(bytes && { body: bytes }) })

/** The middleware named `api`: the headers of every answer to a machine. */
const apiMiddleware: Middleware = async (_request, next) =>
  withHeaders(await next(), { 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff' })

/** The headers of a fetched response cannot be changed, so such a response is copied. */
function withHeaders(response: Response, headers: Record<string, string>): Response {
  try {
    for (const [name, value] of Object.entries(headers)) response.headers.set(name, value)
    return response
  } catch {
    const copy = new Headers(response.headers)
    for (const [name, value] of Object.entries(headers)) copy.set(name, value)
    const { status, statusText, body } = response
    return new Response(body, { status, statusText, headers: copy })
  }
}

interface Chain {
  /** A request for one middleware: its own, since a body can be read once. */
  copy(request: Request): Request
  handler(request: Request): Promise<Response>
}

/** Runs the middlewares, the outermost first, around the handler. */
async function runMiddleware(
  [first, ...rest]: readonly Middleware[],
  request: Request,
  chain: Chain,
): Promise<Response> {
  if (!first) return await chain.handler(request)
  const own = chain.copy(request)
  const response = await first(own, () => runMiddleware(rest, own, chain))
  if (response instanceof Response) return response
  throw new TypeError('a middleware of payments.webhooks returned no response')
}
