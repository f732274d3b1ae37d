// Stripe as the contract of drivers needs it: how it writes a payment, answers, and calls back.

import Stripe from 'stripe'
import type {
  GatewayFixtures,
  HeldPayment,
} from '../../../../../libraries/testing/gateway-fixtures.ts'
import { json } from '../../../../../libraries/testing/gateway-setup.ts'
import { stripe } from '../../../../../worker/payments/gateways/stripe/stripe.ts'
import { webhookRequest } from '../../../../support/payments.ts'
import { charge, refund as part } from './stripe-setup.ts'

const SESSIONS = '/v1/checkout/sessions'
const settings = {
  base_url: 'https://api.stripe.test',
  secret_key: 'sk_test_the-key',
  webhook_secret: 'whsec_the-new-one whsec_the-old-one',
}

/** As Stripe writes it. A `state` here is the session's status, and that of its payment. */
function session({ id, reference, externalReferenceId, state, amount, currency }: HeldPayment) {
  const [status, payment_status = status, intent] = state.split(' ')
  const isExpanded = intent !== undefined
  return {
    id,
    object: 'checkout.session',
    url: `https://checkout.stripe.test/${id}`,
    status,
    payment_status,
    amount_total: amount,
    currency: currency.toLowerCase(),
    metadata: { external_reference_id: externalReferenceId, reference },
    customer_details: { email: 'sara@example.org' },
    payment_intent: isExpanded
      ? { id: 'pi_1', amount_received: 0, currency: currency.toLowerCase(), status: intent }
      : 'pi_1',
  }
}
const refundsOf = ({ refunded }: HeldPayment) =>
  refunded === 0 ? [] : [{ id: 're_1', amount: refunded, status: 'succeeded' }]

const healthy = ({ method, url, headers }: Request, held: HeldPayment) => {
  if (headers.get('authorization') !== `Bearer ${settings.secret_key}`) {
    return json({ error: { type: 'invalid_request_error', message: 'Invalid API key' } }, 401)
  }
  const path = `${method} ${new URL(url).pathname}`
  if (path === 'GET /v1/refunds') return json({ data: refundsOf(held), has_more: false })
  if (path === 'POST /v1/refunds') return json({ id: 're_1', status: 'succeeded' })
  return path.includes(SESSIONS) ? json(session(held)) : json({ error: { type: 'unknown' } }, 404)
}

const TYPES = new Map([
  ['complete unpaid requires_payment_method', 'checkout.session.async_payment_failed'],
  ['expired unpaid', 'checkout.session.expired'],
])

function eventOf(held: HeldPayment, id: string) {
  if (held.refunded === 0) {
    const type = TYPES.get(held.state) ?? 'checkout.session.completed'
    return { id, type, data: { object: session(held) } }
  }
  const { amount_total: amount, currency, metadata } = session(held)
  const object = { id: 'ch_1', payment_intent: 'pi_1', amount, currency, metadata }
  return { id, type: 'charge.refunded', data: { object } }
}

const own: HeldPayment = {
  id: 'cs_test_1',
  reference: 'order-7',
  externalReferenceId: 'ext-7',
  state: 'complete paid',
  amount: 1_250,
  currency: 'USD',
  decimals: 2,
  refunded: 0,
}
const event = (id: string) => JSON.stringify(eventOf(own, id))

const sign = (payload: string, secret = 'whsec_the-new-one', timestamp = 1_700_000_000) =>
  Stripe.webhooks.generateTestHeaderString({ payload, secret, timestamp })

const received = (body: string, signature = sign(body)) =>
  webhookRequest(body, 1_700_000_005_000, { 'stripe-signature': signature })

export const fixtures: GatewayFixtures = {
  driver: stripe,
  settings,
  charge,
  refund: { ...part, refundAmount: 1_250 },
  healthy,
  isMoney: ({ method, path }) =>
    [`POST ${SESSIONS}`, 'POST /v1/refunds'].includes(`${method} ${path}`),
  ids: ['cs_test_1', 'cs_test_2'],
  states: {
    Pending: 'open unpaid',
    Paid: 'complete paid',
    Failed: 'complete unpaid requires_payment_method',
    Expired: 'expired unpaid',
    PartiallyRefunded: 'complete paid',
    Refunded: 'complete paid',
  },
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
  async callback(held, { id, at, edit }) {
    const raw = edit(eventOf(held, id))
    const body = JSON.stringify(raw)
    // In a rotation a later delivery may be signed with the old secret.
    const secret = at > 1_700_000_000_000 ? 'whsec_the-old-one' : 'whsec_the-new-one'
    return { request: received(body, sign(body, secret, at / 1_000)), raw }
  },
  hidden: ['sara@example.org'],
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
}
