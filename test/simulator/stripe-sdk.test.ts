// Stripe's own package, unchanged, against the simulator: it shows that requests, answers, errors
// and events have Stripe's form.

import Stripe from 'stripe'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { IdempotencyKeys } from '../../simulator/idempotency-keys.ts'
import { refuseKey } from '../../simulator/stripe-http.ts'
import { type SimulatorSetup, STRIPE, setUpSimulator } from '../support/simulator.ts'

let setup: SimulatorSetup
let theirs: Stripe
beforeAll(async () => {
  setup = await setUpSimulator()
  theirs = clientWith(STRIPE.secretKey)
})
afterAll(() => setup[Symbol.asyncDispose]())
afterEach(() => {
  setup.faults({})
  setup.merchant.bodies.length = 0
  setup.merchant.headers.length = 0
})

const clientWith = (key: string) => {
  const { hostname: host, port } = new URL(setup.url)
  return new Stripe(key, { host, port, protocol: 'http', maxNetworkRetries: 0, telemetry: false })
}

const METADATA = { external_reference_id: 'ext-1', reference: 'order-1' }
const SESSION = {
  mode: 'payment',
  client_reference_id: 'order-1',
  success_url: 'https://shop.example/thanks?session={CHECKOUT_SESSION_ID}',
  cancel_url: 'https://shop.example/cart',
  line_items: [
    {
      quantity: 1,
      price_data: { currency: 'usd', unit_amount: 1_250, product_data: { name: 'Two lamps' } },
    },
  ],
  metadata: METADATA,
  payment_intent_data: { metadata: METADATA },
} as const satisfies Stripe.Checkout.SessionCreateParams

const created = (idempotencyKey?: string) =>
  theirs.checkout.sessions.create({ ...SESSION }, idempotencyKey ? { idempotencyKey } : {})
const paid = async () => {
  const { id } = await created()
  await setup.act(id, 'pay')
  return theirs.checkout.sessions.retrieve(id)
}
const press = (session: Stripe.Checkout.Session, action: string) =>
  setup.call(new URL(session.url ?? '').pathname, {
    method: 'POST',
    body: new URLSearchParams({ action }),
  })
/** Verified by Stripe's package; throws if the signature is wrong. */
const event = (at = 0): Stripe.Event =>
  Stripe.webhooks.constructEvent(
    setup.merchant.bodies[at] ?? '',
    setup.merchant.headers[at]?.['stripe-signature'] ?? '',
    STRIPE.webhookSecret,
  )
const error = (asked: Promise<unknown>): Promise<Stripe.errors.StripeError> =>
  asked.then(
    () => expect.fail('It was not refused.'),
    (reason: Stripe.errors.StripeError) => reason,
  )

