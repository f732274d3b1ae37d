// The access tokens of gateways: fetched once for all who wait, kept in memory until shortly before
// they expire. A token stands in no log and no error.

import * as z from 'zod'
import type { Clock } from '../../../shared/clock.ts'
import type { Log } from '../../../shared/log.ts'
import type { GatewayRequest } from '../gateway.ts'
import type { TokenAnswer } from '../guard/guard.ts'
import { createExchange, type Exchanged, TIMEOUT_MS } from './exchange.ts'
import { withRetries } from './retries.ts'

/** Before it expires, so that it does not do so on its way; at most this much of its lifetime. */
const MARGIN_MS = 30_000
const MARGIN_PART = 0.1
/** Of a token that does not tell; shorter than any gateway's. */
const UNTOLD_LIFETIME_S = 60

/** RFC 6749, section 5.1. Some write the seconds as text. */
const granted = z.object({
  access_token: z.string().min(1),
  expires_in: z.coerce.number().positive().catch(UNTOLD_LIFETIME_S),
})

export interface AccessTokens {
  /** The one that is kept, if it is still good. */
  kept(gateway: string): string | undefined
  /** `refused`: is not given again; the one that is kept is fetched anew only if it is this one. */
  get(gateway: string, request: GatewayRequest, refused?: string): Promise<TokenAnswer>
}

export interface AccessTokenDeps {
  clock: Clock
  fetch: typeof fetch
  log: Log
}

export function createAccessTokens({ clock, fetch, log }: AccessTokenDeps): AccessTokens {
  const exchange = createExchange({ fetch, clock })
  const tokens = new Map<string, { token: string; goodUntil: number }>()
  const pending = new Map<string, Promise<TokenAnswer>>()

  const kept = (gateway: string): string | undefined => {
    const found = tokens.get(gateway)
    return found && found.goodUntil > clock.now() ? found.token : undefined
  }

  async function fetchToken(gateway: string, request: GatewayRequest): Promise<TokenAnswer> {
    const askedAt = clock.now()
    // Whoever waits for it has a gateway to call afterwards: all tries have the time of one.
    const deadlineAt = askedAt + TIMEOUT_MS
    const exchanged = await withRetries(() => exchange(request, deadlineAt), {
      clock,
      deadlineAt,
      // Whoever waits for this has waited long enough.
      mayRepeat: ({ reason }) => reason !== 'timeout',
      onTrouble: ({ reason, status, detail, durationMs }, attempt) => {
        const more = { ...(status !== undefined && { status }), ...(detail && { detail }) }
        const about = { gateway, endpoint: request.endpoint, attempt, reason, durationMs, ...more }
        log('warn', 'payments.gateway.attempt_failed', about)
      },
    })
    if (!exchanged.ok) return notGranted(exchanged)
    const { status, body } = exchanged.reply
    const grant = granted.safeParse(body)
    if (status >= 300 || !grant.success) {
      return { ok: false, message: `${request.endpoint} answered ${status} without a token` }
    }
    const { access_token: token, expires_in } = grant.data
    const lifetimeMs = expires_in * 1_000
    const marginMs = Math.min(MARGIN_MS, lifetimeMs * MARGIN_PART)
    tokens.set(gateway, { token, goodUntil: askedAt + lifetimeMs - marginMs })
    return { ok: true, token }
  }

  return {
    kept,
    async get(gateway, request, refused) {
      const token = kept(gateway)
      if (token !== undefined && token !== refused) return { ok: true, token }
      const running = pending.get(gateway)
      if (running) return await running
      // A refused one must not be handed out meanwhile.
      tokens.delete(gateway)
      const fetching = fetchToken(gateway, request).finally(() => pending.delete(gateway))
      pending.set(gateway, fetching)
      return await fetching
    },
  }
}

function notGranted(trouble: Extract<Exchanged, { ok: false }>): TokenAnswer {
  const { reason, status, durationMs, detail } = trouble
  const because = [reason, status, detail].filter((part) => part !== undefined).join(' ')
  return {
    ok: false,
    message: because,
    ...(reason === 'timeout' && { timedOutAfterMs: durationMs }),
  }
}
