// The desk in one process: the ledger's object holds it on Cloudflare, the server itself elsewhere.

import type { Clock } from '../../../shared/clock.ts'
import type { Log } from '../../../shared/log.ts'
import { createAccessTokens } from '../client/access-token.ts'
import type { AnyGateway } from '../gateway.ts'
import { admit, type BreakerState, CLOSED, health, OPEN_MS, report } from './breaker.ts'
import { callbackLimit } from './callback-limit.ts'
import type { GatewayDesk } from './guard.ts'

/** Keeps each gateway's breaker: a Map, or a storage where the process often ends. */
export interface BreakerStore {
  get(gateway: string): BreakerState | undefined
  set(gateway: string, state: BreakerState): void
}

export interface DeskDeps {
  gateways: ReadonlyMap<string, AnyGateway>
  clock: Clock
  store: BreakerStore
  fetch: typeof fetch
  log: Log
}

export function createDesk({ gateways, clock, store, fetch, log }: DeskDeps): GatewayDesk {
  const tokens = createAccessTokens({ clock, fetch, log })
  const limit = callbackLimit()

  return {
    async admit(gateway, purpose) {
      const now = clock.now()
      if (purpose !== 'call') {
        const taken = limit.take(gateway, purpose, now)
        if (!taken.ok) return { ...taken, reason: 'rate_limited' }
      }
      const before = store.get(gateway) ?? CLOSED
      // The probe of an open circuit decides for every payer: no stranger takes their turn.
      if (purpose === 'unproven' && before.openUntil !== undefined) {
        return { ok: false, reason: 'circuit_open', retryAfterMs: OPEN_MS }
      }
      const leave = admit(before, now)
      if (!leave.ok) return { ...leave, reason: 'circuit_open' }
      if (leave.state !== before) store.set(gateway, leave.state)
      const accessToken = tokens.kept(gateway)
      return { ok: true, ...(accessToken !== undefined && { accessToken }) }
    },

    async report(gateway, verdict) {
      const before = store.get(gateway) ?? CLOSED
      const { state, opened } = report(before, verdict, clock.now())
      // Nearly every call succeeds: a store that is a disk is not written for that.
      if (!isSame(before, state)) store.set(gateway, state)
      if (opened) log('error', 'payments.gateway.circuit_opened', { gateway })
      return { opened }
    },

    async accessToken(gateway, refused) {
      const request = gateways.get(gateway)?.tokenRequest?.()
      if (!request) return { ok: false, message: `${gateway} takes no access token` }
      return await tokens.get(gateway, request, refused)
    },

    async health(asked) {
      const now = clock.now()
      return Object.fromEntries(asked.map((key) => [key, health(store.get(key) ?? CLOSED, now)]))
    },
  }
}

const isSame = (one: BreakerState, other: BreakerState): boolean =>
  one.failures === other.failures &&
  one.openUntil === other.openUntil &&
  one.probeUntil === other.probeUntil
