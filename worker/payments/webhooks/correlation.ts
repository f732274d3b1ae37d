// The id that follows one request through answers, rows and log lines.

import { drawId } from '../domain/new-id.ts'

export const CORRELATION_ID = 'X-Correlation-Id'
const ID = /^[A-Za-z0-9_-]{8,64}$/

/** The caller's own id if it is one, else a new one. `now` in ms. */
export const correlationIdOf = (header: string | null | undefined, now: number): string =>
  header && ID.test(header) ? header : drawId(now)

/** The request with the id in its header. Its body has moved: only the answer is to be read. */
export function carrying(request: Request, correlationId: string): Request {
  if (request.headers.get(CORRELATION_ID) === correlationId) return request
  const headers = new Headers(request.headers)
  headers.set(CORRELATION_ID, correlationId)
  return new Request(request, { headers })
}
