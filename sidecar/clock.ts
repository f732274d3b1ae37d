// The clock of everything that waits in the sidecar, so that a test plays a day in microseconds.
// What lasts is measured with `elapsed`: a machine's time of day is set now and then, by an hour or
// by years, and a wait that began before would last for as long.

export interface Clock {
  /** Milliseconds since 1970. It may jump. */
  now(): number
  /** Milliseconds since any moment, the same one as long as the process lives. Never goes back. */
  elapsed(): number
  /** Calls `then` once after `ms`; the answer takes it back. */
  after(ms: number, then: () => void): () => void
}

export const systemClock: Clock = {
  now: () => Date.now(),
  elapsed: () => performance.now(),
  after(ms, then) {
    const timer = setTimeout(then, ms)
    return () => clearTimeout(timer)
  },
}
