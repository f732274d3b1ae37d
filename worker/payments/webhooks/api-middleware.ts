// The middleware named `api`: what any answer to a machine carries.

import type { Middleware } from '../define-config.ts'

export const apiMiddleware: Middleware = async (_request, next) =>
  withHeaders(await next(), { 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff' })

/** Of an answer that was fetched, which a middleware may give, only a copy can be changed. */
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
