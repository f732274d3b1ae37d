// The clock that all waiting code takes as a parameter, the host's or a fake one in tests, and what
// waits by it: a pause, a deadline, the wait before the next try.
//
// Two readings, because a machine's time of day is set now and then, by an hour or by years, either
// way. What is stored, signed or shown has the time of day. What lasts in memory is measured with
// the other one: a lease or a limit that began before the step would last for as long as the step.

export interface Clock {
  /** Milliseconds since 1970. It may jump. */
  now(): number
  /** Milliseconds since any moment, the same one as long as the process lives. Never goes back. */
  elapsed(): number
  /** Calls `call` once after `ms`. The returned function cancels it. */
  after(ms: number, call: () => void): () => void
  /** 0 to 1, for jitter. */
  random(): number
}

/** A time of day in ms as it is shown: RFC 3339, UTC. */
export const timeText = (ms: number): string => new Date(ms).toISOString()

/**
 * Whether a stored time is of the last `ms`. One that is far ahead of `now` is not: it was taken
 * before the clock was set back, and means nothing.
 */
export const isRecent = (at: number, ms: number, now: number): boolean => Math.abs(now - at) < ms

/** Resolves after `ms`. */
export const pause = (clock: Pick<Clock, 'after'>, ms: number): Promise<void> =>
  new Promise((resolve) => {
    clock.after(ms, resolve)
  })

/**
 * workerd has no steady clock, only the time of day: a step back of it counts as no time.
 * @forTests With a clock that is set back.
 */
export function steady(read: () => number): () => number {
  let last = read()
  let sum = 0
  return () => {
    const at = read()
    sum += Math.max(at - last, 0)
    last = at
    return sum
  }
}

export const hostClock: Clock = {
  now: () => Date.now(),
  elapsed: steady(() => performance.now()),
  after(ms, call) {
    const timer = setTimeout(call, ms)
    return () => clearTimeout(timer)
  },
  random: () => Math.random(),
}

/**
 * A process is gone so long after it was asked to end, whatever hangs: supervisors wait, too.
 * `SIGNALBOX_STOP_TIMEOUT` sets another time.
 */
export const STOP_WITHIN_MS = 10_000

export class DeadlineExceeded extends Error {
  override readonly name = 'DeadlineExceeded'
}

/**
 * A deadline for work that others control: a gateway, a database, a listener, an endpoint. Rejects
 * with DeadlineExceeded after `ms`, and aborts the signal. Work that ignores the signal goes on,
 * but nothing waits for it.
 */
export async function within<Result>(
  clock: Pick<Clock, 'after'>,
  ms: number,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const abort = new AbortController()
  let cancel: (() => void) | undefined
  const tooLate = new Promise<never>((_resolve, reject) => {
    cancel = clock.after(ms, () => {
      const exceeded = new DeadlineExceeded(`No answer within ${ms / 1_000} s.`)
      reject(exceeded)
      abort.abort(exceeded)
    })
  })
  try {
    return await Promise.race([work(abort.signal), tooLate])
  } finally {
    cancel?.()
  }
}

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
