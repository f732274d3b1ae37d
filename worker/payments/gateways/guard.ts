// The guard: all Workers must agree whether a gateway may be called, and with which token. So there
// is one beside each ledger: on Cloudflare in the ledger's object, elsewhere in the process itself.

import type { Clock } from '../../shared/clock.ts'
import type { Log } from '../../shared/log.ts'
import { counted } from '../counted.ts'
import { CALL_KINDS, type CallKind } from '../domain/status.ts'
import type { Breakers } from '../domain/types.ts'
import { createAccessTokens, type TokenAnswer } from './access-token.ts'
import {
  admit,
  type BreakerState,
  CLOSED,
  health,
  OPEN_MS,
  report,
  type Verdict,
} from './breaker.ts'
import { callbackLimit, type Purpose } from './callback-limit.ts'
import type { AnyGateway } from './gateway.ts'

export interface GatewayGuard {
  /** Asks for one call, whose result must be reported. Calls for callbacks are limited. */
  admit(gateway: string, kind: CallKind, purpose: Purpose): Promise<Admission>
  /** `failure`: what failed, without secrets. */
  report(
    gateway: string,
    kind: CallKind,
    verdict: Verdict,
    failure?: string,
  ): Promise<{ opened: boolean }>
  /** `refused`: the token that the gateway has just answered with 401; a fresh one is fetched. */
  accessToken(gateway: string, refused?: string): Promise<TokenAnswer>
  /** The state of these gateways' circuits, by key. Changes nothing. */
  health(gateways: readonly string[]): Promise<Readonly<Record<string, Breakers>>>
}

export type Admission =
  | { ok: true; accessToken?: string }
  | { ok: false; reason: 'circuit_open' | 'rate_limited'; retryAfterMs: number }

/** Stores each circuit's state: a Map, or durable storage where processes are short-lived. */
export interface BreakerStore {
  get(circuit: string): BreakerState | undefined
  set(circuit: string, state: BreakerState): void
}

/** The name of a circuit in the store. */
const circuitOf = (gateway: string, kind: CallKind): string => `${kind} ${gateway}`

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
  const stateOf = (gateway: string, kind: CallKind) => store.get(circuitOf(gateway, kind)) ?? CLOSED
  for (const gateway of gateways.keys()) {
    for (const kind of CALL_KINDS) {
      const isOpen = stateOf(gateway, kind).openUntil !== undefined
      counted(log, 'debug', 'payments.gateway.circuit', { gateway, kind, isOpen })
    }
  }

  return {
    async admit(gateway, kind, purpose) {
      const now = clock.now()
      if (purpose !== 'call') {
        const taken = limit.take(gateway, purpose, clock.elapsed())
        if (!taken.ok) return { ...taken, reason: 'rate_limited' }
      }
      const before = stateOf(gateway, kind)
      // A probe decides for every payer whether the circuit closes: a stranger may not cause it.
      if (purpose === 'unproven' && before.openUntil !== undefined) {
        return { ok: false, reason: 'circuit_open', retryAfterMs: OPEN_MS }
      }
      const decision = admit(before, now)
      if (!decision.ok) return { ...decision, reason: 'circuit_open' }
      if (decision.state !== before) store.set(circuitOf(gateway, kind), decision.state)
      const accessToken = tokens.cached(gateway)
      return { ok: true, ...(accessToken !== undefined && { accessToken }) }
    },

    async report(gateway, kind, verdict, failure) {
      const before = stateOf(gateway, kind)
      const { state, opened } = report(before, verdict, clock.now(), failure)
      // Nearly every call succeeds: an unchanged state is not written to storage.
      if (!isSame(before, state)) store.set(circuitOf(gateway, kind), state)
      counted(log, 'debug', 'payments.gateway.reported', { gateway, kind, verdict })
      if (opened)
        counted(log, 'error', 'payments.gateway.circuit_opened', { gateway, kind, failure })
      return { opened }
    },

    async accessToken(gateway, refused) {
      const request = gateways.get(gateway)?.tokenRequest?.()
      if (!request) return { ok: false, message: `${gateway} uses no access token` }
      return await tokens.get(gateway, request, refused)
    },

    async health(keys) {
      const now = clock.now()
      const ofKind = (key: string, kind: CallKind) => health(stateOf(key, kind), now)
      return Object.fromEntries(
        keys.map((key): [string, Breakers] => [
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
