// The port of the guard: all Workers must agree whether a gateway may be called, and with which
// token. The ledger holds the guard, because there is only one ledger.

import type { SupportsRefund } from '../gateway.ts'
import type { Purpose } from './callback-limit.ts'

/**
 * The result of a call, after its retries. `neutral`: it says nothing about the gateway's health.
 */
export type Verdict = 'success' | 'failure' | 'neutral'

export interface GatewayGuard {
  /** Asks for one call, whose result must be reported. Calls for callbacks are limited. */
  admit(gateway: string, purpose: Purpose): Promise<Admission>
  report(gateway: string, verdict: Verdict): Promise<{ opened: boolean }>
  /** `refused`: the token that the gateway has just answered with 401; a fresh one is fetched. */
  accessToken(gateway: string, refused?: string): Promise<TokenAnswer>
  /** The state of these gateways' circuits, by key. Changes nothing. */
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
  /** `probing`: the next call, or the one that runs now, decides whether the circuit closes. */
  state: 'closed' | 'open' | 'probing'
  /** Failed calls in a row. */
  failures: number
  /** ISO 8601, while open: no call is made before this time. */
  openUntil?: string
}

/** One gateway as `GET /api/payments/gateways` shows it. */
export interface GatewayHealth {
  /** Its key in the configuration. */
  key: string
  /** The driver's name in the configuration. */
  driver: string
  breaker: BreakerHealth
  supportsRefund: boolean
  /**
   * If it does: `full`, only all of a payment, named by the charged amount; `partial`, parts too.
   */
  refunds?: SupportsRefund['refunds']
  /** Missing: the driver takes any. */
  currencies?: readonly string[]
  /** Reached over loopback: a simulator, where charges use no real money. */
  isLocal: boolean
}
