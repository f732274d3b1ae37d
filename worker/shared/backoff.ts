// How long to wait before the next try. Pure.

export interface Backoff {
  firstMs: number
  maxMs: number
}

/**
 * The wait after failure number `attempt` (from 1). It doubles each time. Jitter takes off up to
 * half, so that clients that failed together do not retry together. `random` is 0 to 1.
 */
export function backoffMs(attempt: number, { firstMs, maxMs }: Backoff, random: number): number {
  // 2 ** 1024 is Infinity, and a `firstMs` of 0 times Infinity is NaN.
  const whole = Math.min(firstMs * 2 ** Math.min(attempt - 1, 30), maxMs)
  return Math.round(whole / 2 + (whole / 2) * random)
}
