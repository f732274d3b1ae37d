// The clock that all waiting code takes as a parameter (the host's, or a fake one in tests), and
// how long to wait between tries.

export interface Clock {
  /** Milliseconds since 1970. It may jump, when the time of day is set. */
  now(): number
  /** Milliseconds since any moment, the same one as long as the page lives. Never goes back. */
  elapsed(): number
  /** Calls `call` once after `ms`. The returned function cancels it. */
  after(ms: number, call: () => void): () => void
  /** 0 to 1, for jitter. */
  random(): number
}

export const hostClock: Clock = {
  now: () => Date.now(),
  elapsed: () => performance.now(),
  after(ms, call) {
    const timer = setTimeout(call, ms)
    return () => clearTimeout(timer)
  },
  random: () => Math.random(),
}

const BASE_MS = 1_000
const MAX_MS = 30_000

/**
 * The wait after `failures` in a row. Half of it is random, so that clients that lost the edge
 * together do not come back together.
 */
export const backoffMs = (failures: number, random: () => number): number =>
  Math.min(MAX_MS, BASE_MS * 2 ** Math.max(0, failures - 1)) * (0.5 + random() / 2)
