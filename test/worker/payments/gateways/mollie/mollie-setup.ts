// Mollie for tests: a charge, its refund, and the payments and webhooks that Mollie sends.

import { mollie } from '../../../../../worker/payments/gateways/mollie/mollie.ts'
import { webhookRequest } from '../../../../support/payments.ts'
import { sampleOrder } from '../sample-order.ts'

export const ID = 'tr_5B8cwPMGnU6qLbRvo7qEZo'
export const SETTINGS = {
  base_url: 'https://api.mollie.test',
  api_key: 'test_dHar4XY7LxsDOtmnkVtjNVWXLSlXsM',
}
export const gateway = mollie.create('shop', SETTINGS)

export const { charge, names, refund } = sampleOrder(ID, {
  gateway: 'shop',
  amount: 1_250,
  currency: 'EUR',
})

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

const FORM = { 'content-type': 'application/x-www-form-urlencoded' }
export const webhook = (body: string, query = '') =>
  webhookRequest(body, 1_700_000_123_000, FORM, query)
