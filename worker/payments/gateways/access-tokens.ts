// The access tokens of gateways, in memory. They are beside the guard, so that all Workers share
// them. No log and no error holds one.

import * as z from 'zod'
import { exchange, TIMEOUT_MS, type Transport, withRetries } from './exchange.ts'
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

/** By the gateway's key. */
export class AccessTokens {
  readonly #transport: Transport
  readonly #tokens = new Map<string, { token: string; validUntil: number }>()
  /** Callers who need a token at the same time share one request for it. */
  readonly #pending = new Map<string, Promise<TokenAnswer>>()

  constructor(transport: Transport) {
    this.#transport = transport
  }

  /** The cached token, if it is still valid. */
  cached(gateway: string): string | undefined {
    const found = this.#tokens.get(gateway)
    return found && found.validUntil > this.#transport.clock.elapsed() ? found.token : undefined
  }

  /**
   * With this request, if there is none. `refused`: one that the gateway refused: if it is the
   * cached one, a new one is made.
   */
  async get(gateway: string, request: GatewayRequest, refused?: string): Promise<TokenAnswer> {
    const token = this.cached(gateway)
    if (token !== undefined && token !== refused) return { ok: true, token }
    const running = this.#pending.get(gateway)
    if (running) return await running
    // A refused token must not be used while the new one is fetched.
    this.#tokens.delete(gateway)
    const fetching = this.#fetch(gateway, request).finally(() => this.#pending.delete(gateway))
    this.#pending.set(gateway, fetching)
    return await fetching
  }

  async #fetch(gateway: string, request: GatewayRequest): Promise<TokenAnswer> {
    const { endpoint } = request
    const askedAt = this.#transport.clock.elapsed()
    // The caller still has to call the gateway afterwards: all tries together get the time of one.
    const deadlineAt = askedAt + TIMEOUT_MS
    const once = () => exchange(this.#transport, request, deadlineAt)
    const exchanged = await withRetries(this.#transport, once, {
      gateway,
      endpoint,
      deadlineAt,
      // After a timeout the time of all tries is used up.
      mayRepeat: ({ reason }) => reason !== 'timeout',
    })
    if (!exchanged.ok) {
      const { reason, status, durationMs, detail } = exchanged
      const message = [reason, status, detail].filter((part) => part !== undefined).join(' ')
      return { ok: false, message, ...(reason === 'timeout' && { timedOutAfterMs: durationMs }) }
    }
    const { status, body, authError } = exchanged.reply
    const grant = granted.safeParse(body)
    if (status >= 300 || !grant.success) {
      const why = authError === undefined ? '' : `: ${authError}`
      return { ok: false, message: `${endpoint} answered ${status} without a token${why}` }
    }
    const { access_token: token, expires_in } = grant.data
    const lifetimeMs = expires_in * 1_000
    const marginMs = Math.min(MARGIN_MS, lifetimeMs * MARGIN_RATIO)
    this.#tokens.set(gateway, { token, validUntil: askedAt + lifetimeMs - marginMs })
    return { ok: true, token }
  }
}
