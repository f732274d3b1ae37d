// FIB for tests: its settings, a charge, and the bank's responses.

import { fib } from '../../../../../worker/payments/gateways/fib/fib.ts'
import { webhookRequest } from '../../../../support/payments.ts'
import { sampleOrder } from '../sample-order.ts'

export const BASE = 'https://fib.prod.fib.iq'
export const ID = 'd2ff6f9a-8c1a-4d5e-9a0c-6a2e8b1f0c11'
export const SETTINGS = {
  base_url: BASE,
  client_id: 'shop',
  client_secret: 'shop-secret',
  expires_in: 'PT1H',
  refundable_for: 'P7D',
}
export const bank = fib.create('fib', SETTINGS)

export const { charge, names, refund } = sampleOrder(ID, {
  gateway: 'fib',
  amount: 25_000,
  currency: 'IQD',
})
export const created = {
  paymentId: ID,
  readableCode: 'AB12-CD34',
  qrCode: 'data:image/png;base64,AAAA',
  validUntil: '2026-03-01T12:00:00.000Z',
  personalAppLink: 'https://personal.test/d2ff',
  businessAppLink: 'https://business.test/d2ff',
  corporateAppLink: 'https://corporate.test/d2ff',
}

export const stored = (status: string, more: Record<string, unknown> = {}) => ({
  status: 200,
  body: { paymentId: ID, status, amount: { amount: 25_000, currency: 'IQD' }, ...more },
})
export const callback = (body: string) => webhookRequest(body, 1_700_000_123_000)
export const callbackOf = (id: unknown, status = 'PAID') => callback(JSON.stringify({ id, status }))
