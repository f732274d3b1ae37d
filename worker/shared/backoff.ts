// How long to wait before something is tried again. Pure.

export interface Backoff {
  firstMs: number
  mostMs: number
}

/**
 * The wait after failure number `attempt` (from 1): doubled each time, and jittered down to its
 * half so that those who failed together do not come back together. `random` is 0 to 1.
 */
export function backoffMs(attempt: number, { firstMs, mostMs }: Backoff, random: number): number {
  // Doubled for ever it would be infinite, and nothing times infinity is no number.
  const whole = Math.min(firstMs * 2 ** Math.min(attempt - 1, 30), mostMs)
  return Math.round(whole / 2 + (whole / 2) * random)
}
