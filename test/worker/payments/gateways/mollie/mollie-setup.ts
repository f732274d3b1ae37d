// Mollie for tests: a charge, its refund, and the payments and webhooks that Mollie sends.

import type {
  GatewayCharge,
  GatewayRefund,
  WebhookRequest,
} from '../../../../../worker/payments/gateways/gateway.ts'
import { mollie } from '../../../../../worker/payments/gateways/mollie/mollie.ts'
import { webhookBody } from '../../../../support/webhook-body.ts'

export const ID = 'tr_5B8cwPMGnU6qLbRvo7qEZo'
export const SETTINGS = {
  base_url: 'https://api.mollie.test',
  api_key: 'test_dHar4XY7LxsDOtmnkVtjNVWXLSlXsM',
}
export const gateway = mollie.create('shop', SETTINGS)

export const charge: GatewayCharge = {
  gateway: 'shop',
  reference: 'order-7',
  externalReferenceId: '6f1c1a5e-0000-5000-8000-000000000007',
  earlier: 'none',
  amount: 1_250,
  currency: 'EUR',
  description: 'Two lamps',
  returnUrl: 'https://shop.test/back',
  callbackUrl: 'https://pay.test/payments/webhooks/shop',
  now: 1_700_000_000_000,
}
export const names = {
  gatewayTransactionId: ID,
  externalReferenceId: charge.externalReferenceId,
  reference: charge.reference,
  amount: charge.amount,
  currency: charge.currency,
}
export const refund: GatewayRefund = {
  ...names,
  ...{ refundId: '01REFUND', earlier: 'none', refundAmount: 1_250, reason: 'Broken' },
}

export const eur = (value: string, currency = 'EUR') => ({ value, currency })

/** As Mollie shows it. */
export const payment = (status: string, more: Record<string, unknown> = {}) => ({
  resource: 'payment',
  id: ID,
  mode: 'test',
  amount: eur('12.50'),
  status,
  isCancelable: status === 'open',
  metadata: { external_reference_id: charge.externalReferenceId, reference: 'order-7' },
  profileId: 'pfl_QkEhN94Ba',
  ...more,
})
export const read = (status: string, more: Record<string, unknown> = {}) => ({
  status: 200,
  body: payment(status, more),
})

export const webhook = (body: string, query = ''): WebhookRequest => ({
  headers: new Headers({ 'content-type': 'application/x-www-form-urlencoded' }),
  query: new URLSearchParams(query),
  ...webhookBody(body),
  receivedAt: 1_700_000_123_000,
})
