// Decides whether and when an exchange is repeated. The caller passes the clock and the request.

import { type Backoff, backoffMs } from '../../../shared/backoff.ts'
import { type Clock, pause } from '../../../shared/clock.ts'
import { type Exchanged, type ExchangeFailure, MIN_TRY_MS } from './exchange.ts'

const ATTEMPTS = 3
/** A payer is waiting: there is no wait between tries that is longer than this. */
const BACKOFF: Backoff = { firstMs: 200, maxMs: 2_000 }

/** Repeats until there is an answer, three tries are used, it must not repeat, or time is up. */
export async function withRetries(
  once: () => Promise<Exchanged>,
  {
    clock,
    deadlineAt,
    mayRepeat,
    onFailure,
  }: {
    clock: Clock
    /** ms: for all tries and waits together. */
    deadlineAt: number
    mayRepeat: (failure: ExchangeFailure) => boolean
    onFailure: (failure: ExchangeFailure, attempt: number) => void
  },
): Promise<Exchanged> {
  for (let attempt = 1; ; attempt++) {
    const exchanged = await once()
    if (exchanged.ok) return exchanged
    onFailure(exchanged, attempt)
    const waitMs = Math.max(
      backoffMs(attempt, BACKOFF, clock.random()),
      exchanged.retryAfterMs ?? 0,
    )
    // A gateway that asks for a longer wait than ours is not called again before that time.
    const leftMs = deadlineAt - clock.now() - waitMs
    const isTooLong = waitMs > BACKOFF.maxMs || leftMs < MIN_TRY_MS
    if (attempt === ATTEMPTS || isTooLong || !mayRepeat(exchanged)) return exchanged
    await pause(clock, waitMs)
  }
}
