// The circuit breaker of a gateway: after five failed calls it is left alone for half a minute,
// then one call tries it. Pure: `now` comes in, and the state is data that can be stored.

import type { BreakerHealth, Verdict } from './guard.ts'

/** Times in ms since 1970. */
export interface BreakerState {
  /** Calls in a row that failed; a success forgets them. */
  failures: number
  /** Set while the circuit is open: until then nobody calls. */
  openUntil?: number
  /** Set while a probe is out: until then it is waited for. */
  probeUntil?: number
}

export const CLOSED: BreakerState = { failures: 0 }

const MOST_FAILURES = 5
export const OPEN_MS = 30_000
/** Longer than any call takes. A probe whose Worker died never reports, and the next one may go. */
export const PROBE_PATIENCE_MS = 120_000

export type Leave = { ok: true; state: BreakerState } | { ok: false; retryAfterMs: number }

/** May a call be made? If so, `state` is to be kept. */
export function admit(state: BreakerState, now: number): Leave {
  if (state.openUntil === undefined) return { ok: true, state }
  const waitMs = Math.max(state.openUntil, state.probeUntil ?? 0) - now
  if (waitMs <= 0) return { ok: true, state: { ...state, probeUntil: now + PROBE_PATIENCE_MS } }
  // A probe is hardly ever out for as long as it is waited for.
  return { ok: false, retryAfterMs: Math.min(waitMs, OPEN_MS) }
}

/**
 * A call that was admitted has ended. `opened`: this opened the circuit. A probe that fails keeps
 * it open, which is still the same opening.
 */
export function report(
  state: BreakerState,
  verdict: Verdict,
  now: number,
): { state: BreakerState; opened: boolean } {
  if (verdict === 'success') return { state: CLOSED, opened: false }
  const { probeUntil: probe, ...rest } = state
  // Says nothing about the gateway, so the next call is the probe.
  if (verdict === 'neutral') return { state: rest, opened: false }
  const failures = state.failures + 1
  const openUntil = now + OPEN_MS
  if (state.openUntil === undefined) {
    if (failures < MOST_FAILURES) return { state: { failures }, opened: false }
    return { state: { failures, openUntil }, opened: true }
  }
  // One that began before the circuit opened tells what is known, and puts nothing off.
  if (probe === undefined) return { state, opened: false }
  return { state: { failures, openUntil }, opened: false }
}

/** As people are shown it. A circuit that nobody has tried since is still to be probed. */
export function health({ failures, openUntil }: BreakerState, now: number): BreakerHealth {
  if (openUntil === undefined) return { state: 'closed', failures }
  if (openUntil <= now) return { state: 'probing', failures }
  return { state: 'open', failures, openUntil: new Date(openUntil).toISOString() }
}
