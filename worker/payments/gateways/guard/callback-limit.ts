// How often callbacks may make us ask their gateway: one that proves nothing is perhaps a
// stranger's. Pure: times come in, in ms.

import { type BucketRule, type BucketState, take } from './token-bucket.ts'

/** Why a gateway is called. */
export type Purpose =
  /** Somebody with a token wants it, or the sweeper. */
  | 'call'
  /** A callback that proves nothing: anybody can cause as many as they like. */
  | 'unproven'
  /** A callback with a proof that only we could have written, of the payment that it names. */
  | { proven: string }

/**
 * All of a gateway's together. Few are genuine (the sweeper asks about those payments as well), and
 * each costs the bank a call with our credentials. The burst is for payments whose proof is of a
 * secret that was changed meanwhile.
 */
const UNPROVEN: BucketRule = { burst: 10, perSecond: 1 }
/**
 * Of one payment. A bank tells each of its few statuses once and repeats what we did not take; more
 * than that is somebody who has read the address and sends it again and again.
 */
const PROVEN: BucketRule = { burst: 10, perSecond: 0.2 }
/** A bucket that nobody has taken from for so long is full: it is as good as a new one. */
const FULL_AFTER_MS = (PROVEN.burst / PROVEN.perSecond) * 1_000

export interface CallbackLimit {
  take(
    gateway: string,
    purpose: Exclude<Purpose, 'call'>,
    now: number,
  ): { ok: true } | { ok: false; retryAfterMs: number }
}

export function callbackLimit(): CallbackLimit {
  const unproven = new Map<string, BucketState>()
  /** The one that was taken from longest ago is the first. */
  const proven = new Map<string, BucketState>()

  function forgetFull(now: number): void {
    for (const [key, { at }] of proven) {
      if (now - at < FULL_AFTER_MS) return
      proven.delete(key)
    }
  }

  return {
    take(gateway, purpose, now) {
      const isProven = purpose !== 'unproven'
      const [buckets, rule] = isProven ? [proven, PROVEN] : [unproven, UNPROVEN]
      const key = isProven ? JSON.stringify([gateway, purpose.proven]) : gateway
      forgetFull(now)
      const taken = take(buckets.get(key), rule, now)
      if (!taken.ok) return taken
      buckets.delete(key)
      buckets.set(key, taken.state)
      return { ok: true }
    },
  }
}
