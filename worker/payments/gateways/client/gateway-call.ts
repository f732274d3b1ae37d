// The call that a driver gets to reach its gateway. It adds the access token and retries, throws
// one exception when there is no usable answer, and has a verdict for the breaker at the end.

import { type Clock, DeadlineExceeded, within } from '../../../shared/clock.ts'
import type { Log } from '../../../shared/log.ts'
import type { PaymentEvents } from '../../domain/events.ts'
import { GatewayUnavailableException } from '../../domain/exceptions.ts'
import type { Gateway, GatewayCall, GatewayReply, GatewayRequest } from '../gateway.ts'
import type { GatewayGuard, TokenAnswer, Verdict } from '../guard/guard.ts'
import { createExchange, type Exchanged, type ExchangeFailure, withRetries } from './exchange.ts'

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