describe('Stripe’s own client', () => {
  it('makes a session, and finds it as open and unpaid', async () => {
    const session = await created()
    expect(session).toMatchObject({
      object: 'checkout.session',
      amount_total: 1_250,
      currency: 'usd',
      status: 'open',
      payment_status: 'unpaid',
      payment_intent: null,
      client_reference_id: 'order-1',
      metadata: METADATA,
      url: expect.stringContaining(`${setup.url}/pay/cs_test_`),
    })
    expect(session.lastResponse.requestId).toMatch(/^req_/)
    expect(await theirs.checkout.sessions.retrieve(session.id)).toMatchObject({ id: session.id })
    const { data } = await theirs.checkout.sessions.list({ limit: 1 })
    expect(data).toMatchObject([{ id: session.id }])
  })

  it('reads a paid session with its charge, and the event of it', async () => {
    const { id } = await paid()
    const session = await theirs.checkout.sessions.retrieve(id, {
      expand: ['payment_intent.latest_charge'],
    })
    expect(session).toMatchObject({
      status: 'complete',
      payment_status: 'paid',
      url: null,
      payment_intent: {
        status: 'succeeded',
        amount_received: 1_250,
        metadata: METADATA,
        latest_charge: { amount: 1_250, amount_refunded: 0, refunded: false, metadata: METADATA },
      },
    })
    expect(event()).toMatchObject({
      object: 'event',
      type: 'checkout.session.completed',
      livemode: false,
      data: { object: { id, payment_status: 'paid', amount_total: 1_250 } },
    })
  })

  it('refunds a part and then the rest, with the sum in each event', async () => {
    const { payment_intent } = await paid()
    const intent = String(payment_intent)
    const part = await theirs.refunds.create({ payment_intent: intent, amount: 400 })
    expect(part).toMatchObject({ status: 'succeeded', amount: 400, payment_intent: intent })
    const { latest_charge } = await theirs.paymentIntents.retrieve(intent, {
      expand: ['latest_charge'],
    })
    expect(latest_charge).toMatchObject({ amount_refunded: 400, refunded: false })
    expect(
      await error(theirs.refunds.create({ payment_intent: intent, amount: 851 })),
    ).toMatchObject({ type: 'StripeInvalidRequestError', statusCode: 400, param: 'amount' })
    expect(await theirs.refunds.create({ payment_intent: intent })).toMatchObject({ amount: 850 })
    await setup.merchant.got(3)
    expect([event(1), event(2)]).toMatchObject([
      { type: 'charge.refunded', data: { object: { amount_refunded: 400, refunded: false } } },
      { type: 'charge.refunded', data: { object: { amount_refunded: 1_250, refunded: true } } },
    ])
    expect(await error(theirs.refunds.create({ payment_intent: intent }))).toMatchObject({
      code: 'charge_already_refunded',
    })
  })

  it('gets an event when a refund fails later, and can refund the amount again', async () => {
    setup.faults({ all: { refundFails: true } })
    const { payment_intent } = await paid()
    const made = await theirs.refunds.create({ payment_intent: String(payment_intent) })
    await setup.merchant.got(3)
    expect(event(2)).toMatchObject({
      type: 'refund.failed',
      data: { object: { id: made.id, status: 'failed', failure_reason: expect.any(String) } },
    })
    setup.faults({})
    const again = await theirs.refunds.create({ payment_intent: String(payment_intent) })
    expect(again).toMatchObject({ status: 'succeeded', amount: 1_250 })
    await setup.merchant.got(4)
  })

  it('gets the events of refunds that its own staff made, and that end in their own way', async () => {
    const { id, payment_intent } = await paid()
    const refund = (asked: object) =>
      setup.call(`/_control/payments/${id}/refunds`, {
        method: 'POST',
        body: JSON.stringify(asked),
      })
    const ids = async () => {
      const { data } = await theirs.refunds.list({ payment_intent: String(payment_intent) })
      return data.map(({ id: refundId, amount, status }) => ({ refundId, amount, status }))
    }
    expect((await refund({ amount: 1_000, status: 'pending' })).status).toBe(200)
    const [waiting] = await ids()
    expect(waiting).toMatchObject({ amount: 1_000, status: 'pending' })
    expect((await refund({ refundId: waiting?.refundId, status: 'canceled' })).status).toBe(200)
    expect((await refund({})).status).toBe(200)
    expect(await ids()).toMatchObject([
      { amount: 1_250, status: 'succeeded' },
      { amount: 1_000, status: 'canceled' },
    ])
    await setup.merchant.got(4)
    const types = [1, 2, 3].map((at) => event(at).type)
    expect(types.toSorted((a, b) => a.localeCompare(b))).toEqual([
      'charge.refunded',
      'charge.refunded',
      'refund.updated',
    ])
    const refused = [await refund({ amount: 1 }), await refund({ refundId: 're_none' })]
    expect(refused.map(({ status }) => status)).toEqual([409, 404])
    expect((await refund({ status: 'lost' })).status).toBe(400)
  })

  it('expires an open session once', async () => {
    const { id } = await created()
    expect(await theirs.checkout.sessions.expire(id)).toMatchObject({
      status: 'expired',
      url: null,
    })
    await setup.merchant.got(1)
    expect(event().type).toBe('checkout.session.expired')
    expect(await error(theirs.checkout.sessions.expire(id))).toMatchObject({ statusCode: 400 })
  })

  it('gets the first answer for a repeated key, and an error for other parameters', async () => {
    const first = await created('key-1')
    const again = await created('key-1')
    expect(again.id).toBe(first.id)
    expect(again.lastResponse.headers['idempotent-replayed']).toBe('true')
    const other = theirs.checkout.sessions.create(
      { ...SESSION, client_reference_id: 'order-2' },
      { idempotencyKey: 'key-1' },
    )
    expect(await error(other)).toMatchObject({ type: 'StripeIdempotencyError', statusCode: 400 })
    const { payment_intent } = await paid()
    const refund = () =>
      theirs.refunds.create(
        { payment_intent: String(payment_intent), amount: 5 },
        { idempotencyKey: 'refund-1' },
      )
    expect((await refund()).id).toBe((await refund()).id)
    await setup.merchant.got(2)
  })

  it('gets 409 for a key whose first request still runs', async () => {
    const keys = new IdempotencyKeys(refuseKey)
    const { promise, resolve } = Promise.withResolvers<Response>()
    const first = keys.once('key', 'request', () => promise)
    const second = await keys.once('key', 'request', () => expect.fail('It ran twice.'))
    expect(second.status).toBe(409)
    expect(await second.json()).toMatchObject({ error: { code: 'idempotency_key_in_use' } })
    resolve(new Response('done'))
    expect(await (await first).text()).toBe('done')
  })

  it('is refused with errors of Stripe', async () => {
    expect(await error(clientWith('sk_test_other').refunds.list())).toMatchObject({
      type: 'StripeAuthenticationError',
      statusCode: 401,
    })
    const unknown = await error(theirs.checkout.sessions.retrieve('cs_test_none'))
    expect(unknown).toMatchObject({ statusCode: 404, code: 'resource_missing' })
    const { success_url: _, ...missing } = SESSION
    expect(await error(theirs.checkout.sessions.create(missing))).toMatchObject({
      type: 'StripeInvalidRequestError',
      code: 'parameter_missing',
      param: 'success_url',
    })
    const [{ price_data }] = SESSION.line_items
    const dinars = [{ quantity: 1, price_data: { ...price_data, currency: 'iqd' } }]
    expect(
      await error(theirs.checkout.sessions.create({ ...SESSION, line_items: dinars })),
    ).toMatchObject({ param: 'line_items[0][price_data][currency]' })
    const { id } = await created()
    const unpaid = theirs.refunds.create({ payment_intent: id.replace('cs_test', 'pi') })
    expect(await error(unpaid)).toMatchObject({ statusCode: 400 })
  })
})

