// The shop's configuration in a run, with listeners that write a line into the edge's log.

import { defineConfig } from '../../../worker/payments/define-config.ts'
import { DURABLE_EVENTS, type DurableEvent } from '../../../worker/payments/domain/status.ts'
import type { PaymentEvents } from '../../../worker/payments/domain/types.ts'

const logged = (listener: DurableEvent) => (payload: PaymentEvents[DurableEvent]) => {
  const { transaction } = payload
  const alert = 'alert' in payload && { alert: payload.alert }
  const { previousRefundedAmount } = { previousRefundedAmount: undefined, ...payload }
  console.log(JSON.stringify({ listener, transaction, previousRefundedAmount, ...alert }))
}

export default defineConfig({
  payments: {
    gateways: {
      redirect: { driver: 'redirect' },
      fib: { driver: 'fib' },
      stripe: { driver: 'stripe' },
      mollie: { driver: 'mollie' },
    },
    listeners: Object.fromEntries(DURABLE_EVENTS.map((name) => [name, logged(name)])),
  },
})
