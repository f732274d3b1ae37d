// Stripe for tests: a charge, its names afterwards, and a refund of a part.

import type {
  GatewayCharge,
  GatewayRefund,
} from '../../../../../worker/payments/gateways/gateway.ts'

export const charge: GatewayCharge = {
  gateway: 'stripe',
  reference: 'order-7',
  externalReferenceId: 'ext-7',
  earlier: 'none',
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
export const refund: GatewayRefund = {
  ...names,
  earlier: 'none',
  refundId: '01REFUND',
  refundAmount: 400,
  reason: 'One was broken',
}
