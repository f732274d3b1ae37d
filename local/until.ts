// Waits for a process by polling, since the process cannot call back.

import { setTimeout as sleep } from 'node:timers/promises'
import { StartError } from './start-error.ts'

/** Short beside the tens of milliseconds that a process takes, long beside one question. */
const ASK_AGAIN_MS = 15

export interface Patience {
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
  ask: (signal: AbortSignal) => Promise<boolean>,
  { what, waitMs, signal }: Patience,
): Promise<void> {
  const deadline = performance.now() + waitMs
  while (!(await ask(signal))) {
    signal.throwIfAborted()
    if (performance.now() > deadline) {
      throw new StartError('not_ready_in_time', `${what} was not ready in ${waitMs / 1_000} s.`)
    }
    await sleep(ASK_AGAIN_MS)
  }
}

/** An answer. Undefined: nothing listens there. Throws the signal's reason when aborted. */
export async function tryFetch(
  url: string | URL,
  init: RequestInit & { signal: AbortSignal },
): Promise<Response | undefined> {
  try {
    return await fetch(url, init)
  } catch (error) {
    init.signal.throwIfAborted()
    // What fetch throws for a refused or reset connection; all else is a fault of ours.
    if (error instanceof TypeError) return undefined
    throw error
  }
}
