// An order as a driver gets it: its charge, what its payment is called afterwards, and a refund.

import type { GatewayCharge, GatewayRefund } from '../../../../worker/payments/gateways/gateway.ts'

export function sampleOrder(
  gatewayTransactionId: string,
  own: Pick<GatewayCharge, 'gateway' | 'amount' | 'currency'> & Partial<GatewayCharge>,
) {
  const charge: GatewayCharge = {
    reference: 'order-7',
    externalReferenceId: '6f1c1a5e-0000-5000-8000-000000000007',
    earlier: 'none',
    description: 'Two lamps',
    returnUrl: 'https://shop.test/back',
    callbackUrl: `https://pay.test/payments/webhooks/${own.gateway}`,
    now: 1_700_000_000_000,
    ...own,
  }
  const { externalReferenceId, reference, amount, currency } = charge
  const names = { gatewayTransactionId, externalReferenceId, reference, amount, currency }
  const refund: GatewayRefund = {
    ...names,
    refundId: '01REFUND',
    earlier: 'none',
    refundAmount: amount,
    reason: 'Broken',
  }
  return { charge, names, refund }
}
