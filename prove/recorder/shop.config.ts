// The shop's configuration in a run, with listeners that write a line into the edge's log.

import { defineConfig } from '../../worker/payments/define-config.ts'
import type { PaymentEvents } from '../../worker/payments/domain/events.ts'
import type { LifecycleEvent } from '../../worker/payments/domain/status.ts'

const logged =
  (listener: LifecycleEvent) =>
  ({ transaction }: PaymentEvents[LifecycleEvent]) =>
    console.log(JSON.stringify({ listener, transaction }))

export default defineConfig({
  payments: {
    gateways: { redirect: { driver: 'redirect' }, fib: { driver: 'fib' } },
    listeners: {
      PaymentInitiated: logged('PaymentInitiated'),
      PaymentSucceeded: logged('PaymentSucceeded'),
      PaymentFailed: logged('PaymentFailed'),
      PaymentCancelled: logged('PaymentCancelled'),
      PaymentRefunded: logged('PaymentRefunded'),
    },
  },
})
