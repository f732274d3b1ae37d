// The public contract of payments over HTTP, with real processes on every side: the same sentences
// must be true of workerd and of Node.

import { afterAll, beforeAll } from 'vitest'
import type { Host } from '../support/edge-process.ts'
import { PaymentSystem } from '../support/payment-system.ts'
import { accessContract } from './payments-access.ts'
import { chargesContract } from './payments-charges.ts'
import { eventsContract } from './payments-events.ts'
import { forgeriesContract } from './payments-forgeries.ts'
import { outagesContract, type Silent, startSilent } from './payments-outages.ts'
import { queriesContract } from './payments-queries.ts'
import { refundsContract } from './payments-refunds.ts'
import { replacementsContract, type Stranded, startStranded } from './payments-replacements.ts'
import { stripeContract } from './payments-stripe.ts'
import { transitionsContract } from './payments-transitions.ts'
import { webhooksContract } from './payments-webhooks.ts'

/** What the tests of one host share. */
export interface Payments {
  host: Host
  system(): PaymentSystem
}

export function paymentsContract(host: Host): void {
  let system: PaymentSystem
  let silent: Silent
  let stranded: Stranded
  beforeAll(async () => {
    system = await PaymentSystem.start(host, undefined, undefined, { file: host === 'node' })
    // A gateway is waited for for 15 s: meanwhile the other tests run.
    silent = await startSilent(system)
    stranded = await startStranded(system)
  })
  afterAll(() => system?.[Symbol.asyncDispose]())

  const payments: Payments = { host, system: () => system }
  webhooksContract(payments)
  forgeriesContract(payments)
  transitionsContract(payments)
  chargesContract(payments)
  refundsContract(payments)
  stripeContract(payments)
  accessContract(payments)
  queriesContract(payments)
  outagesContract(payments, () => silent)
  replacementsContract(
    payments,
    () => stranded,
    () => silent,
  )
  // Last, because it counts what all the others caused.
  eventsContract(payments)
}
