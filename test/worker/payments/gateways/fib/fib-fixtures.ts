// FIB as the contract of drivers needs it: how it writes a payment, answers, and calls back.

import type {
  GatewayFixtures,
  HeldPayment,
} from '../../../../../libraries/testing/gateway-fixtures.ts'
import { json } from '../../../../../libraries/testing/gateway-setup.ts'
import { fib } from '../../../../../worker/payments/gateways/fib/fib.ts'
import { webhookRequest } from '../../../../support/payments.ts'
import { charge, ID as ONE, refund, SETTINGS } from './fib-setup.ts'

const PAYMENTS = '/protected/v1/payments'
const TWO = 'd2ff6f9a-8c1a-4d5e-9a0c-6a2e8b1f0c22'
const KNOWN = [ONE, TWO]
const settings = { ...SETTINGS, base_url: 'https://bank.test/fib' }

/** As the bank writes it. A `state` here has the reason, too. */
function written({ id, state, amount, currency, decimals }: HeldPayment) {
  const [status, decliningReason = null] = state.split(' ')
  const monetary = { amount: amount / 10 ** decimals, currency }
  const paidBy = { name: 'Sara Ahmed', iban: 'IQ98FIQB004095000000000001' }
  return { paymentId: id, status, decliningReason, amount: monetary, paidBy }
}

const healthy = ({ method, url, headers }: Request, held: HeldPayment) => {
  const path = new URL(url).pathname.replace('/fib', '')
  if (path.endsWith('/openid-connect/token')) {
    return json({ access_token: 'an-access-token', expires_in: 60 })
  }
  if (headers.get('authorization') !== 'Bearer an-access-token') return json({}, 401)
  if (`${method} ${path}` === `POST ${PAYMENTS}`) return json({ paymentId: ONE }, 201)
  const [id = '', action] = path.slice(PAYMENTS.length + 1).split('/')
  if (!KNOWN.includes(id)) return json({ errors: [{ code: 'PAYMENT_NOT_FOUND' }] }, 404)
  if (action === 'cancel') return new Response(null, { status: 204 })
  return action === 'refund' ? new Response(null, { status: 202 }) : json(written(held))
}

const received = (body: string) =>
  webhookRequest(body, 1_700_000_123_000, { 'content-type': 'application/json' })
const callbackFor = (id: unknown, status = 'PAID') => received(JSON.stringify({ id, status }))

export const fixtures: GatewayFixtures = {
  driver: fib,
  settings,
  charge,
  refund,
  healthy,
  isMoney: ({ method, path }) =>
    method === 'POST' && (path.endsWith(PAYMENTS) || path.endsWith('/refund')),
  ids: [ONE, TWO],
  states: {
    Pending: 'UNPAID',
    Paid: 'PAID',
    Failed: 'DECLINED SERVER_FAILURE',
    Cancelled: 'DECLINED PAYMENT_CANCELLATION',
    Expired: 'DECLINED PAYMENT_EXPIRATION',
    Refunded: 'REFUNDED',
  },
  sent: ({ amount, currency, description }) => ({
    monetaryValue: { amount, currency },
    description,
  }),
  refuses: () => json({ errors: [{ code: 'INVALID_REQUEST', title: 'Too small' }] }, 400),
  refunds: { accepted: () => new Response(null, { status: 202 }) },
  signs: 'nothing',
  // The event has the bank's status, not that of the callback.
  callback: async (held) => ({ request: callbackFor(held.id), raw: written(held) }),
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
