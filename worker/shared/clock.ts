// The clock that all waiting code takes as a parameter, the host's or a fake one in tests, and what
// waits by it: a pause, a deadline, the wait before the next try.

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

export class DeadlineExceeded extends Error {
  override readonly name = 'DeadlineExceeded'
}

/**
 * A deadline for work that others control: a gateway, a database, a listener, an endpoint. Rejects
 * with DeadlineExceeded after `ms`, and aborts the signal. Work that ignores the signal goes on,
 * but nothing waits for it.
 */
export async function within<Result>(
  clock: Clock,
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
