// A token bucket: a burst at once, then a fixed rate per second. Pure.

export interface BucketState {
  left: number
  /** ms: the time at which `left` was counted. */
  at: number
}

export interface BucketRule {
  burst: number
  perSecond: number
}

/** Takes one token, if there is one. `state` is undefined before the first. */
export function take(
  state: BucketState | undefined,
  { burst, perSecond }: BucketRule,
  now: number,
): { ok: true; state: BucketState } | { ok: false; retryAfterMs: number } {
  // If the clock was set back, the bucket keeps its count.
  const elapsedMs = state ? Math.max(now - state.at, 0) : 0
  const left = state ? Math.min(state.left + (elapsedMs * perSecond) / 1_000, burst) : burst
  if (left >= 1) return { ok: true, state: { left: left - 1, at: now } }
  return { ok: false, retryAfterMs: Math.ceil(((1 - left) / perSecond) * 1_000) }
}
