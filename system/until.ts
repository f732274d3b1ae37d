// Waits for a process by polling, since most processes cannot call back.

import { setTimeout as sleep } from 'node:timers/promises'
import { StartError } from './start-error.ts'

/** Short beside the tens of milliseconds that a process takes, long beside one question. */
const ASK_AGAIN_MS = 15

export interface Wait {
  /** What is waited for, as the subject of "… was not ready". */
  what: string
  waitMs: number
  signal: AbortSignal
}

/**
 * Asks until the answer is true. Throws a StartError when that takes too long, the signal's reason
 * when it is aborted, and every error of `ask`.
 */
export async function until(
  ask: () => boolean | Promise<boolean>,
  { what, waitMs, signal }: Wait,
): Promise<void> {
  const deadline = performance.now() + waitMs
  while (!(await ask())) {
    signal.throwIfAborted()
    if (performance.now() > deadline) {
      throw new StartError('not_ready_in_time', `${what} was not ready in ${waitMs / 1_000} s.`)
    }
    await sleep(ASK_AGAIN_MS)
  }
}

/** Waits for any answer at this URL. */
export function untilAnswers(url: string, wait: Wait): Promise<void> {
  const { signal } = wait
  return until(async () => {
    try {
      const answer = await fetch(url, { signal })
      await answer.body?.cancel()
      return true
    } catch (error) {
      signal.throwIfAborted()
      // What fetch throws for a refused or reset connection; all else is a defect.
      if (error instanceof TypeError) return false
      throw error
    }
  }, wait)
}
