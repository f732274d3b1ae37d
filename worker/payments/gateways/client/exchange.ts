// One request to a gateway and what came of it, as data: no retries, no breaker, no tokens of its
// own. Nothing that was sent is repeated in what it answers, so it may be logged.

import type { Clock } from '../../../shared/clock.ts'
import { DeadlineExceeded, within } from '../../../shared/deadline.ts'
import type { GatewayReply, GatewayRequest } from '../gateway.ts'

/** For one try. A payer waits for this; slower answers have been seen to be no answers. */
export const TIMEOUT_MS = 15_000
/** A try that has less time is hardly ever answered, and may be carried out all the same. */
export const MIN_TRY_MS = 1_000
/** Gateways answer with a few KiB. More is no answer of theirs and would fill our memory. */
const MOST_BYTES = 1024 * 1024
/** Too early, too slow, too many: says nothing about what was asked. */
const BUSY = [408, 425, 429]

export type Exchanged = { ok: true; reply: GatewayReply } | ({ ok: false } & Trouble)

export interface Trouble {
  reason:
    | 'timeout'
    | 'connection'
    | 'redirect'
    | 'too_large'
    | 'not_json'
    | 'busy'
    | 'server_error'
    | 'no_token'
    | 'no_time'
  durationMs: number
  status?: number
  retryAfterMs?: number
  /** More of the reason, free of secrets. */
  detail?: string
}

/** `deadlineAt`, in ms: of the whole call, of which this exchange may be one part. */
export type Exchange = (
  request: GatewayRequest,
  deadlineAt: number,
  token?: string,
) => Promise<Exchanged>

export function createExchange({
  fetch,
  clock,
}: {
  fetch: typeof globalThis.fetch
  clock: Clock
}): Exchange {
  return async (request, deadlineAt, token) => {
    const startedAt = clock.now()
    const leftMs = deadlineAt - startedAt
    const trouble = (reason: Trouble['reason'], more: Partial<Trouble> = {}): Exchanged => ({
      ok: false,
      reason,
      durationMs: clock.now() - startedAt,
      ...more,
    })

    async function ask(signal: AbortSignal): Promise<Exchanged> {
      const response = await fetch(request.url, { ...initOf(request, token), signal })
      const { status } = response
      // Followed, it would carry the token and the payment to wherever it points.
      if (status < 200 || (status >= 300 && status < 400)) {
        await response.body?.cancel()
        return trouble('redirect', { status })
      }
      const text = await readText(response)
      const retryAfterMs = retryAfter(response.headers.get('retry-after'), clock.now())
      const about = { status, ...(retryAfterMs !== undefined && { retryAfterMs }) }
      if (status >= 500) return trouble('server_error', about)
      if (BUSY.includes(status)) return trouble('busy', about)
      if (text === undefined) return trouble('too_large', about)
      const parsed = parse(text)
      return parsed ? { ok: true, reply: { status, ...parsed } } : trouble('not_json', about)
    }

    if (leftMs < MIN_TRY_MS) return trouble('no_time')
    try {
      return await within(clock, Math.min(TIMEOUT_MS, leftMs), ask)
    } catch (error) {
      if (error instanceof DeadlineExceeded) return trouble('timeout')
      const detail = codeOf(error)
      return trouble('connection', detail === undefined ? {} : { detail })
    }
  }
}

function initOf({ method, headers, json, form }: GatewayRequest, token?: string): RequestInit {
  const body = form ? new URLSearchParams(form) : json === undefined ? null : JSON.stringify(json)
  return {
    method,
    headers: {
      accept: 'application/json',
      ...(json !== undefined && !form && { 'content-type': 'application/json' }),
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...headers,
    },
    body,
    redirect: 'manual',
  }
}

/** Undefined: it is longer than a gateway's answer may be. */
async function readText({ body }: Response): Promise<string | undefined> {
  if (!body) return ''
  const reader = body.getReader()
  const decoder = new TextDecoder()
  let text = ''
  let bytes = 0
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return text + decoder.decode()
    bytes += value.byteLength
    if (bytes > MOST_BYTES) {
      await reader.cancel()
      return undefined
    }
    text += decoder.decode(value, { stream: true })
  }
}

/** Undefined: an outage page, or half an answer. */
function parse(text: string): { body: unknown } | undefined {
  if (text.trim() === '') return { body: undefined }
  try {
    return { body: JSON.parse(text) }
  } catch {
    // The parser quotes what it read, and that may hold a token: what it says goes no further.
    return undefined
  }
}

function retryAfter(header: string | null, now: number): number | undefined {
  if (header === null) return undefined
  const ms = /^\d{1,9}$/.test(header) ? Number(header) * 1_000 : Date.parse(header) - now
  return Number.isNaN(ms) ? undefined : Math.max(ms, 0)
}

/** `ECONNREFUSED` and the like. A message is not told: it may quote a header with its token. */
function codeOf(error: unknown): string | undefined {
  const { cause } = error instanceof Error ? error : { cause: undefined }
  const code = typeof cause === 'object' && cause !== null && 'code' in cause && cause.code
  return typeof code === 'string' && /^[A-Z_]{1,40}$/.test(code) ? code : undefined
}
