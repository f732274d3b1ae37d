// The limit for the body of a request.

import type { Context, MiddlewareHandler } from 'hono'
import { bodyLimit as countedLimit } from 'hono/body-limit'

export interface BodyLimit {
  maxSize: number
  /** The answer to a longer body. May throw it. */
  onError(c: Context): Response
}

/**
 * As hono's. But where the length is declared, the body is not looked at: under Node that would
 * make a stream of it, which costs more than all else that is done with a small request.
 */
export function bodyLimit({ maxSize, onError }: BodyLimit): MiddlewareHandler {
  const counted = countedLimit({ maxSize, onError })
  return async (c, next) => {
    const length = c.req.header('Content-Length')
    // With both of them the length is not that of the body.
    const isDeclared = length !== undefined && c.req.header('Transfer-Encoding') === undefined
    if (!isDeclared) {
      // Under Node the request is a stand-in, and hono's `new Request(raw, …)` throws for one.
      c.req.raw = new Request(c.req.url, c.req.raw)
      return counted(c, next)
    }
    if (Number(length) > maxSize) return onError(c)
    return next()
  }
}
