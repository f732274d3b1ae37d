// A deadline for work that others control: a gateway, a database, a listener, an endpoint.

import type { Clock } from './clock.ts'

export class DeadlineExceeded extends Error {
  override readonly name = 'DeadlineExceeded'
}

/**
 * Rejects with DeadlineExceeded after `ms`, and aborts the signal. Work that ignores the signal
 * goes on, but nothing waits for it.
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
