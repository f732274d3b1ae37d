// Tells what happened without making whoever caused it wait.

import type { Clock } from '../../shared/clock.ts'
import type { Log } from '../../shared/log.ts'
import type { PassingEvent, PaymentEvents, Told, Untold } from '../domain/events.ts'
import type { Ledger } from '../ledger/ledger.ts'
import type { Teller } from './dispatcher.ts'
import { settleTogether } from './settle-together.ts'

export interface Telling {
  /** Tells what was stored, and stores that it was told. What fails here the sweeper repeats. */
  tellLater(untold: readonly Untold[]): void
  pass<Name extends PassingEvent>(name: Name, payload: PaymentEvents[Name]): void
  /** Lets work outlive the request that caused it. Failures are logged. */
  background(work: Promise<unknown>): void
}

/** `keepAlive` is the runtime's own: a Worker otherwise ends with its answer. */
export function createTelling(deps: {
  ledger: Ledger
  teller: Teller
  clock: Clock
  log: Log
  keepAlive: (work: Promise<unknown>) => void
}): Telling {
  const { ledger, teller, clock, log, keepAlive } = deps
  const background = (work: Promise<unknown>) =>
    keepAlive(
      work.catch((error: unknown) => {
        log('error', 'payments.background_failed', { error: String(error) })
      }),
    )
  const settle = settleTogether<Told>((told) => ledger.settleTold(told, clock.now()), clock.now)
  const tell = async (untold: readonly Untold[]) => settle(await teller.tell(untold))
  return {
    background,
    tellLater(untold) {
      if (untold.length > 0) background(tell(untold))
    },
    pass(name, payload) {
      if (teller.hears(name)) background(teller.pass(name, payload))
    },
  }
}
