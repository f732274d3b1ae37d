// The guard in one process: on Cloudflare in the ledger's object, elsewhere in the server itself.

import type { Clock } from '../../../shared/clock.ts'
import type { Log } from '../../../shared/log.ts'
import { createAccessTokens } from '../client/access-token.ts'
import type { AnyGateway } from '../gateway.ts'
import { admit, type BreakerState, CLOSED, health, OPEN_MS, report } from './breaker.ts'
import { callbackLimit } from './callback-limit.ts'
import type { GatewayGuard } from './guard.ts'

/** Stores each gateway's breaker: a Map, or durable storage where processes are short-lived. */
export interface BreakerStore {
  get(gateway: string): BreakerState | undefined
  set(gateway: string, state: BreakerState): void
}

export interface GuardDeps {
  gateways: ReadonlyMap<string, AnyGateway>
  clock: Clock
  store: BreakerStore
  fetch: typeof fetch
  log: Log
}

export function createGuard({ gateways, clock, store, fetch, log }: GuardDeps): GatewayGuard {
  const tokens = createAccessTokens({ clock, fetch, log })
  const limit = callbackLimit()

  return {
    async admit(gateway, purpose) {
      const now = clock.now()
      if (purpose !== 'call') {
        const taken = limit.take(gateway, purpose, clock.elapsed())
        if (!taken.ok) return { ...taken, reason: 'rate_limited' }
      }
      const before = store.get(gateway) ?? CLOSED
      // A probe decides for every payer whether the circuit closes: a stranger may not cause it.
      if (purpose === 'unproven' && before.openUntil !== undefined) {
        return { ok: false, reason: 'circuit_open', retryAfterMs: OPEN_MS }
      }
      const decision = admit(before, now)
      if (!decision.ok) return { ...decision, reason: 'circuit_open' }
      if (decision.state !== before) store.set(gateway, decision.state)
      const accessToken = tokens.cached(gateway)
      return { ok: true, ...(accessToken !== undefined && { accessToken }) }
    },

    async report(gateway, verdict) {
      const before = store.get(gateway) ?? CLOSED
      const { state, opened } = report(before, verdict, clock.now())
      // Nearly every call succeeds: an unchanged state is not written to storage.
      if (!isSame(before, state)) store.set(gateway, state)
      if (opened) log('error', 'payments.gateway.circuit_opened', { gateway })
      return { opened }
    },

    async accessToken(gateway, refused) {
      const request = gateways.get(gateway)?.tokenRequest?.()
      if (!request) return { ok: false, message: `${gateway} uses no access token` }
      return await tokens.get(gateway, request, refused)
    },

    async health(keys) {
      const now = clock.now()
      return Object.fromEntries(keys.map((key) => [key, health(store.get(key) ?? CLOSED, now)]))
    },
  }
}

const isSame = (one: BreakerState, other: BreakerState): boolean =>
  one.failures === other.failures &&
  one.openUntil === other.openUntil &&
  one.probeUntil === other.probeUntil
