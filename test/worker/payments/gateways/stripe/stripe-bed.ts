// Stripe for tests: its settings, a charge, and Stripe's responses.

import type { GatewayCharge } from '../../../../../worker/payments/gateways/gateway.ts'
import { stripe } from '../../../../../worker/payments/gateways/stripe/stripe.ts'

export const BASE = 'https://api.stripe.com'
export const SETTINGS = { base_url: BASE, secret_key: 'sk_test_1', webhook_secret: 'whsec_1' }
export const gateway = stripe.create('stripe', SETTINGS)

export const charge: GatewayCharge = {
  gateway: 'stripe',
  reference: 'order-7',
  externalReferenceId: 'ext-7',
  amount: 1_250,
  currency: 'USD',
  description: 'Two lamps',
  returnUrl: 'https://shop.test/back',
  callbackUrl: 'https://pay.test/payments/webhooks/stripe',
  now: 1_700_000_000_000,
}
export const names = {
  gatewayTransactionId: 'cs_test_1',
  externalReferenceId: 'ext-7',
  reference: 'order-7',
  amount: 1_250,
  currency: 'USD',
}
export const refund = {
  ...names,
  refundId: '01REFUND',
  refundAmount: 400,
  reason: 'One was broken',
}
export const made = {
  id: 'cs_test_1',
  object: 'checkout.session',
  url: 'https://checkout.stripe.com/c/pay/cs_test_1',
  status: 'open',
  payment_status: 'unpaid',
  amount_total: 1_250,
  currency: 'usd',
  expires_at: 1_700_086_400,
  payment_intent: null,
}
export const paid = { ...made, url: null, status: 'complete', payment_status: 'paid' }
export const ok = (body: unknown) => ({ status: 200, body })
export const no = (status: number, error: Record<string, unknown>) => ({ status, body: { error } })
export const intent = (more: Record<string, unknown>) => ({
  id: 'pi_1',
  status: 'succeeded',
  amount_received: 1_250,
  currency: 'usd',
  latest_charge: { id: 'ch_1', amount_refunded: 0 },
  ...more,
})
