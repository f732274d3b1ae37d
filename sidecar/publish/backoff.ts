// What to do after a failure: how long to stay quiet, and whether a sync must come first. Pure.

import type { Failure } from './edge.ts'

const BASE_MS = 200
const MAX_MS = 30_000
/** A proxy that says `Retry-After: 86400` must not silence a board for a day. */
const LONGEST_RETRY_AFTER_MS = 600_000
/** Tokens are rotated, and programs upgraded, by people: asking more often only fills two logs. */
const OPERATOR_MS = 30_000
/**
 * Another sidecar publishes the same repository. The first wait is short, because it was most
 * likely a `sync` from cron that has ended by now; two that live must not take the board from each
 * other more often than the last step.
 */
const SUPERSEDED_MS = [5_000, 60_000, 300_000]

/** Full jitter: a thousand sidecars that lost the same edge do not come back in the same second. */
export function backoffMs(attempt: number, random: () => number): number {
  return random() * Math.min(MAX_MS, BASE_MS * 2 ** Math.min(attempt, 20))
}

/** ±20 %, for what repeats: sidecars started together drift apart. */
export const jittered = (ms: number, random: () => number): number => ms * (0.8 + 0.4 * random())

export interface Retry {
  waitMs: number
  /** What the edge holds is unknown: compare everything before the next change. */
  sync: boolean
  /** The run is of no use any more: ask for a new one. */
  freshRun: boolean
}

export interface History {
  /** Failures in a row before this one. */
  attempt: number
  /** How often another sidecar took over lately, before this time. */
  superseded: number
}

export function afterFailure(failure: Failure, history: History, random: () => number): Retry {
  const { attempt } = history
  const backoff = backoffMs(attempt, random)
  switch (failure.reason) {
    case 'network':
    case 'timeout':
    case 'busy':
    case 'malformed': {
      const asked = Math.min(failure.retryAfterMs ?? 0, LONGEST_RETRY_AFTER_MS)
      return { waitMs: asked + backoff, sync: false, freshRun: false }
    }
    case 'unauthorized':
      return { waitMs: jittered(OPERATOR_MS, random), sync: false, freshRun: false }
    case 'version':
      return { waitMs: jittered(OPERATOR_MS, random), sync: true, freshRun: false }
    case 'conflict':
      if (failure.code === 'superseded') {
        const step = Math.min(history.superseded, SUPERSEDED_MS.length - 1)
        const waitMs = SUPERSEDED_MS[step] ?? MAX_MS
        return { waitMs: jittered(waitMs, random), sync: true, freshRun: true }
      }
      // At once the first time, since the edge asked for it; an edge that asks for ever is backed
      // off from like any other that does not work.
      return { waitMs: attempt === 0 ? 0 : backoff, sync: true, freshRun: true }
    case 'too_large':
    case 'refused':
      return { waitMs: backoff, sync: true, freshRun: false }
  }
}
