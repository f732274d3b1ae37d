// The access tokens of gateways: callers who need one at the same time share one fetch, and it is
// cached in memory until shortly before it expires. No log and no error holds a token.

import * as z from 'zod'
import type { Clock } from '../../shared/clock.ts'
import type { Log } from '../../shared/log.ts'
import { type Exchanged, exchange, TIMEOUT_MS, withRetries } from './exchange.ts'
import type { GatewayRequest } from './gateway.ts'

/** Renewed this long before it expires, so that it cannot expire on its way to the gateway. */
const MARGIN_MS = 30_000
/** The margin is at most this part of a token's lifetime. */
const MARGIN_RATIO = 0.1
/** For a token without `expires_in`; shorter than any gateway's. */
const DEFAULT_LIFETIME_S = 60

/** RFC 6749, section 5.1. Some gateways write the seconds as text. */
const granted = z.object({
  access_token: z.string().min(1),
  expires_in: z.coerce.number().positive().catch(DEFAULT_LIFETIME_S),
})

export type TokenAnswer =
  | { ok: true; token: string }
  /** `timedOutAfterMs` where the gateway did not answer in time. */
  | { ok: false; message: string; timedOutAfterMs?: number }

export interface AccessTokenDeps {
  clock: Clock
  fetch: typeof fetch
  log: Log
}

export function createAccessTokens({ clock, fetch, log }: AccessTokenDeps) {
  const tokens = new Map<string, { token: string; validUntil: number }>()
  const pending = new Map<string, Promise<TokenAnswer>>()

  /** The cached token, if it is still valid. */
  const cached = (gateway: string): string | undefined => {
    const found = tokens.get(gateway)
    return found && found.validUntil > clock.elapsed() ? found.token : undefined
  }

  async function fetchToken(gateway: string, request: GatewayRequest): Promise<TokenAnswer> {
    const askedAt = clock.elapsed()
    // The caller still has to call the gateway afterwards: all tries together get the time of one.
    const deadlineAt = askedAt + TIMEOUT_MS
    const exchanged = await withRetries(() => exchange({ fetch, clock }, request, deadlineAt), {
      clock,
      log,
      gateway,
      endpoint: request.endpoint,
      deadlineAt,
      // After a timeout the time of all tries is used up.
      mayRepeat: ({ reason }) => reason !== 'timeout',
    })
    if (!exchanged.ok) return failedAnswer(exchanged)
    const { status, body, authError } = exchanged.reply
    const grant = granted.safeParse(body)
    if (status >= 300 || !grant.success) {
      const why = authError === undefined ? '' : `: ${authError}`
      return { ok: false, message: `${request.endpoint} answered ${status} without a token${why}` }
    }
    const { access_token: token, expires_in } = grant.data
    const lifetimeMs = expires_in * 1_000
    const marginMs = Math.min(MARGIN_MS, lifetimeMs * MARGIN_RATIO)
    tokens.set(gateway, { token, validUntil: askedAt + lifetimeMs - marginMs })
    return { ok: true, token }
  }

  return {
    cached,
    /** `refused`: a token that the gateway refused. If it is the cached one, a new one is made. */
    async get(gateway: string, request: GatewayRequest, refused?: string): Promise<TokenAnswer> {
      const token = cached(gateway)
      if (token !== undefined && token !== refused) return { ok: true, token }
      const running = pending.get(gateway)
      if (running) return await running
      // A refused token must not be used while the new one is fetched.
      tokens.delete(gateway)
      const fetching = fetchToken(gateway, request).finally(() => pending.delete(gateway))
      pending.set(gateway, fetching)
      return await fetching
    },
  }
}

function failedAnswer(failure: Extract<Exchanged, { ok: false }>): TokenAnswer {
  const { reason, status, durationMs, detail } = failure
  const message = [reason, status, detail].filter((part) => part !== undefined).join(' ')
  return {
    ok: false,
    message,
    ...(reason === 'timeout' && { timedOutAfterMs: durationMs }),
  }
}
