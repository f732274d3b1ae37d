// The contract of the ledger and its queries, for any adapter.

import { describe } from 'vitest'
import type { Subscribers } from '../../worker/payments/domain/events.ts'
import { hostClock } from '../../worker/shared/clock.ts'
import type { Log } from '../../worker/shared/log.ts'
import { alertContract } from './ledger-alerts.ts'
import { answerContract } from './ledger-charge-answers.ts'
import { chargeContract } from './ledger-charges.ts'
import { checkContract } from './ledger-checks.ts'
import { contradictionContract } from './ledger-contradictions.ts'
import { doublePaymentContract } from './ledger-double-payments.ts'
import { dueContract } from './ledger-due.ts'
import { BOTH, FakeDispatcher, FakeGuard } from './ledger-fakes.ts'
import { lateRefundContract } from './ledger-late-refunds.ts'
import { matchingContract } from './ledger-matching.ts'
import { mismatchContract } from './ledger-mismatches.ts'
import { outboxContract } from './ledger-outbox.ts'
import { paidContract } from './ledger-paid.ts'
import { queriesContract } from './ledger-queries.ts'
import { refundCallContract } from './ledger-refund-calls.ts'
import { refundContract } from './ledger-refunds.ts'
import { replacementContract } from './ledger-replacements.ts'
import { reportContract } from './ledger-reports.ts'
import { unknownChargeContract } from './ledger-unknown-charges.ts'
import { webhookContract } from './ledger-webhooks.ts'
import { type MakeLedger, World } from './ledger-world.ts'

/** Runs in a new world. By default there are listeners and an endpoint. */
export type On = (
  play: (w: World) => Promise<void>,
  subscribers?: Subscribers,
) => () => Promise<void>

/** `make` opens a ledger over an empty store. */
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
    matchingContract(on)
    reportContract(on)
    chargeContract(on)
    answerContract(on)
    unknownChargeContract(on)
    replacementContract(on)
    refundContract(on)
    refundCallContract(on)
    lateRefundContract(on)
    doublePaymentContract(on)
    paidContract(on)
    contradictionContract(on)
    mismatchContract(on)
    checkContract(on)
    outboxContract(on)
    dueContract(on)
    alertContract(on)
    queriesContract(on)
  })
}
