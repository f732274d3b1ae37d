// Gives up on what takes too long: no gateway, database, listener or endpoint is ours.

import type { Clock } from './clock.ts'

export class DeadlineExceeded extends Error {
  override readonly name = 'DeadlineExceeded'
}

/** The signal tells the work to stop. Work that does not heed it goes on, unwaited for. */
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
