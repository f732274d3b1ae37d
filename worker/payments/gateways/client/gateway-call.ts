// The call that a driver gets to reach its gateway. It adds the access token and retries, throws
// one exception when there is no usable answer, and has a verdict for the breaker at the end.

import {
  type Backoff,
  backoffMs,
  type Clock,
  DeadlineExceeded,
  pause,
  within,
} from '../../../shared/clock.ts'
import type { Log } from '../../../shared/log.ts'
import type { PaymentEvents } from '../../domain/events.ts'
import { GatewayUnavailableException } from '../../domain/exceptions.ts'
import type { Gateway, GatewayCall, GatewayReply, GatewayRequest } from '../gateway.ts'
import type { GatewayGuard, TokenAnswer, Verdict } from '../guard/guard.ts'
import { parseJson } from './reply.ts'

export interface GatewayCallDeps {
  gateway: Pick<Gateway, 'key'>
  guard: Pick<GatewayGuard, 'accessToken'>
  clock: Clock
  log: Log
  fetch: typeof fetch
  /** Once for each attempt that ran out of time. */
  onTimeout: (timeout: PaymentEvents['GatewayTimeout']) => void
  /** ms: the caller waits no longer than this, even if requests are left to send. */
  deadlineAt: number
  /** The token that the guard gave with its admission; otherwise one is fetched when needed. */
  accessToken?: string | undefined
}

export interface TrackedCall extends GatewayCall {
  /** The result so far. A failure stays a failure, even if a later request succeeds. */
  verdict(): Verdict
}

export function createGatewayCall(deps: GatewayCallDeps): TrackedCall {
  const { clock, log, onTimeout, deadlineAt } = deps
  const gateway = deps.gateway.key
  const exchange = createExchange(deps)
  let token = deps.accessToken
  let verdict: Verdict = 'neutral'
  let isUnsent = true

  async function sendOnce(request: GatewayRequest, bearer?: string): Promise<Exchanged> {
    const exchanged = await exchange(request, deadlineAt, bearer)
    // A question changes nothing at the gateway.
    const isSent = exchanged.ok || exchanged.reason !== 'no_time'
    if (isSent && request.method === 'POST') isUnsent = false
    return exchanged
  }

  async function withToken(request: GatewayRequest, refused?: string): Promise<Exchanged> {
    if (token === undefined || token === refused) {
      const answer = await accessToken(deps, refused)
      if (!answer.ok) {
        const durationMs = answer.timedOutAfterMs ?? 0
        if (answer.timedOutAfterMs !== undefined) {
          onTimeout({ gateway, endpoint: 'token', durationMs })
        }
        return { ok: false, reason: 'no_token', durationMs, detail: answer.message }
      }
      token = answer.token
    }
    return await sendOnce(request, token)
  }

  async function send(request: GatewayRequest): Promise<GatewayReply> {
    const { endpoint } = request
    let mayRefresh = request.withToken === true
    const exchanged = await withRetries(
      async () => {
        if (!request.withToken) return await sendOnce(request)
        const wasUnsent = isUnsent
        const first = await withToken(request)
        if (!mayRefresh || statusOf(first) !== 401) return first
        // The token was refused, so the gateway did nothing and the request may be sent again: now,
        // or by the next call if no new token can be fetched.
        mayRefresh = false
        isUnsent = wasUnsent
        return await withToken(request, token)
      },
      {
        clock,
        deadlineAt,
        // The guard has already retried the token request.
        mayRepeat: ({ reason }) => request.isIdempotent && reason !== 'no_token',
        onFailure({ reason, durationMs, status, detail }, attempt) {
          log('warn', 'payments.gateway.attempt_failed', {
            gateway,
            endpoint,
            attempt,
            reason,
            durationMs,
            ...(status !== undefined && { status }),
            ...(detail !== undefined && { detail }),
          })
          if (reason === 'timeout') onTimeout({ gateway, endpoint, durationMs })
        },
      },
    )
    if (!exchanged.ok) {
      // If no time was left to send the request, the gateway is not at fault.
      if (exchanged.reason !== 'no_time') verdict = 'failure'
      const { retryAfterMs } = exchanged
      const message = `${gateway} ${endpoint}: ${describe(exchanged)}`
      throw new GatewayUnavailableException(message, { retryAfterMs, isUnsent })
    }
    if (exchanged.reply.status < 300 && verdict === 'neutral') verdict = 'success'
    return exchanged.reply
  }

  return {
    send,
    warn: (event, fields) => log('warn', event, { gateway, ...fields }),
    verdict: () => verdict,
  }
}

