// The port of what all Workers must agree on about a gateway: whether it may be called, and with
// which token. The ledger holds it, because there is one.

/** How one call went, after its retries. `neutral`: it tells nothing of the gateway's health. */
export type Verdict = 'success' | 'failure' | 'neutral'

export interface GatewayDesk {
  /**
   * Asks for one call, which must be reported. `reread`: caused by an unsigned callback, so that
   * strangers can cause it; those are limited.
   */
  admit(gateway: string, purpose: 'call' | 'reread'): Promise<Admission>
  report(gateway: string, verdict: Verdict): Promise<{ opened: boolean }>
  /** `refused`: the token that the gateway has just answered with 401; a fresh one is fetched. */
  accessToken(gateway: string, refused?: string): Promise<TokenAnswer>
}

export type Admission =
  | { ok: true; accessToken?: string }
  | { ok: false; reason: 'circuit_open' | 'rate_limited'; retryAfterMs: number }

export type TokenAnswer =
  | { ok: true; token: string }
  /** `timedOutAfterMs` where the gateway did not answer in time. */
  | { ok: false; message: string; timedOutAfterMs?: number }
