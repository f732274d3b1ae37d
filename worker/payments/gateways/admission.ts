// Whether a gateway may be called: its circuit breaker, and the limit for its callbacks. Pure; what
// is remembered is data that can be stored.

import { hasCome } from '../domain/time.ts'
import type { BreakerHealth } from '../domain/types.ts'

// The circuit breaker: after five failed calls the circuit is open for 30 seconds, then one call,
// the probe, tests the gateway.

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
/** Longer than any call takes. A probe whose Worker died never reports; then another may run. */
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

// How many calls to a gateway its callbacks may cause: a callback without a proof may come from
// anybody. Times are in ms, of a clock that never goes back.

/** Why a gateway is called. */
export type Purpose =
  /** For an authorized request, or for the sweeper. */
  | 'call'
  /** A callback without a proof: anybody can send as many of these as they like. */
  | 'unproven'
  /** A callback with a proof: written by us for a payment, or signed by the gateway. */
  | { proven: string }

/**
 * For all such callbacks of a gateway together. Few are genuine (the sweeper checks those payments
 * too), and each costs the bank a call with our credentials. The burst is for payments whose proof
 * was made with a secret that has changed since.
 */
const UNPROVEN: BucketRule = { burst: 10, perSecond: 1 }
/**
 * For one payment or event. A bank sends each of its few statuses once and repeats what we did not
 * accept. More callbacks than that come from a sender that knows the address and repeats it.
 */
const PROVEN: BucketRule = { burst: 10, perSecond: 0.2 }
/** A bucket that was not used for this long is full again, so it can be deleted. */
const FULL_AFTER_MS = (PROVEN.burst / PROVEN.perSecond) * 1_000

export function callbackLimit() {
  const unproven = new Map<string, BucketState>()
  /** In the order of their last use, the oldest first. */
  const proven = new Map<string, BucketState>()

  function deleteFull(now: number): void {
    for (const [key, { at }] of proven) {
      if (now - at < FULL_AFTER_MS) return
      proven.delete(key)
    }
  }

  return {
    take(
      gateway: string,
      purpose: Exclude<Purpose, 'call'>,
      now: number,
    ): { ok: true } | { ok: false; retryAfterMs: number } {
      const isProven = purpose !== 'unproven'
      const [buckets, rule] = isProven ? [proven, PROVEN] : [unproven, UNPROVEN]
      const key = isProven ? JSON.stringify([gateway, purpose.proven]) : gateway
      deleteFull(now)
      const taken = take(buckets.get(key), rule, now)
      if (!taken.ok) return taken
      buckets.delete(key)
      buckets.set(key, taken.state)
      return { ok: true }
    },
  }
}

export interface BucketState {
  left: number
  /** ms: the time at which `left` was counted. */
  at: number
}

interface BucketRule {
  burst: number
  perSecond: number
}

/** Takes one token, if there is one. `state` is undefined before the first. */
export function take(
  state: BucketState | undefined,
  { burst, perSecond }: BucketRule,
  now: number,
): { ok: true; state: BucketState } | { ok: false; retryAfterMs: number } {
  const elapsedMs = state ? now - state.at : 0
  const left = state ? Math.min(state.left + (elapsedMs * perSecond) / 1_000, burst) : burst
  if (left >= 1) return { ok: true, state: { left: left - 1, at: now } }
  return { ok: false, retryAfterMs: Math.ceil(((1 - left) / perSecond) * 1_000) }
}