/** The guard fetches one token for all callers, which may take longer than this call has. */
async function accessToken(
  { gateway: { key }, guard, clock, deadlineAt }: GatewayCallDeps,
  refused: string | undefined,
): Promise<TokenAnswer> {
  const startedAt = clock.elapsed()
  try {
    const leftMs = Math.max(deadlineAt - startedAt, 0)
    return await within(clock, leftMs, () => guard.accessToken(key, refused))
  } catch (error) {
    if (!(error instanceof DeadlineExceeded)) throw error
    return {
      ok: false,
      message: 'timeout',
      timedOutAfterMs: Math.round(clock.elapsed() - startedAt),
    }
  }
}

/** An error page that is not JSON can have status 401 too. */
const statusOf = (exchanged: Exchanged): number | undefined =>
  exchanged.ok ? exchanged.reply.status : exchanged.status

function describe({ reason, durationMs, status, detail }: ExchangeFailure): string {
  switch (reason) {
    case 'timeout':
      return `no answer within ${durationMs} ms`
    case 'connection':
      return `no connection${detail === undefined ? '' : ` (${detail})`}`
    case 'redirect':
      return `answered ${status}, a redirect`
    case 'too_large':
      return `answered ${status} with a body that is too large`
    case 'not_json':
      return `answered ${status} with a body that is not JSON`
    case 'busy':
    case 'server_error':
      return `answered ${status}`
    case 'no_time':
      return 'no time was left to send the request'
    case 'no_token':
      return `no access token: ${detail ?? 'reason unknown'}`
  }
}

// One request to a gateway and its result, as data, and whether it is sent again: no breaker, no
// tokens of its own. A failure repeats nothing of the request, so it may be logged.

/** For one try. A payer waits for it; in practice, what takes longer never answers. */
export const TIMEOUT_MS = 15_000
/** With less time than this a try is hardly ever answered, and may still be carried out. */
const MIN_TRY_MS = 1_000
/**
 * Gateways answer with a few KiB. More than this is not a real answer and would fill the memory.
 */
const MAX_BYTES = 1024 * 1024
/** A date is compared with our clock, and either of the two may be a year off. */
const MAX_RETRY_AFTER_MS = 3_600_000
/** 408 timeout, 425 too early, 429 too many: these say nothing about the request itself. */
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

/** `deadlineAt`, in ms: the deadline of the whole call, which may have several exchanges. */
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
      return parsed ? { ok: true, reply: { status, ...parsed } } : failure('not_json', fields)
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

function retryAfter(header: string | null, now: number): number | undefined {
  if (header === null) return undefined
  const ms = /^\d{1,9}$/.test(header) ? Number(header) * 1_000 : Date.parse(header) - now
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(ms, 0), MAX_RETRY_AFTER_MS)
}

/** Such as `ECONNREFUSED`. The message is dropped: it may quote a header with its token. */
function codeOf(error: unknown): string | undefined {
  const { cause } = error instanceof Error ? error : { cause: undefined }
  const code = typeof cause === 'object' && cause !== null && 'code' in cause && cause.code
  return typeof code === 'string' && /^[A-Z_]{1,40}$/.test(code) ? code : undefined
}

const MAX_ATTEMPTS = 3
/** A payer is waiting: there is no wait between tries that is longer than this. */
const BACKOFF: Backoff = { firstMs: 200, maxMs: 2_000 }

/** Repeats until there is an answer, three tries are used, it must not repeat, or time is up. */
export async function withRetries(
  once: () => Promise<Exchanged>,
  {
    clock,
    deadlineAt,
    mayRepeat,
    onFailure,
  }: {
    clock: Clock
    /** ms: for all tries and waits together. */
    deadlineAt: number
    mayRepeat: (failure: ExchangeFailure) => boolean
    onFailure: (failure: ExchangeFailure, attempt: number) => void
  },
): Promise<Exchanged> {
  for (let attempt = 1; ; attempt++) {
    const exchanged = await once()
    if (exchanged.ok) return exchanged
    onFailure(exchanged, attempt)
    const waitMs = Math.max(
      backoffMs(attempt, BACKOFF, clock.random()),
      exchanged.retryAfterMs ?? 0,
    )
    // A gateway that asks for a longer wait than ours is not called again before that time.
    const leftMs = deadlineAt - clock.elapsed() - waitMs
    const isTooLong = waitMs > BACKOFF.maxMs || leftMs < MIN_TRY_MS
    if (attempt === MAX_ATTEMPTS || isTooLong || !mayRepeat(exchanged)) return exchanged
    await pause(clock, waitMs)
  }
}