describe('the page of Stripe', () => {
  it('shows the amount in whole units, and leads a payer to the success URL', async () => {
    const session = await created()
    const page = await (await setup.call(new URL(session.url ?? '').pathname)).text()
    for (const shown of ['12.50 USD', 'order-1', '>Stripe<']) expect(page).toContain(shown)
    const answer = await press(session, 'pay')
    expect(answer.headers.get('location')).toBe(`https://shop.example/thanks?session=${session.id}`)
    await setup.merchant.got(1)
  })

  it('stays open after a declined card and for a payer who goes back', async () => {
    const session = await created()
    expect(await (await press(session, 'fail')).text()).toContain('The card was declined.')
    const answer = await press(session, 'cancel')
    expect(answer.headers.get('location')).toBe('https://shop.example/cart')
    expect(await theirs.checkout.sessions.retrieve(session.id)).toMatchObject({ status: 'open' })
    expect(setup.merchant.bodies).toEqual([])
  })

  it('leads a payer whose session expires to the cancel URL', async () => {
    const answer = await press(await created(), 'expire')
    expect(answer.headers.get('location')).toBe('https://shop.example/cart')
    await setup.merchant.got(1)
    expect(event().type).toBe('checkout.session.expired')
  })

  it.each([
    ['pay', 'async_payment_succeeded', 'paid'],
    ['fail', 'async_payment_failed', 'unpaid'],
  ])(
    'takes a bank transfer, and later %s is the event %s',
    async (action, type, payment_status) => {
      const session = await created()
      await press(session, 'transfer')
      await setup.merchant.got(1)
      expect(event()).toMatchObject({
        type: 'checkout.session.completed',
        data: { object: { status: 'complete', payment_status: 'unpaid' } },
      })
      await press(session, action)
      await setup.merchant.got(2)
      expect(event(1)).toMatchObject({
        type: `checkout.session.${type}`,
        data: { object: { payment_status } },
      })
    },
  )
})

describe('an event of Stripe', () => {
  const under = async (faults: Record<string, unknown>) => {
    setup.faults({ all: faults })
    const { id } = await created()
    await setup.act(id, 'pay')
  }
  const types = () => setup.merchant.bodies.map((_, at) => event(at).type)

  it('has another signature at each attempt, with the same id', async () => {
    setup.merchant.answers = [500]
    await under({})
    expect(setup.merchant.bodies).toHaveLength(2)
    expect(event(0).id).toBe(event(1).id)
  })

  it.each([
    ['changed after it was signed', { tampered: true }],
    ['signed with v0 only', { algNone: true }],
    ['older than the tolerance', { ageMs: 3_600_000 }],
  ])('can be %s, and is refused by Stripe’s package', async (_, faults) => {
    await under(faults)
    expect(() => event()).toThrow(Stripe.errors.StripeSignatureVerificationError)
  })

  it('can come several times, out of order, or with another amount', async () => {
    await under({ copies: 3, outOfOrder: true, amount: 7 })
    expect(types()).toEqual(Array.from({ length: 4 }, () => 'checkout.session.completed'))
    expect(new Set(setup.merchant.bodies.map((_, at) => event(at).id)).size).toBe(2)
    const statuses = setup.merchant.bodies.map(
      (_, at) => (event(at).data.object as Stripe.Checkout.Session).payment_status,
    )
    expect(statuses).toEqual(['paid', 'paid', 'paid', 'unpaid'])
    expect(event()).toMatchObject({ data: { object: { amount_total: 7 } } })
  })
})
