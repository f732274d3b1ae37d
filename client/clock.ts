// Time and chance, as everything that waits takes them: the host's, or a test's own.

export interface Clock {
  /** Milliseconds since 1970. */
  now(): number
  /** Calls back once after `ms`; the result cancels it. */
  after(ms: number, call: () => void): () => void
  /** 0 to 1, for jitter. */
  random(): number
}

export const hostClock: Clock = {
  now: () => Date.now(),
  after(ms, call) {
    const timer = setTimeout(call, ms)
    return () => clearTimeout(timer)
  },
  random: () => Math.random(),
}
