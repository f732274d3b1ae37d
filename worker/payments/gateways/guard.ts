// The guard: all Workers must agree whether a gateway may be called, and with which token. So there
// is one beside each ledger: on Cloudflare in the ledger's object, elsewhere in the process itself.
// Its circuit breaker is pure: after five failed calls the circuit is open for 30 seconds, then one
// call, the probe, tests the gateway.

import { counted } from '../counted.ts'
import { CALL_KINDS, type CallKind } from '../domain/status.ts'
import { hasCome } from '../domain/time.ts'
import type { BreakerHealth, Breakers } from '../domain/types.ts'
import { AccessTokens, type TokenAnswer } from './access-tokens.ts'
import { callbackLimit, type Purpose } from './callbacks.ts'
import type { Transport } from './exchange.ts'
import type { AnyGateway } from './gateway.ts'

export interface GatewayGuard {
  /** Asks for one call, whose result must be reported. Calls for callbacks are limited. */
  admit(gateway: string, kind: CallKind, purpose: Purpose): Promise<Admission>
  /** `failure`: what failed, without secrets. `probe`: from the call's admission. */
  report(
    gateway: string,
    kind: CallKind,
    verdict: Verdict,
    failure?: string,
    probe?: number,
  ): Promise<{ opened: boolean }>
  /** `refused`: the token that the gateway has just answered with 401; a fresh one is fetched. */
  accessToken(gateway: string, refused?: string): Promise<TokenAnswer>
  /** The state of these gateways' circuits, by key. Changes nothing. */
  health(gateways: readonly string[]): Promise<Readonly<Record<string, Breakers>>>
}

/** `probe`: only that of an open circuit has it. */
export type Admission =
  | { ok: true; accessToken?: string; probe?: number }
  | { ok: false; reason: 'circuit_open' | 'rate_limited'; retryAfterMs: number }

/** Stores each circuit's state: a Map, or durable storage where processes are short-lived. */
export interface BreakerStore {
  get(circuit: string): BreakerState | undefined
  set(circuit: string, state: BreakerState): void
}

/** The name of a circuit in the store. */
const circuitOf = (gateway: string, kind: CallKind): string => `${kind} ${gateway}`

export interface GuardDeps extends Transport {
  gateways: ReadonlyMap<string, AnyGateway>
  store: BreakerStore
}

export function createGuard({ gateways, store, clock, fetch, log }: GuardDeps): GatewayGuard {
  const tokens = new AccessTokens({ clock, fetch, log })
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
      const taken = limit.take(gateway, purpose, clock.elapsed())
      if (!taken.ok) return taken
      const before = stateOf(gateway, kind)
      // A probe decides for every payer whether the circuit closes: a stranger may not cause it.
      if (purpose === 'unproven' && before.openUntil !== undefined) {
        return { ok: false, reason: 'circuit_open', retryAfterMs: OPEN_MS }
      }
      const decision = admit(before, now)
      if (!decision.ok) return { ...decision, reason: 'circuit_open' }
      if (decision.state !== before) store.set(circuitOf(gateway, kind), decision.state)
      const accessToken = tokens.cached(gateway)
      const { probeUntil: probe } = decision.state
      return {
        ok: true,
        ...(accessToken !== undefined && { accessToken }),
        ...(probe !== undefined && { probe }),
      }
    },

    async report(gateway, kind, verdict, failure, probe) {
      const before = stateOf(gateway, kind)
      const { state, opened } = report(before, verdict, clock.now(), failure, probe)
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

/**
 * The result of a call, after its retries. `neutral`: it says nothing about the gateway's health.
 */
export type Verdict = 'success' | 'failure' | 'neutral'

/** Times in ms since 1970. */
export interface BreakerState {
  /** Failed calls in a row; a success sets it to 0. */
  failures: number
  /** What failed last, for people; without secrets. */
  lastFailure?: string
  /** Set while the circuit is open: no call is made before this time. */
  openUntil?: number
  /** Set while a probe runs, which is known by it: no other call is made before this time. */
  probeUntil?: number
}

/** @forTests The state of a gateway that nothing has happened to. */
export const CLOSED: BreakerState = { failures: 0 }

const MAX_FAILURES = 5
/** @forTests The test's clock moves by it. */
export const OPEN_MS = 30_000
/**
 * Longer than any call takes. A probe whose Worker died never reports; then another may run.
 * @forTests The test's clock moves by it.
 */
export const PROBE_TIMEOUT_MS = 120_000

export type BreakerDecision =
  | { ok: true; state: BreakerState }
  | { ok: false; retryAfterMs: number }

/**
 * Decides whether a call may be made. If so, the caller stores `state`.
 * @forTests Each way of a circuit, without a store.
 */
export function admit(state: BreakerState, now: number): BreakerDecision {
  if (state.openUntil === undefined) return { ok: true, state }
  const waitMs = Math.max(
    leftMs(state.openUntil, now, OPEN_MS),
    leftMs(state.probeUntil ?? 0, now, PROBE_TIMEOUT_MS),
  )
  if (waitMs <= 0) return { ok: true, state: { ...state, probeUntil: now + PROBE_TIMEOUT_MS } }
  // A probe is nearly always done long before its timeout.
  return { ok: false, retryAfterMs: Math.min(waitMs, OPEN_MS) }
}

const leftMs = (until: number, now: number, longestMs: number): number =>
  hasCome(until, now, longestMs) ? 0 : until - now

/**
 * An admitted call has ended. `probe`: the `probeUntil` of its own admission. `opened`: its failure
 * opened the circuit. A failed probe keeps the circuit open and does not count as a new opening.
 * @forTests As `admit`.
 */
export function report(
  state: BreakerState,
  verdict: Verdict,
  now: number,
  failure?: string,
  probe?: number,
): { state: BreakerState; opened: boolean } {
  if (verdict === 'success') return { state: CLOSED, opened: false }
  const { probeUntil, ...rest } = state
  const isOpen = state.openUntil !== undefined
  // A call that began before the circuit opened does not extend `openUntil`, nor end a probe.
  if (isOpen && (probe === undefined || probe !== probeUntil)) return { state, opened: false }
  // A neutral result says nothing about the gateway: the next call is the probe.
  if (verdict === 'neutral') return { state: rest, opened: false }
  const failed = {
    failures: state.failures + 1,
    ...(failure !== undefined && { lastFailure: failure }),
  }
  if (!isOpen && failed.failures < MAX_FAILURES) return { state: failed, opened: false }
  return { state: { ...failed, openUntil: now + OPEN_MS }, opened: !isOpen }
}

/**
 * For the API and the console. `probing` also when the probe is still to come.
 * @forTests As `admit`.
 */
export function health(state: BreakerState, now: number): BreakerHealth {
  const { failures, lastFailure, openUntil } = state
  const failed = { failures, ...(lastFailure !== undefined && { lastFailure }) }
  if (openUntil === undefined) return { state: 'closed', ...failed }
  if (hasCome(openUntil, now, OPEN_MS)) return { state: 'probing', ...failed }
  return { state: 'open', ...failed, openUntil: new Date(openUntil).toISOString() }
}
