// Genuine events of Stripe that name a payment without containing it: what they ask of Stripe, and
// how they are answered when Stripe does not tell.

import Stripe from 'stripe'
import { describe, expect, it } from 'vitest'
import {
  type Answer,
  json,
  noConnection,
  page,
} from '../../../../libraries/testing/gateway-setup.ts'
import { stripe } from '../../../../worker/payments/gateways/stripe/stripe.ts'
import { webhookRequest } from '../../../support/payments.ts'
import { setUpPayments } from '../../../support/payments-setup.ts'

const SECRET = 'whsec_of-the-shop'
const driver = stripe.create('bank', {
  base_url: 'https://stripe.test',
  secret_key: 'rk_test_1',
  webhook_secret: SECRET,
})
const refused = (status: number) => () =>
  json({ error: { type: 'invalid_request_error', code: 'x', message: 'No.' } }, status)

/** Reads are answered by `answer`. */
function setUp(answer: Answer) {
  const setup = setUpPayments({
    gateway: driver,
    fetch: async (input, init) => await answer(new Request(input, init)),
  })
  const { payments, clock } = setup
  const receive = async (event: object) => {
    const payload = JSON.stringify(event)
    const timestamp = Math.floor(clock.now() / 1_000)
    const signature = Stripe.webhooks.generateTestHeaderString({
      payload,
      secret: SECRET,
      timestamp,
    })
    const request = webhookRequest(payload, clock.now(), { 'stripe-signature': signature })
    const answering = payments.receive('bank', request, 'webhook-1')
    await clock.advance(3_000)
    const { status, body } = await answering
    return [status, body]
  }
  return { ...setup, receive }
}

const dispute = (nth = 1) => ({
  id: `evt_${nth}`,
  object: 'event',
  type: 'charge.dispute.created',
  data: {
    object: {
      id: `dp_${nth}`,
      amount: 1_250,
      currency: 'usd',
      status: 'needs_response',
      payment_intent: `pi_${nth}`,
    },
  },
})
const intentOf = ({ url }: Request) => {
  const id = url.split('/').at(-1) ?? ''
  const metadata = { external_reference_id: `ext-${id}`, reference: `order-${id}` }
  return json({ id, amount_received: 1_250, currency: 'usd', status: 'succeeded', metadata })
}

describe('an event of Stripe about a payment intent', () => {
  it('is taken thirty times at once: it shares no limit with callbacks of strangers', async () => {
    const { receive } = setUp(intentOf)
    const answers = await Promise.all(Array.from({ length: 30 }, (_, nth) => receive(dispute(nth))))
    expect(answers).toEqual(answers.map(() => [200, 'ok']))
  })

  it('is ignored if our key does not know the intent, however often it comes', async () => {
    const { receive, payments } = setUp(refused(404))
    expect(await receive(dispute())).toEqual([200, 'ignored'])
    expect(await receive(dispute())).toEqual([200, 'ignored'])
    expect(await payments.queries.alerts({}, { limit: 9 })).toEqual([])
  })

  it('is taken with one alert if our key may not read the intent', async () => {
    const { receive, payments } = setUp(refused(403))
    expect(await receive(dispute())).toEqual([200, 'ok'])
    expect(await receive(dispute())).toEqual([200, 'ok'])
    expect(await receive(dispute(2))).toEqual([200, 'ok'])
    const alerts = await payments.queries.alerts({}, { limit: 9 })
    expect(alerts.toSorted((a, b) => (a.id < b.id ? -1 : 1))).toMatchObject(
      ['pi_1', 'pi_2'].map((gatewayTransactionId) => ({
        kind: 'unreadable',
        gateway: 'bank',
        transactionId: '',
        detail: { gatewayTransactionId, error: expect.stringContaining('(403)') },
      })),
    )
    expect(await payments.ledger.acknowledge({ id: alerts[0]?.id ?? '', by: 'ada', now: 1 })).toBe(
      true,
    )
  })

  it.each<[string, Answer]>([
    ['401', refused(401)],
    ['400', refused(400)],
    ['500', refused(500)],
    ['a page', () => page('Sorry')],
    ['no connection', noConnection],
  ])('is asked for again if the read fails with %s', async (_, answer) => {
    const { receive, payments } = setUp(answer)
    expect(await receive(dispute())).toEqual([500, 'error'])
    expect(await payments.queries.alerts({}, { limit: 9 })).toEqual([])
  })
})

it.each([
  { object: 'v2.core.event', type: 'v1.charge.refunded', related_object: { id: 'ch_1' } },
  { object: 'v2.core.event', type: 'v2.core.account.updated', data: { object: {} } },
  { object: 'event', type: 'charge.refunded' },
  { object: 'v2.core.event', type: 'v1.billing.meter.no_meter_found', data: 'text' },
])('a thin event of Stripe is ignored, and nothing is read: %o', async (event) => {
  const { receive } = setUp(noConnection)
  expect(await receive({ id: 'evt_1', ...event })).toEqual([200, 'ignored'])
})
