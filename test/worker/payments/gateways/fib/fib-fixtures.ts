// FIB as the contract of drivers needs it: its simulation, and how it refuses.

import type { GatewayFixtures } from '../../../../../libraries/testing/gateway-fixtures.ts'
import { json } from '../../../../../libraries/testing/gateway-setup.ts'
import { fib } from '../../../../../worker/payments/gateways/fib/fib.ts'
import { webhookRequest } from '../../../../support/payments.ts'
import { simulated } from '../../../../support/simulated-gateway.ts'
import { charge, ID as ONE, refund, SETTINGS } from './fib-setup.ts'

const PAYMENTS = '/protected/v1/payments'
const TWO = 'd2ff6f9a-8c1a-4d5e-9a0c-6a2e8b1f0c22'
const settings = { ...SETTINGS, base_url: 'https://bank.test/fib' }

const received = (body: string) =>
  webhookRequest(body, 1_700_000_123_000, { 'content-type': 'application/json' })
const callbackFor = (id: unknown, status = 'PAID') => received(JSON.stringify({ id, status }))

export const fixtures: GatewayFixtures = {
  ...simulated('fib', { driver: fib, settings, charge }),
  refund,
  isMoney: ({ method, path }) =>
    method === 'POST' && (path.endsWith(PAYMENTS) || path.endsWith('/refund')),
  ids: [ONE, TWO],
  sent: ({ amount, currency, description }) => ({
    monetaryValue: { amount, currency },
    description,
  }),
  refuses: () => json({ errors: [{ code: 'INVALID_REQUEST', title: 'Too small' }] }, 400),
  refunds: { accepted: () => new Response(null, { status: 202 }) },
  signs: 'nothing',
  // The bank's status counts, and not that of the callback.
  callback: async ({ id }) => ({ request: callbackFor(id) }),
  hidden: ['Sara Ahmed', 'IQ98FIQB004095000000000001'],
  forged: async () => ({
    'no body': received(''),
    'no JSON': received('PAID'),
    'no id': received('{"status":"PAID"}'),
    'a list': received(JSON.stringify([{ id: ONE, status: 'PAID' }])),
    'an id that the bank does not know': callbackFor('00000000-0000-4000-8000-000000000000'),
    'an id of another kind': callbackFor({ id: ONE }),
    'an id that is a path': callbackFor(`${ONE}/../${TWO}`),
    'an id with a query': callbackFor(`${ONE}?x=`),
    'an id that is percent-encoded': callbackFor('%2e%2e%2fadmin'),
    'an id that is too long': callbackFor(ONE.repeat(2)),
  }),
}
