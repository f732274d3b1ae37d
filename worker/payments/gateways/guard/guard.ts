// The port of what all Workers must agree on about a gateway: whether it may be called, and with
// which token. The ledger holds it, because there is one.

import type { SupportsRefund } from '../gateway.ts'
import type { Purpose } from './callback-limit.ts'

/** How one call went, after its retries. `neutral`: it tells nothing of the gateway's health. */
export type Verdict = 'success' | 'failure' | 'neutral'

export interface GatewayDesk {
  /** Asks for one call, which must be reported. What callbacks cause is limited. */
  admit(gateway: string, purpose: Purpose): Promise<Admission>
  report(gateway: string, verdict: Verdict): Promise<{ opened: boolean }>
  /** `refused`: the token that the gateway has just answered with 401; a fresh one is fetched. */
  accessToken(gateway: string, refused?: string): Promise<TokenAnswer>
  /** How the circuits of these gateways stand, by key. Asking changes nothing. */
  health(gateways: readonly string[]): Promise<Readonly<Record<string, BreakerHealth>>>
}

export type Admission =
  | { ok: true; accessToken?: string }
  | { ok: false; reason: 'circuit_open' | 'rate_limited'; retryAfterMs: number }

export type TokenAnswer =
  | { ok: true; token: string }
  /** `timedOutAfterMs` where the gateway did not answer in time. */
  | { ok: false; message: string; timedOutAfterMs?: number }

export interface BreakerHealth {
  /** `probing`: it was left alone for long enough; the next call, or one on its way, decides. */
  state: 'closed' | 'open' | 'probing'
  /** Calls in a row that failed. */
  failures: number
  /** ISO 8601, while open: until then nobody calls. */
  openUntil?: string
}

/** One gateway as `GET /api/payments/gateways` shows it. */
export interface GatewayHealth {
  /** Of the configuration. */
  key: string
  /** By its name in the configuration. */
  driver: string
  breaker: BreakerHealth
  supportsRefund: boolean
  /** Where it does: all of a payment at once, asked for by what was charged, or parts as well. */
  refunds?: SupportsRefund['refunds']
  /** Missing: its driver does not say. */
  currencies?: readonly string[]
  /** Reached over loopback: a simulator, where a charge costs nobody money. */
  isLocal: boolean
}
