// Callbacks that are not signed: a proof in the address to which they come, and how many calls to a
// gateway they may cause, since anybody can send one without a proof. Times are in ms, of a clock
// that never goes back.

import { hmac } from '../../shared/sha256.ts'

const REFERENCE = 'reference'
const PROOF = 'proof'

/**
 * The address where a gateway sends callbacks: ours, with our external reference of the payment and
 * a signature that proves that we wrote it. If the gateway never returns that reference, and its
 * answer to the charge was lost, only this address connects its payment to ours. Callbacks are
 * unsigned and our references can be guessed: without the proof, a stranger could use another
 * payment of the account to mark an order here as paid.
 *
 * For one configured gateway: the addresses of another gateway are not valid here.
 */
export function callbackAddress(gateway: string, secret: string) {
  const key = hmac(secret)
  const signedBytes = (reference: string) =>
    new TextEncoder().encode(JSON.stringify(['callback', gateway, reference]))

  return {
    async sign(callbackUrl: string, reference: string): Promise<string> {
      const url = new URL(callbackUrl)
      url.searchParams.set(REFERENCE, reference)
      url.searchParams.set(PROOF, await key.sign(signedBytes(reference)))
      return url.href
    },
    /** The external reference in a callback's address; undefined when its proof is not ours. */
    async verify(query: URLSearchParams): Promise<string | undefined> {
      const reference = query.get(REFERENCE)
      const proof = query.get(PROOF)
      if (reference === null || proof === null || !/^[0-9a-f]{64}$/.test(proof)) return undefined
      return (await key.verify(proof, signedBytes(reference))) ? reference : undefined
    },
  }
}

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

type Taken = { ok: true } | { ok: false; reason: 'rate_limited'; retryAfterMs: number }

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
    /** Anything but a callback is admitted. */
    take(gateway: string, purpose: Purpose, now: number): Taken {
      if (purpose === 'call') return { ok: true }
      const isProven = purpose !== 'unproven'
      const [buckets, rule] = isProven ? [proven, PROVEN] : [unproven, UNPROVEN]
      const key = isProven ? JSON.stringify([gateway, purpose.proven]) : gateway
      deleteFull(now)
      const taken = take(buckets.get(key), rule, now)
      if (!taken.ok) return { ...taken, reason: 'rate_limited' }
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

/**
 * Takes one token, if there is one. `state` is undefined before the first.
 * @forTests A day of callbacks in microseconds.
 */
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
