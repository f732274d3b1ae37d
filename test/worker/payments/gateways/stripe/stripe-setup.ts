// Stripe for tests: a charge, its names afterwards, and a refund of a part.

import type { GatewayRefund } from '../../../../../worker/payments/gateways/gateway.ts'
import { sampleOrder } from '../sample-order.ts'

const order = sampleOrder('cs_test_1', {
  gateway: 'stripe',
  externalReferenceId: 'ext-7',
  amount: 1_250,
  currency: 'USD',
})
export const { charge, names } = order
export const refund: GatewayRefund = {
  ...order.refund,
  refundAmount: 400,
  reason: 'One was broken',
}
