// The contract for Stripe, with signatures of its own package.

import Stripe from 'stripe'
import { stripe } from '../../../../../worker/payments/gateways/stripe/stripe.ts'
import { gatewayContract } from '../../../../contract/gateway.ts'
import { type Answer, json } from '../../../../support/gateway-bed.ts'

const SESSIONS = '/v1/checkout/sessions'
const settings = {
  base_url: 'https://api.stripe.test',
  secret_key: 'sk_test_the-key',
  webhook_secret: 'whsec_the-new-one whsec_the-old-one',
}
const charge = {
  gateway: 'shop',
  reference: 'order-7',
  externalReferenceId: 'ext-7',
  amount: 1_250,
  currency: 'USD',
  description: 'Two lamps',
  returnUrl: 'https://shop.test/back',
  callbackUrl: undefined,
  now: 1_700_000_000_000,
}
const session = {
  id: 'cs_test_1',
  object: 'checkout.session',
  url: 'https://checkout.stripe.test/cs_test_1',
  status: 'complete',
  payment_status: 'paid',
  amount_total: 1_250,
  currency: 'usd',
  metadata: { external_reference_id: 'ext-7', reference: 'order-7' },
  payment_intent: 'pi_1',
}

const healthy: Answer = ({ method, url, headers }) => {
  if (headers.get('authorization') !== `Bearer ${settings.secret_key}`) {
    return json({ error: { type: 'invalid_request_error', message: 'Invalid API key' } }, 401)
  }
  const path = `${method} ${new URL(url).pathname}`
  if (path === 'POST /v1/refunds') return json({ id: 're_1', status: 'succeeded' })
  return path.includes(SESSIONS) ? json(session) : json({ error: { type: 'unknown' } }, 404)
}

const event = (id: string) =>
  JSON.stringify({ id, type: 'checkout.session.completed', data: { object: session } })

const sign = (payload: string, secret = 'whsec_the-new-one', timestamp = 1_700_000_000) =>
  Stripe.webhooks.generateTestHeaderString({ payload, secret, timestamp })

const received = (body: string, signature = sign(body)) => ({
  headers: new Headers({ 'stripe-signature': signature }),
  query: new URLSearchParams(),
  body,
  receivedAt: 1_700_000_005_000,
})

gatewayContract('stripe', {
  driver: stripe,
  settings,
  charge,
  refund: {
    ...charge,
    gatewayTransactionId: 'cs_test_1',
    refundId: '01REFUND',
    refundAmount: 1_250,
    reason: 'Broken',
  },
  healthy,
  isMoney: ({ method, path }) =>
    [`POST ${SESSIONS}`, 'POST /v1/refunds'].includes(`${method} ${path}`),
  isSigned: true,
  async genuine() {
    const body = event('evt_1')
    return {
      first: received(body),
      raw: JSON.parse(body),
      // A later attempt with a new signature, by the old secret during a rotation.
      again: received(body, sign(body, 'whsec_the-old-one', 1_700_003_600)),
      other: received(event('evt_2')),
    }
  },
  async forged() {
    const body = event('evt_1')
    const good = sign(body)
    return {
      'no signature': { ...received(body), headers: new Headers() },
      'an empty signature': received(body, ''),
      'garbage for a signature': received(body, 'garbage'),
      'a signature that is cut off': received(body, good.slice(0, -4)),
      'another event’s signature': received(body, sign(event('evt_2'))),
      'another secret': received(body, sign(body, 'whsec_another')),
      'both secrets in one': received(body, sign(body, settings.webhook_secret)),
      'the API key as secret': received(body, sign(body, settings.secret_key)),
      'another body': received(body.replace('1250', '1'), good),
      'another time': received(body, good.replace('t=1700000000', 't=1700000001')),
    }
  },
})
