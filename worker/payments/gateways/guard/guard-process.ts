// The guard in one process: on Cloudflare in the ledger's object, elsewhere in the server itself.

import type { Clock } from '../../../shared/clock.ts'
import type { Log } from '../../../shared/log.ts'
import type { Account } from '../../config.ts'
import type { CallKind } from '../../domain/status.ts'
import { createAccessTokens } from '../client/access-token.ts'
import { type AnyGateway, supportsRefund } from '../gateway.ts'
import { admit, type BreakerState, CLOSED, health, OPEN_MS, report } from './breaker.ts'
import { callbackLimit } from './callback-limit.ts'
import type { GatewayGuard, GatewayHealth } from './guard.ts'

/** Stores each circuit's state: a Map, or durable storage where processes are short-lived. */
export interface BreakerStore {
  get(circuit: string): BreakerState | undefined
  set(circuit: string, state: BreakerState): void
}

/** The name of a circuit in the store. */
export const circuitOf = (gateway: string, kind: CallKind): string => `${kind} ${gateway}`

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
    async admit(gateway, kind, purpose) {
      const now = clock.now()
      if (purpose !== 'call') {
        const taken = limit.take(gateway, purpose, clock.elapsed())
        if (!taken.ok) return { ...taken, reason: 'rate_limited' }
      }
      const circuit = circuitOf(gateway, kind)
      const before = store.get(circuit) ?? CLOSED
      // A probe decides for every payer whether the circuit closes: a stranger may not cause it.
      if (purpose === 'unproven' && before.openUntil !== undefined) {
        return { ok: false, reason: 'circuit_open', retryAfterMs: OPEN_MS }
      }
      const decision = admit(before, now)
      if (!decision.ok) return { ...decision, reason: 'circuit_open' }
      if (decision.state !== before) store.set(circuit, decision.state)
      const accessToken = tokens.cached(gateway)
      return { ok: true, ...(accessToken !== undefined && { accessToken }) }
    },

    async report(gateway, kind, verdict) {
      const circuit = circuitOf(gateway, kind)
      const before = store.get(circuit) ?? CLOSED
      const { state, opened } = report(before, verdict, clock.now())
      // Nearly every call succeeds: an unchanged state is not written to storage.
      if (!isSame(before, state)) store.set(circuit, state)
      if (opened) log('error', 'payments.gateway.circuit_opened', { gateway, kind })
      return { opened }
    },

    async accessToken(gateway, refused) {
      const request = gateways.get(gateway)?.tokenRequest?.()
      if (!request) return { ok: false, message: `${gateway} uses no access token` }
      return await tokens.get(gateway, request, refused)
    },

    async health(keys) {
      const now = clock.now()
      const ofKind = (key: string, kind: CallKind) =>
        health(store.get(circuitOf(key, kind)) ?? CLOSED, now)
      return Object.fromEntries(
        keys.map((key) => [
          key,
          {
            charge: ofKind(key, 'charge'),
            refund: ofKind(key, 'refund'),
            status: ofKind(key, 'status'),
          },
        ]),
      )
    },
  }
}

const isSame = (one: BreakerState, other: BreakerState): boolean =>
  one.failures === other.failures &&
  one.openUntil === other.openUntil &&
  one.probeUntil === other.probeUntil

// The gateways as an operator sees them: their configuration and the state of their circuits.

export interface HealthDeps {
  gateways: ReadonlyMap<string, AnyGateway>
  accounts: ReadonlyMap<string, Account>
  guard: Pick<GatewayGuard, 'health'>
}

/** In the order of the configuration. */
export async function gatewayHealth(deps: HealthDeps): Promise<GatewayHealth[]> {
  const { gateways, accounts, guard } = deps
  const breakers = await guard.health([...gateways.keys()])
  return [...gateways].flatMap(([key, gateway]) => {
    const account = accounts.get(key)
    const breaker = breakers[key]
    return account && breaker ? { key, ...account, breaker, ...capabilitiesOf(gateway) } : []
  })
}

const capabilitiesOf = (gateway: AnyGateway) => ({
  ...refundsOf(gateway),
  ...(gateway.currencies !== 'any' && { currencies: gateway.currencies }),
})

function refundsOf(gateway: AnyGateway): Pick<GatewayHealth, 'supportsRefund' | 'refunds'> {
  const canRefund = supportsRefund(gateway) && gateway.refundProblem?.() === undefined
  return canRefund ? { supportsRefund: true, refunds: gateway.refunds } : { supportsRefund: false }
}
