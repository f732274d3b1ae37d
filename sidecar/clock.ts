// The clock of everything that waits in the sidecar, so that a test plays a day in microseconds.

export interface Clock {
  /** Milliseconds since 1970. */
  now(): number
  /** Calls `then` once after `ms`; the answer takes it back. */
  after(ms: number, then: () => void): () => void
}

export const systemClock: Clock = {
  now: () => Date.now(),
  after(ms, then) {
    const timer = setTimeout(then, ms)
    return () => clearTimeout(timer)
  },
}
