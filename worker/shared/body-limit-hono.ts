// Reads the body of a request, up to its limit.

import type { Context, MiddlewareHandler } from 'hono'
import { bodyLimit as countedLimit } from 'hono/body-limit'
import { Problem } from './problem.ts'

interface BodyLimit {
  maxSize: number
  /** The answer to a longer body. May throw it. */
  onError(c: Context): Response
}

/** `why`: a sentence. Throws `payload_too_large`. */
export function bodyLimit(maxSize: number, why: string): MiddlewareHandler {
  const onError = () => {
    throw new Problem('payload_too_large', why)
  }
  const refusal = bodyRefusal({ maxSize, onError })
  return async (c, next) => (await refusal(c)) ?? next()
}

/**
 * The answer to a body that is too long; undefined to any other. Where the length is declared, the
 * body is not looked at: under Node that would make a stream of it, which costs more than all else
 * that is done with a small request.
 */
export function bodyRefusal({
  maxSize,
  onError,
}: BodyLimit): (c: Context) => Promise<Response | undefined> {
  const counted = countedLimit({ maxSize, onError })
  return async (c) => {
    const length = c.req.header('Content-Length')
    // With both of them the length is not that of the body.
    const isDeclared = length !== undefined && c.req.header('Transfer-Encoding') === undefined
    if (isDeclared && Number(length) <= maxSize) return undefined
    if (isDeclared) {
      if (CUTS_OFF) await discard(c.req.raw.body)
      return onError(c)
    }
    // Under Node the request is a stand-in, and hono's `new Request(raw, …)` throws for one.
    c.req.raw = new Request(c.req.url, c.req.raw)
    const refused = await counted(c, noNext).catch((error: unknown) => throwCutOff(c, error))
    return refused ?? undefined
  }
}

const noNext = async () => undefined

/**
 * workerd resets the connection after an answer to a request whose body nobody read: a client that
 * sends all of it first would never see why it was refused. The other hosts read on by themselves.
 */
const { navigator } = globalThis as { navigator?: { userAgent?: string } }
const CUTS_OFF = navigator?.userAgent === 'Cloudflare-Workers'
/** As long and as much as a client of ours may take for what it should not have sent. */
const DISCARD_MS = 10_000
const DISCARD_BYTES = 64 << 20

async function discard(body: ReadableStream<Uint8Array> | null): Promise<void> {
  const reader = body?.getReader()
  const timer = setTimeout(() => reader?.cancel().catch(() => undefined), DISCARD_MS)
  try {
    for (let bytes = 0; bytes < DISCARD_BYTES; ) {
      const read = await reader?.read()
      if (!read || read.done) break
      bytes += read.value.byteLength
    }
  } catch {
    // The client left: nobody waits for the answer.
  } finally {
    clearTimeout(timer)
  }
}

/** The body of a request. Throws `invalid_request` where the client left in the middle of it. */
export const readText = (c: Context): Promise<string> =>
  c.req.text().catch((error: unknown) => throwCutOff(c, error))

/** As `readText`, not decoded. */
export const readBytes = async (c: Context): Promise<Uint8Array<ArrayBuffer>> =>
  new Uint8Array(await c.req.arrayBuffer().catch((error: unknown) => throwCutOff(c, error)))

/** Deeper than any body of ours. Code that follows every level would end on one without end. */
const MAX_DEPTH = 64

/**
 * As `readText`. Undefined where the body is not JSON. Throws `invalid_request` where it is nested
 * too deep.
 */
export async function readJson(c: Context): Promise<unknown> {
  const text = await readText(c)
  let body: unknown
  try {
    body = JSON.parse(text)
  } catch {
    return undefined
  }
  if (isDeeper(body, MAX_DEPTH)) {
    throw new Problem('invalid_request', `The body is nested deeper than ${MAX_DEPTH} levels.`)
  }
  return body
}

function isDeeper(value: unknown, depth: number): boolean {
  let level = [value]
  for (let at = 0; at < depth; at++) {
    level = level.flatMap((each) =>
      typeof each === 'object' && each !== null ? Object.values(each).filter(isNested) : [],
    )
    if (level.length === 0) return false
  }
  return true
}

const isNested = (value: unknown): boolean => typeof value === 'object' && value !== null

/** A disconnect is not our error: it is logged at debug. */
function throwCutOff(c: Context, error: unknown): never {
  if (error instanceof Problem || !c.req.raw.signal.aborted) throw error
  throw new Problem('invalid_request', 'The body ends before its length.')
}
