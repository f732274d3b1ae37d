// The ledger and what is read back of it, over any adapter.

import { describe } from 'vitest'
import type { Subscribers } from '../../worker/payments/domain/events.ts'
import { hostClock } from '../../worker/shared/clock.ts'
import type { Log } from '../../worker/shared/log.ts'
import { alertContract } from './ledger-alerts.ts'
import { chargeContract } from './ledger-charges.ts'
import { paidContract } from './ledger-paid.ts'
import { queriesContract } from './ledger-queries.ts'
import { refundContract } from './ledger-refunds.ts'
import { replacementContract } from './ledger-replacements.ts'
import { sweepContract } from './ledger-sweeps.ts'
import { webhookContract } from './ledger-webhooks.ts'
import { BOTH, FakeDispatcher, FakeGuard, type MakeLedger, World } from './ledger-world.ts'

/** Plays in a world of its own; by default there are listeners and an endpoint. */
export type On = (
  play: (w: World) => Promise<void>,
  subscribers?: Subscribers,
) => () => Promise<void>

/** `make` opens a ledger over a store that is empty, or that it has emptied. */
export function ledgerContract(name: string, make: MakeLedger): void {
  const on: On =
    (play, subscribers = BOTH) =>
    async () => {
      const guard = new FakeGuard()
      const dispatcher = new FakeDispatcher()
      const { dispatch } = dispatcher
      const logged: World['logged'] = []
      const log: Log = (_, event, fields) => void logged.push([event, fields])
      const bed = await make({ guard, subscribers, dispatch, clock: hostClock, log })
      try {
        await play(new World(bed, { guard, dispatcher }, { logged }))
      } finally {
        await bed.close()
      }
    }

  describe(`the ledger on ${name}`, () => {
    webhookContract(on)
    chargeContract(on)
    replacementContract(on)
    refundContract(on)
    paidContract(on)
    sweepContract(on)
    alertContract(on)
    queriesContract(on)
  })
}
