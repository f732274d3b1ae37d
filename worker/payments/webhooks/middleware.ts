// The middlewares of webhooks: the correlation id, the middleware named `api`, and the chain that
// runs them.

import { newId } from '../domain/new-id.ts'

/**
 * Runs around a webhook: returns its own response, or that of `next`. The request and the response
 * have the correlation id in `X-Correlation-Id`.
 */
export type Middleware = (
  request: Request,
  next: () => Promise<Response>,
) => Response | Promise<Response>

export const CORRELATION_ID = 'X-Correlation-Id'

/** A valid id is kept; anything else is replaced. */
export const CORRELATION_ID_PATTERN = /^[A-Za-z0-9_-]{8,64}$/

/** The id of the request's header if it is valid, else a new one. `now` in ms. */
export const correlationIdOf = (header: string | null | undefined, now: number): string =>
  header && CORRELATION_ID_PATTERN.test(header) ? header : newId(now)

/**
 * A copy with the id in its header. The body moves to it: do not read the old request. Under Node
 * that is a stand-in, for which a middleware's `new Request(request, …)` would throw.
 */
export function withCorrelationId(request: Request, correlationId: string): Request {
  const copy = new Request(request.url, request)
  copy.headers.set(CORRELATION_ID, correlationId)
  return copy
}

/** A copy with a body that was read already; with none for what is refused anyway. */
export const withBody = (
  { url, method, headers, signal }: Request,
  bytes: Uint8Array<ArrayBuffer> | undefined,
): Request => new Request(url, { method, headers, signal, ...(bytes && { body: bytes }) })

/** The middleware named `api`: the headers of every answer to a machine. */
export const apiMiddleware: Middleware = async (_request, next) =>
  withHeaders(await next(), { 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff' })

/** The headers of a fetched response cannot be changed, so such a response is copied. */
export function withHeaders(response: Response, headers: Record<string, string>): Response {
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
export async function runMiddleware(
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
