// What an operator edits: which gateways there are, how strict webhooks are, and who listens.
// Secrets stay in the environment; docs/payments.md lists the variables.

import { defineConfig } from './worker/payments/define-config.ts'

export default defineConfig({
  payments: {
    // By the key in /payments/webhooks/{key}. One whose variables are not set is left out. A second
    // account of the same gateway: `'shop-b': { driver: 'redirect', env_prefix: 'SHOP_B_' }`.
    gateways: {
      redirect: { driver: 'redirect' },
      fib: { driver: 'fib' },
      stripe: { driver: 'stripe' },
      mollie: { driver: 'mollie' },
    },
    webhooks: {
      route_prefix: 'payments/webhooks',
      middleware: ['api'],
    },
    // At least once each: whoever changes something by an event remembers transaction.id and status.
    listeners: {
      PaymentSucceeded: ({ transaction }) => {
        // What came in, which may differ from what was asked for: compare before you deliver.
        const { reference, amount, currency, paid = { amount, currency } } = transaction
        console.log(`PaymentSucceeded ${reference}: ${paid.amount} ${paid.currency}`)
      },
      PaymentFailed: ({ transaction: { reference, error } }) => {
        console.log(`PaymentFailed ${reference}: ${error?.message ?? 'without a reason'}`)
      },
      PaymentCancelled: ({ transaction: { reference, status } }) => {
        console.log(`PaymentCancelled ${reference}: ${status}`)
      },
      PaymentRefunded: ({ transaction }) => {
        const { reference, refundedAmount, currency, paid = { currency } } = transaction
        console.log(`PaymentRefunded ${reference}: ${refundedAmount} ${paid.currency}`)
      },
      // A person has to look: a late payment, another amount, a refund that failed.
      AlertRaised: ({ alert, transaction }) => {
        console.log(`AlertRaised ${transaction.reference}: ${alert.kind}`)
      },
      AlertSettled: ({ alert, transaction }) => {
        console.log(`AlertSettled ${transaction.reference}: ${alert.kind}`)
      },
    },
  },
})
