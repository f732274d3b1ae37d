// The gateways, the drivers that Signalbox does not have, and who listens. Secrets are variables.

import { defineConfig } from 'signalbox/worker'
import { acme } from './acme.ts'

export default defineConfig({
  payments: {
    drivers: { acme },
    gateways: { acme: { driver: 'acme' } },
    listeners: {
      PaymentSucceeded: ({ transaction: { reference, amount, currency, paid } }) => {
        const came = paid ?? { amount, currency }
        console.log(`PaymentSucceeded ${reference}: ${came.amount} ${came.currency}`)
      },
    },
  },
})
