// Limits how often something is done: a burst at once, then so many a second. Pure.

export interface BucketState {
  left: number
  /** ms: when `left` was true. */
  at: number
}

export interface BucketRule {
  burst: number
  perSecond: number
}

/** Takes one, if there is one. Nobody has taken any yet: `state` is undefined. */
export function take(
  state: BucketState | undefined,
  { burst, perSecond }: BucketRule,
  now: number,
): { ok: true; state: BucketState } | { ok: false; retryAfterMs: number } {
  // A clock that was set back fills nothing, and empties nothing.
  const elapsedMs = state ? Math.max(now - state.at, 0) : 0
  const left = state ? Math.min(state.left + (elapsedMs * perSecond) / 1_000, burst) : burst
  if (left >= 1) return { ok: true, state: { left: left - 1, at: now } }
  return { ok: false, retryAfterMs: Math.ceil(((1 - left) / perSecond) * 1_000) }
}
