// Whether and when an exchange is tried again. Owns no clock and no fetch.

import { type Backoff, backoffMs } from '../../../shared/backoff.ts'
import { type Clock, pause } from '../../../shared/clock.ts'
import { type Exchanged, MIN_TRY_MS, type Trouble } from './exchange.ts'

const ATTEMPTS = 3
/** A payer is waiting: a gateway that is not back after this is not waited for. */
const BACKOFF: Backoff = { firstMs: 200, maxMs: 2_000 }

/** Tries until it is answered, was tried three times, must not be repeated, or time is over. */
export async function withRetries(
  once: () => Promise<Exchanged>,
  {
    clock,
    deadlineAt,
    mayRepeat,
    onTrouble,
  }: {
    clock: Clock
    /** ms: for all tries and waits together. */
    deadlineAt: number
    mayRepeat: (trouble: Trouble) => boolean
    onTrouble: (trouble: Trouble, attempt: number) => void
  },
): Promise<Exchanged> {
  for (let attempt = 1; ; attempt++) {
    const exchanged = await once()
    if (exchanged.ok) return exchanged
    onTrouble(exchanged, attempt)
    const waitMs = Math.max(
      backoffMs(attempt, BACKOFF, clock.random()),
      exchanged.retryAfterMs ?? 0,
    )
    // One that asks for more patience than ours is not asked again before its time.
    const leftMs = deadlineAt - clock.now() - waitMs
    const isTooLong = waitMs > BACKOFF.maxMs || leftMs < MIN_TRY_MS
    if (attempt === ATTEMPTS || isTooLong || !mayRepeat(exchanged)) return exchanged
    await pause(clock, waitMs)
  }
}
