// Compresses longer answers, for the hosts that leave it to the app.

import type { Context, MiddlewareHandler } from 'hono'
import { compress } from 'hono/compress'
import type { ApiEnv } from './access.ts'

/** A shorter answer fits a packet anyway. */
const LEAST_BYTES = 1024

/**
 * Gzip or deflate, as the request accepts it. Not event streams, nor answers of the host
 * application: these may be streams of any type, which would wait in the compressor.
 */
export function compressed(): MiddlewareHandler<ApiEnv> {
  const compressing = compress({ threshold: LEAST_BYTES })
  return async (c, next) => {
    await next()
    if (c.get('isForeign') || c.res.headers.get('Content-Type') === 'text/event-stream') return
    // A 304 has it, too.
    c.header('Vary', 'Accept-Encoding', { append: true })
    if (c.req.header('Accept-Encoding') === undefined) return
    await compressing(c, () => measure(c))
  }
}

/**
 * Hono's compresses every body of an unknown length. This gives a short one its length: to compress
 * it takes several times as long as to make it.
 */
async function measure(c: Context): Promise<void> {
  const { body, headers } = c.res
  if (!body || headers.has('Content-Length')) return
  const reader: ReadableStreamDefaultReader<Uint8Array> = body.getReader()
  const read: Uint8Array[] = []
  let bytes = 0
  let isWhole = false
  while (!isWhole && bytes < LEAST_BYTES) {
    const { done, value } = await reader.read()
    isWhole = done
    if (value) read.push(value)
    bytes += value?.length ?? 0
  }
  const whole = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const value = read.shift() ?? (await reader.read()).value
      if (value) controller.enqueue(value)
      else controller.close()
    },
    cancel: (reason) => reader.cancel(reason),
  })
  c.res = new Response(whole, c.res)
  if (isWhole) c.res.headers.set('Content-Length', String(bytes))
}
