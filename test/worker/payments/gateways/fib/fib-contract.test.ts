// The contract for FIB. Its callbacks are unsigned, so a forged one has an unknown payment id.

import { fib } from '../../../../../worker/payments/gateways/fib/fib.ts'
import { gatewayContract } from '../../../../contract/gateway.ts'
import { type Answer, json } from '../../../../support/gateway-bed.ts'

const PAYMENTS = '/protected/v1/payments'
const KNOWN = ['d2ff6f9a-8c1a-4d5e-9a0c-6a2e8b1f0c11', 'd2ff6f9a-8c1a-4d5e-9a0c-6a2e8b1f0c22']
const [ONE = '', TWO = ''] = KNOWN
const settings = {
  base_url: 'https://bank.test/fib',
  client_id: 'shop-client',
  client_secret: 'the-clients-secret',
  expires_in: 'PT1H',
  refundable_for: 'P7D',
}
const charge = {
  gateway: 'shop',
  reference: 'order-7',
  externalReferenceId: 'ext-7',
  amount: 25_000,
  currency: 'IQD',
  description: 'Two lamps',
  callbackUrl: 'https://pay.test/payments/webhooks/shop',
  now: 1_700_000_000_000,
}

const healthy: Answer = ({ method, url, headers }) => {
  const path = new URL(url).pathname.replace('/fib', '')
  if (path.endsWith('/openid-connect/token')) {
    return json({ access_token: 'an-access-token', expires_in: 60 })
  }
  if (headers.get('authorization') !== 'Bearer an-access-token') return json({}, 401)
  if (`${method} ${path}` === `POST ${PAYMENTS}`) return json({ paymentId: ONE }, 201)
  const [id = '', action] = path.slice(PAYMENTS.length + 1).split('/')
  if (!KNOWN.includes(id)) return json({ errors: [{ code: 'PAYMENT_NOT_FOUND' }] }, 404)
  if (action === 'refund') return new Response(null, { status: 202 })
  const amount = { amount: 25_000, currency: 'IQD' }
  return json({ paymentId: id, status: 'PAID', amount })
}

const received = (body: string) => ({
  headers: new Headers({ 'content-type': 'application/json' }),
  query: new URLSearchParams(),
  body,
  receivedAt: 1_700_000_123_000,
})
const told = (id: unknown, status = 'PAID') => received(JSON.stringify({ id, status }))

gatewayContract('fib', {
  driver: fib,
  settings,
  charge,
  refund: {
    ...charge,
    gatewayTransactionId: ONE,
    refundId: '01REFUND',
    refundAmount: 25_000,
    reason: 'Broken',
  },
  healthy,
  isMoney: ({ method, path }) =>
    method === 'POST' && (path.endsWith(PAYMENTS) || path.endsWith('/refund')),
  isSigned: false,
  // The event has the bank's status, not that of the callback.
  genuine: async () => ({
    first: told(ONE),
    raw: { paymentId: ONE, status: 'PAID', amount: { amount: 25_000, currency: 'IQD' } },
    again: told(ONE, 'UNPAID'),
    other: told(TWO),
  }),
  forged: async () => ({
    'no body': received(''),
    'no JSON': received('PAID'),
    'no id': received('{"status":"PAID"}'),
    'a list': received(JSON.stringify([{ id: ONE, status: 'PAID' }])),
    'an id that the bank does not know': told('00000000-0000-4000-8000-000000000000'),
    'an id of another kind': told({ id: ONE }),
    'an id that is a path': told(`${ONE}/../${TWO}`),
    'an id with a query': told(`${ONE}?x=`),
    'an id that is percent-encoded': told('%2e%2e%2fadmin'),
    'an id that is too long': told(ONE.repeat(2)),
  }),
})
