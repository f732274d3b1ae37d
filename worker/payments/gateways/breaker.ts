// The circuit breaker of a gateway: after five failed calls the circuit is open for 30 seconds,
// then one call, the probe, tests the gateway. Pure; what is remembered is data that can be stored.

import { hasCome } from '../domain/time.ts'
import type { BreakerHealth } from '../domain/types.ts'

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
  /** Set while a probe runs: no other call is made before this time. */
  probeUntil?: number
}

export const CLOSED: BreakerState = { failures: 0 }

const MAX_FAILURES = 5
export const OPEN_MS = 30_000
/**
 * Longer than any call takes. A probe whose Worker died never reports; then another may run.
 * @forTests The test's clock moves by it.
 */
export const PROBE_TIMEOUT_MS = 120_000

export type BreakerDecision =
  | { ok: true; state: BreakerState }
  | { ok: false; retryAfterMs: number }

/** Decides whether a call may be made. If so, the caller stores `state`. */
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
 * An admitted call has ended. `opened`: its failure opened the circuit. A failed probe keeps the
 * circuit open and does not count as a new opening.
 */
export function report(
  state: BreakerState,
  verdict: Verdict,
  now: number,
  failure?: string,
): { state: BreakerState; opened: boolean } {
  if (verdict === 'success') return { state: CLOSED, opened: false }
  const { probeUntil: probe, ...rest } = state
  // A neutral result says nothing about the gateway: the next call is the probe.
  if (verdict === 'neutral') return { state: rest, opened: false }
  const failed = {
    failures: state.failures + 1,
    ...(failure !== undefined && { lastFailure: failure }),
  }
  const openUntil = now + OPEN_MS
  if (state.openUntil === undefined) {
    if (failed.failures < MAX_FAILURES) return { state: failed, opened: false }
    return { state: { ...failed, openUntil }, opened: true }
  }
  // A call that began before the circuit opened adds nothing new and does not extend `openUntil`.
  if (probe === undefined) return { state, opened: false }
  return { state: { ...failed, openUntil }, opened: false }
}

/** For the API and the console. `probing` also when the probe is still to come. */
export function health(state: BreakerState, now: number): BreakerHealth {
  const { failures, lastFailure, openUntil } = state
  const failed = { failures, ...(lastFailure !== undefined && { lastFailure }) }
  if (openUntil === undefined) return { state: 'closed', ...failed }
  if (hasCome(openUntil, now, OPEN_MS)) return { state: 'probing', ...failed }
  return { state: 'open', ...failed, openUntil: new Date(openUntil).toISOString() }
}
