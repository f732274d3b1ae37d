// A limit over a sliding window, which counts what it does not admit. Pure.

export interface RateLimit {
  /** Whether one more is within the limit; otherwise it is counted. */
  admits(now: number): boolean
  /** How many were not, since the count began. */
  readonly missed: number
  /** Their number once the span since the first is over, and the count begins again; before, 0. */
  takeMissed(now: number): number
}

export function createRateLimit(max: number, spanMs: number): RateLimit {
  const admitted: number[] = []
  let missed = 0
  let missedSince = 0
  return {
    get missed() {
      return missed
    },
    admits(now) {
      while (admitted[0] !== undefined && admitted[0] <= now - spanMs) admitted.shift()
      if (admitted.length < max) {
        admitted.push(now)
        return true
      }
      if (missed === 0) missedSince = now
      missed++
      return false
    },
    takeMissed(now) {
      if (missed === 0 || now < missedSince + spanMs) return 0
      const count = missed
      missed = 0
      return count
    },
  }
}
