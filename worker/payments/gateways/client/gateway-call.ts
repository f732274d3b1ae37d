// What a driver is given to reach its gateway: the access token, retries, one exception for all
// that is not an answer, and a verdict for the breaker at the end.

import type { Clock } from '../../../shared/clock.ts'
import { DeadlineExceeded, within } from '../../../shared/deadline.ts'
import type { Log } from '../../../shared/log.ts'
import type { PaymentEvents } from '../../domain/events.ts'
import { GatewayUnavailableException } from '../../domain/exceptions.ts'
import type { Gateway, GatewayCall, GatewayReply, GatewayRequest } from '../gateway.ts'
import type { GatewayDesk, TokenAnswer, Verdict } from '../guard/guard.ts'
import { createExchange, type Exchanged, type Trouble } from './exchange.ts'
import { withRetries } from './retries.ts'

export interface GatewayCallDeps {
  gateway: Pick<Gateway, 'key'>
  desk: Pick<GatewayDesk, 'accessToken'>
  clock: Clock
  log: Log
  fetch: typeof fetch
  /** Once for each attempt that ran out of time. */
  onTimeout: (timeout: PaymentEvents['GatewayTimeout']) => void
  /** ms: then nobody waits any more, whatever is still to be asked. */
  deadlineAt: number
  /** As the desk gave it with its admission; without it one is fetched when it is needed. */
  accessToken?: string | undefined
}

export interface JudgedCall extends GatewayCall {
  /** How it went so far: a failure stays one whatever comes after it. */
  verdict(): Verdict
}

export function createGatewayCall(deps: GatewayCallDeps): JudgedCall {
  const { clock, log, onTimeout, deadlineAt } = deps
  const gateway = deps.gateway.key
  const exchange = createExchange(deps)
  let token = deps.accessToken
  let verdict: Verdict = 'neutral'
  let isUnsent = true

  async function ask(request: GatewayRequest, bearer?: string): Promise<Exchanged> {
    const exchanged = await exchange(request, deadlineAt, bearer)
    if (exchanged.ok || exchanged.reason !== 'no_time') isUnsent = false
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
    return await ask(request, token)
  }

  async function send(request: GatewayRequest): Promise<GatewayReply> {
    const { endpoint } = request
    let mayRefresh = request.withToken === true
    const exchanged = await withRetries(
      async () => {
        if (!request.withToken) return await ask(request)
        const wasUnsent = isUnsent
        const first = await withToken(request)
        if (!mayRefresh || statusOf(first) !== 401) return first
        // The token is at fault, not the request, so nothing was done and it may be sent again:
        // at once, or by the next call where no fresh token can be had.
        mayRefresh = false
        isUnsent = wasUnsent
        return await withToken(request, token)
      },
      {
        clock,
        deadlineAt,
        // The desk has tried for the token already.
        mayRepeat: ({ reason }) => request.isIdempotent && reason !== 'no_token',
        onTrouble({ reason, durationMs, status, detail }, attempt) {
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
      // A gateway that nobody had the time to ask is not to blame.
      if (exchanged.reason !== 'no_time') verdict = 'failure'
      const { retryAfterMs } = exchanged
      const message = `${gateway} ${endpoint}: ${sentence(exchanged)}`
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

/** The desk asks for all who wait, and may take longer than this call has. */
async function accessToken(
  { gateway: { key }, desk, clock, deadlineAt }: GatewayCallDeps,
  refused: string | undefined,
): Promise<TokenAnswer> {
  const startedAt = clock.now()
  try {
    const leftMs = Math.max(deadlineAt - startedAt, 0)
    return await within(clock, leftMs, () => desk.accessToken(key, refused))
  } catch (error) {
    if (!(error instanceof DeadlineExceeded)) throw error
    return { ok: false, message: 'timeout', timedOutAfterMs: clock.now() - startedAt }
  }
}

/** An outage page can come with a 401 too. */
const statusOf = (exchanged: Exchanged): number | undefined =>
  exchanged.ok ? exchanged.reply.status : exchanged.status

function sentence({ reason, durationMs, status, detail }: Trouble): string {
  switch (reason) {
    case 'timeout':
      return `no answer within ${durationMs} ms`
    case 'connection':
      return `no connection${detail === undefined ? '' : ` (${detail})`}`
    case 'redirect':
      return `answered ${status}, a redirect`
    case 'too_large':
      return `answered ${status} with more than an answer holds`
    case 'not_json':
      return `answered ${status} with something that is not JSON`
    case 'busy':
    case 'server_error':
      return `answered ${status}`
    case 'no_time':
      return 'no time was left to ask'
    case 'no_token':
      return `no access token: ${detail ?? 'no reason is known'}`
  }
}
