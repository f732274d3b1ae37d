// One request to a gateway and its result, as data, and whether it is sent again: no breaker, no
// tokens of its own. A failure repeats nothing of the request, so it may be logged.

import * as z from 'zod'
import {
  type Backoff,
  backoffMs,
  type Clock,
  DeadlineExceeded,
  pause,
  within,
} from '../../shared/clock.ts'
import type { Log } from '../../shared/log.ts'
import { retryAfter } from '../../shared/outgoing.ts'
import type { GatewayReply, GatewayRequest } from './gateway.ts'
import { parseJson } from './reply.ts'

/** For one try. A payer waits for it; in practice, what takes longer never answers. */
export const TIMEOUT_MS = 15_000
/** With less time than this a try is hardly ever answered, and may still be carried out. */
const MIN_TRY_MS = 1_000
/**
 * Gateways answer with a few KiB. More than this is not a real answer and would fill the memory.
 */
const MAX_BYTES = 1024 * 1024
/** 408 timeout, 425 too early, 429 too many: these are no answer to the request itself. */
const BUSY = [408, 425, 429]

export type Exchanged = { ok: true; reply: GatewayReply } | ({ ok: false } & ExchangeFailure)

export interface ExchangeFailure {
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
  /** More about the reason, without secrets. */
  detail?: string
}

/** With what requests are sent. */
export interface Transport {
  fetch: typeof fetch
  clock: Clock
  log: Log
}

/** `deadlineAt`, in ms: the deadline of the whole call, which may have several exchanges. */
export async function exchange(
  { fetch, clock }: Transport,
  request: GatewayRequest,
  deadlineAt: number,
  token?: string,
): Promise<Exchanged> {
  const startedAt = clock.elapsed()
  const leftMs = deadlineAt - startedAt
  const failure = (
    reason: ExchangeFailure['reason'],
    more: Partial<ExchangeFailure> = {},
  ): Exchanged => ({
    ok: false,
    reason,
    durationMs: Math.round(clock.elapsed() - startedAt),
    ...more,
  })

  async function sendRequest(signal: AbortSignal): Promise<Exchanged> {
    const sentAt = clock.now()
    const response = await fetch(request.url, { ...initOf(request, token), signal })
    const { status } = response
    // Following it would send the token and the payment to an unknown address.
    if (status < 200 || (status >= 300 && status < 400)) {
      await response.body?.cancel()
      return failure('redirect', { status })
    }
    const text = await readText(response)
    const retryAfterMs = retryAfter(response.headers.get('retry-after'), clock.now())
    const fields = { status, ...(retryAfterMs !== undefined && { retryAfterMs }) }
    if (status >= 500) return failure('server_error', fields)
    if (BUSY.includes(status)) return failure('busy', fields)
    if (text === undefined) return failure('too_large', fields)
    const parsed = parse(text)
    const authError = status < 400 ? undefined : authErrorIn(response.headers, parsed?.body)
    const named = authError === undefined ? {} : { authError }
    if (parsed) return { ok: true, reply: { status, sentAt, ...parsed, ...named } }
    return failure('not_json', { ...fields, ...(authError !== undefined && { detail: authError }) })
  }

  if (leftMs < MIN_TRY_MS) return failure('no_time')
  try {
    return await within(clock, Math.min(TIMEOUT_MS, leftMs), sendRequest)
  } catch (error) {
    if (error instanceof DeadlineExceeded) return failure('timeout')
    const detail = codeOf(error)
    return failure('connection', detail === undefined ? {} : { detail })
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

/** Undefined: it is longer than MAX_BYTES. */
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
    if (bytes > MAX_BYTES) {
      await reader.cancel()
      return undefined
    }
    text += decoder.decode(value, { stream: true })
  }
}

/** Undefined: not JSON, such as an error page or half an answer. */
function parse(text: string): { body: unknown } | undefined {
  if (text.trim() === '') return { body: undefined }
  try {
    return { body: parseJson(text) }
  } catch {
    // The parser's message quotes the text, which may hold a token: it is dropped.
    return undefined
  }
}

/**
 * RFC 6749, section 5.2, and RFC 6750, section 3.1. Without it, a wrong scope looks like a wrong
 * secret. Nothing else of a refusal is repeated: it may quote what was sent.
 */
function authErrorIn(headers: Headers, body: unknown): string | undefined {
  const challenge = headers.get('www-authenticate') ?? ''
  const [, inHeader] = /(?:^|[\s,])error\s*=\s*"?([a-z_]{1,40})(?:["\s,]|$)/.exec(challenge) ?? []
  return inHeader ?? oauthError.safeParse(body).data?.error
}

/** A gateway's own codes have other letters, and are its driver's to read. */
export const oauthError = z.object({ error: z.string().regex(/^[a-z_]{1,40}$/) })

/** Such as `ECONNREFUSED`. The message is dropped: it may quote a header with its token. */
function codeOf(error: unknown): string | undefined {
  const { cause } = error instanceof Error ? error : { cause: undefined }
  const code = typeof cause === 'object' && cause !== null && 'code' in cause && cause.code
  return typeof code === 'string' && /^[A-Z_]{1,40}$/.test(code) ? code : undefined
}

const MAX_ATTEMPTS = 3
/** A payer is waiting: there is no wait between tries that is longer than this. */
const BACKOFF: Backoff = { firstMs: 200, maxMs: 2_000 }

interface Retries {
  /** Key of the configuration. */
  gateway: string
  /** What the log calls the request. */
  endpoint: string
  /** ms: for all tries and waits together. */
  deadlineAt: number
  mayRepeat: (failure: ExchangeFailure) => boolean
  onTimeout?: (durationMs: number) => void
}

/** Repeats until there is an answer, three tries are used, it must not repeat, or time is up. */
export async function withRetries(
  { clock, log }: Transport,
  once: () => Promise<Exchanged>,
  { gateway, endpoint, deadlineAt, mayRepeat, onTimeout }: Retries,
): Promise<Exchanged> {
  for (let attempt = 1; ; attempt++) {
    const exchanged = await once()
    if (exchanged.ok) return exchanged
    const { reason, durationMs, status, detail, retryAfterMs = 0 } = exchanged
    const about = { gateway, endpoint, attempt, reason, durationMs, status, detail }
    log('warn', 'payments.gateway.attempt_failed', about)
    if (reason === 'timeout') onTimeout?.(durationMs)
    const waitMs = Math.max(backoffMs(attempt, BACKOFF, clock.random()), retryAfterMs)
    // A gateway that asks for a longer wait than ours is not called again before that time.
    const leftMs = deadlineAt - clock.elapsed() - waitMs
    const isTooLong = waitMs > BACKOFF.maxMs || leftMs < MIN_TRY_MS
    if (attempt === MAX_ATTEMPTS || isTooLong || !mayRepeat(exchanged)) return exchanged
    await pause(clock, waitMs)
  }
}
