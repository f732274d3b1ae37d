// Stripe as the contract of drivers needs it: its simulation, and how it refuses.

import Stripe from 'stripe'
import type { GatewayFixtures } from '../../../../../libraries/testing/gateway-fixtures.ts'
import { json } from '../../../../../libraries/testing/gateway-setup.ts'
import { stripe } from '../../../../../worker/payments/gateways/stripe/stripe.ts'
import { webhookRequest } from '../../../../support/payments.ts'
import { simulated } from '../../../../support/simulated-gateway.ts'
import { charge, refund as part } from './stripe-setup.ts'

const SESSIONS = '/v1/checkout/sessions'
const settings = {
  base_url: 'https://api.stripe.test',
  secret_key: 'sk_test_the-key',
  webhook_secret: 'whsec_the-new-one whsec_the-old-one',
}

const sign = (payload: string, secret = 'whsec_the-new-one', timestamp = 1_700_000_000) =>
  Stripe.webhooks.generateTestHeaderString({ payload, secret, timestamp })

const received = (body: string, signature = sign(body)) =>
  webhookRequest(body, 1_700_000_005_000, { 'stripe-signature': signature })

export const fixtures: GatewayFixtures = {
  ...simulated('stripe', { driver: stripe, settings, charge }),
  refund: { ...part, refundAmount: 1_250 },
  isMoney: ({ method, path }) =>
    [`POST ${SESSIONS}`, 'POST /v1/refunds'].includes(`${method} ${path}`),
  ids: ['cs_test_1', 'cs_test_2'],
  sent: ({ reference, amount, currency }) => ({
    client_reference_id: reference,
    'line_items[0][price_data][unit_amount]': String(amount),
    'line_items[0][price_data][currency]': currency.toLowerCase(),
  }),
  sentRefund: ({ refundAmount }) => ({ amount: String(refundAmount) }),
  refuses: () => json({ error: { type: 'invalid_request_error', code: 'amount_too_small' } }, 400),
  refunds: {
    done: () => json({ id: 're_1', status: 'succeeded' }),
    accepted: () => json({ id: 're_1', status: 'pending' }),
  },
  repeatsFirstAnswer: true,
  signs: 'body',
  hidden: ['Sara Ahmed', 'sara@example.com'],
  async forged({ body }) {
    const good = sign(body)
    return {
      'no signature': { ...received(body), headers: new Headers() },
      'an empty signature': received(body, ''),
      'garbage for a signature': received(body, 'garbage'),
      'a signature that is cut off': received(body, good.slice(0, -4)),
      'another event’s signature': received(body, sign(body.replace('event-1', 'event-2'))),
      'another secret': received(body, sign(body, 'whsec_another')),
      'both secrets in one': received(body, sign(body, settings.webhook_secret)),
      'the API key as secret': received(body, sign(body, settings.secret_key)),
      'another body': received(body.replace('1250', '1'), good),
      'another time': received(body, good.replace('t=1700000000', 't=1700000001')),
    }
  },
}
