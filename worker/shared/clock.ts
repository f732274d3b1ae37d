// The clock that all waiting code takes as a parameter: the host's, or a fake one in tests.

export interface Clock {
  /** Milliseconds since 1970. */
  now(): number
  /** Calls `call` once after `ms`. The returned function cancels it. */
  after(ms: number, call: () => void): () => void
  /** 0 to 1, for jitter. */
  random(): number
}

/** Resolves after `ms`. */
export const pause = (clock: Pick<Clock, 'after'>, ms: number): Promise<void> =>
  new Promise((resolve) => {
    clock.after(ms, resolve)
  })

export const hostClock: Clock = {
  now: () => Date.now(),
  after(ms, call) {
    const timer = setTimeout(call, ms)
    return () => clearTimeout(timer)
  },
  random: () => Math.random(),
}
