// The shop of a run: what an operator writes, with listeners that leave a line in the edge's log.

import { defineConfig } from '../../worker/payments/define-config.ts'
import type { PaymentEvents } from '../../worker/payments/domain/events.ts'
import type { LifecycleEvent } from '../../worker/payments/domain/status.ts'

const heard =
  (listener: LifecycleEvent) =>
  ({ transaction }: PaymentEvents[LifecycleEvent]) =>
    console.log(JSON.stringify({ listener, transaction }))

export default defineConfig({
  payments: {
    gateways: { redirect: { driver: 'redirect' }, fib: { driver: 'fib' } },
    listeners: {
      PaymentInitiated: heard('PaymentInitiated'),
      PaymentSucceeded: heard('PaymentSucceeded'),
      PaymentFailed: heard('PaymentFailed'),
      PaymentCancelled: heard('PaymentCancelled'),
      PaymentRefunded: heard('PaymentRefunded'),
    },
  },
})
