// Work that no caller waits for: passing events on, and more.

import type { Log } from '../../shared/log.ts'
import type { PaymentEvents } from '../domain/events.ts'
import type { PassingEvent } from '../domain/status.ts'
import type { Dispatcher } from './dispatcher.ts'

export interface Background {
  /** Lets work go on after the request that caused it. Failures are logged. */
  run(work: Promise<unknown>): void
  pass<Name extends PassingEvent>(name: Name, payload: PaymentEvents[Name]): void
}

/** `keepAlive` is the runtime's own: a Worker otherwise ends with its answer. */
export function createBackground(deps: {
  dispatcher: Pick<Dispatcher, 'pass' | 'hasSubscribers'>
  keepAlive: (work: Promise<unknown>) => void
  log: Log
}): Background {
  const { dispatcher, keepAlive, log } = deps
  const run = (work: Promise<unknown>) =>
    keepAlive(
      work.catch((error: unknown) => {
        log('error', 'payments.background_failed', { error: String(error) })
      }),
    )
  return {
    run,
    pass(name, payload) {
      if (dispatcher.hasSubscribers(name)) run(dispatcher.pass(name, payload))
    },
  }
}
