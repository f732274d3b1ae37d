// Stripe's own package signs everything here, not our code.

import { createHmac } from 'node:crypto'
import Stripe from 'stripe'
import { describe, expect, it } from 'vitest'
import {
  GatewayUnavailableException,
  InvalidWebhookSignatureException,
} from '../../../../../worker/payments/domain/exceptions.ts'
import { stripe } from '../../../../../worker/payments/gateways/stripe/stripe.ts'
import { asked, FakeGatewayCall } from '../../../../support/fake-gateway-call.ts'
import { webhookRequest } from '../../../../support/payments.ts'

const { webhooks } = Stripe
const NEW = 'whsec_the-new-one'
const OLD = 'whsec_the-old-one'
const NOW_S = 1_700_000_000
const NAMES = { external_reference_id: 'ext-7', reference: 'order-7' }

const gatewayOf = (webhook_secret: string) =>
  stripe.create('stripe', {
    base_url: 'https://api.stripe.com',
    secret_key: 'sk_test_1',
    webhook_secret,
  })
const gateway = gatewayOf(NEW)

const sign = (payload: string, secret = NEW, timestamp = NOW_S): string =>
  webhooks.generateTestHeaderString({ payload, secret, timestamp })

const request = (body: string, signature: string | undefined) => {
  const headers = signature === undefined ? {} : { 'stripe-signature': signature }
  return webhookRequest(body, NOW_S * 1_000 + 5_000, headers)
}

const eventOf = (type: string, object: unknown) =>
  JSON.stringify({ id: 'evt_1', object: 'event', type, data: { object } }, undefined, 2)

const session = {
  id: 'cs_test_1',
  object: 'checkout.session',
  status: 'complete',
  payment_status: 'paid',
  amount_total: 1_250,
  currency: 'usd',
  client_reference_id: 'order-7',
  metadata: NAMES,
  payment_intent: 'pi_1',
}
const externalReferenceId = 'ext-7'
const charge = {
  id: 'ch_1',
  object: 'charge',
  amount: 1_250,
  amount_refunded: 1_250,
  refunded: true,
  currency: 'usd',
  metadata: NAMES,
  payment_intent: 'pi_1',
}
const PAID = eventOf('checkout.session.completed', session)

/** The result of a signed event of this type. */
const receiveEvent = (type: string, object: unknown, call = new FakeGatewayCall()) => {
  const body = eventOf(type, object)
  return gateway.handleWebhook(request(body, sign(body)), call)
}

describe("Stripe's signature", () => {
  it.each([
    ['a byte order mark', [0xef, 0xbb, 0xbf]],
    ['bytes that are no UTF-8', [0x20, 0xff, 0xc3]],
  ])('is checked over the bytes of the body, with %s', async (name, own) => {
    const text = new TextEncoder().encode(PAID)
    const isMark = name === 'a byte order mark'
    // Where JSON allows none, such bytes are in a string.
    const [start, end] = isMark ? [0, 0] : [PAID.indexOf('order-7'), PAID.indexOf('order-7')]
    const bytes = Uint8Array.from([...text.slice(0, start), ...own, ...text.slice(end)])
    const signed = createHmac('sha256', NEW).update(`${NOW_S}.`).update(bytes).digest('hex')
    const genuine = {
      ...request('', `t=${NOW_S},v1=${signed}`),
      bytes,
      body: new TextDecoder().decode(bytes),
    }
    expect(await gateway.handleWebhook(genuine, new FakeGatewayCall())).toMatchObject({
      eventId: 'evt_1',
    })
    const other = { ...genuine, bytes: text }
    await expect(gateway.handleWebhook(other, new FakeGatewayCall())).rejects.toThrow(
      InvalidWebhookSignatureException,
    )
  })

  it('is valid for its body only', async () => {
    expect(await gateway.handleWebhook(request(PAID, sign(PAID)), new FakeGatewayCall())).toEqual({
      gateway: 'stripe',
      gatewayTransactionId: 'cs_test_1',
      reference: 'order-7',
      externalReferenceId: 'ext-7',
      status: 'Paid',
      amount: 1_250,
      currency: 'USD',
      eventId: 'evt_1',
      occurredAt: NOW_S * 1_000,
      raw: JSON.parse(PAID),
    })
  })

  it('is valid for each way in which Stripe computes it, and for non-ASCII text', async () => {
    const body = eventOf('checkout.session.completed', {
      ...session,
      metadata: { ...NAMES, reference: 'پسوولە-٧ 💡' },
    })
    const header = await webhooks.generateTestHeaderStringAsync({
      payload: body,
      secret: NEW,
      timestamp: NOW_S,
    })
    const payload = await gateway.handleWebhook(request(body, header), new FakeGatewayCall())
    expect(payload).toMatchObject({ reference: 'پسوولە-٧ 💡' })
  })

  it('has what was charged, where its payer chose another currency', async () => {
    const currency_conversion = { amount_total: 1_250, source_currency: 'usd', fx_rate: '0.92' }
    const converted = { ...session, amount_total: 1_150, currency: 'eur', currency_conversion }
    const body = eventOf('checkout.session.completed', converted)
    const payload = await gateway.handleWebhook(request(body, sign(body)), new FakeGatewayCall())
    expect(payload).toMatchObject({ status: 'Paid', amount: 1_250, currency: 'USD' })
  })

  it('may be one of several: with other schemes, other secrets, or spaces', async () => {
    const v1 = sign(PAID).split('v1=')[1]
    const other = sign(PAID, 'whsec_another').split('v1=')[1]
    for (const header of [
      `t=${NOW_S},v1=${other},v1=${v1}`,
      `t=${NOW_S},v1=${v1},v1=${other},v0=${other}`,
      `v0=${other}, v1=${v1}, t=${NOW_S}`,
      `t=${NOW_S},v1=nonsense,v1=${v1}`,
    ]) {
      const payload = await gateway.handleWebhook(request(PAID, header), new FakeGatewayCall())
      expect(payload).toMatchObject({ status: 'Paid' })
    }
  })

  it('is checked with both secrets during a rotation, and with no other', async () => {
    const rotating = gatewayOf(` ${NEW}  ${OLD} `)
    for (const secret of [NEW, OLD]) {
      const payload = rotating.handleWebhook(
        request(PAID, sign(PAID, secret)),
        new FakeGatewayCall(),
      )
      expect(await payload).toMatchObject({ status: 'Paid' })
    }
    const third = request(PAID, sign(PAID, 'whsec_a-third'))
    await expect(rotating.handleWebhook(third, new FakeGatewayCall())).rejects.toThrow(
      InvalidWebhookSignatureException,
    )
  })

  it('is valid for an old attempt too, with its time, so that it can be stale', async () => {
    const old = NOW_S - 86_400
    const payload = await gateway.handleWebhook(
      request(PAID, sign(PAID, NEW, old)),
      new FakeGatewayCall(),
    )
    expect(payload).toMatchObject({ occurredAt: old * 1_000 })
  })

  const good = sign(PAID)
  const v1 = good.split('v1=')[1] ?? ''
  it.each<[string, string, string | undefined]>([
    ['a missing header', PAID, undefined],
    ['an empty header', PAID, ''],
    ['garbage', PAID, 'garbage'],
    ['only commas', PAID, ',,,=,t=,v1='],
    ['no time', PAID, `v1=${v1}`],
    ['no v1', PAID, `t=${NOW_S},v0=${v1}`],
    ['a cut signature', PAID, good.slice(0, -2)],
    ['a signature that is too long', PAID, `${good}00`],
    ['a signature that is not hex', PAID, `t=${NOW_S},v1=${'z'.repeat(64)}`],
    ['another time', PAID, good.replace(`t=${NOW_S}`, `t=${NOW_S + 1}`)],
    ['a time that is not a number', PAID, good.replace(`t=${NOW_S}`, 't=NaN')],
    ['an earlier time put in front', PAID, `t=1,${good}`],
    ['a huge header', PAID, `${good},${'v1=00,'.repeat(5_000)}`],
    [
      'the valid one after too many others',
      PAID,
      `t=${NOW_S},${`v1=${'0'.repeat(64)},`.repeat(8)}v1=${v1}`,
    ],
    ['another amount in the body', PAID.replace('1250', '1251'), good],
    ['a body with other white space', JSON.stringify(JSON.parse(PAID)), good],
    ['a body with another line break', `${PAID}\n`, good],
    ['an empty body', '', good],
    ['a huge body', PAID + ' '.repeat(256 * 1_024), good],
    ['another secret', PAID, sign(PAID, OLD)],
    ['the API key as its secret', PAID, sign(PAID, 'sk_test_1')],
    ['an empty secret', PAID, webhooks.generateTestHeaderString({ payload: PAID, secret: ' ' })],
  ])('does not prove anything with %s', async (_, body, header) => {
    const call = new FakeGatewayCall()
    await expect(gateway.handleWebhook(request(body, header), call)).rejects.toThrow(
      InvalidWebhookSignatureException,
    )
    expect(call.requests).toEqual([])
  })

  it('is checked before anything is parsed', async () => {
    const body = '{"id": 1, broken'
    await expect(gateway.handleWebhook(request(body, good), new FakeGatewayCall())).rejects.toThrow(
      InvalidWebhookSignatureException,
    )
    // It is signed, so it is not forged: Stripe should send it again.
    await expect(
      gateway.handleWebhook(request(body, sign(body)), new FakeGatewayCall()),
    ).rejects.not.toThrow(InvalidWebhookSignatureException)
  })
})

describe("Stripe's events", () => {
  it.each([
    ['checkout.session.completed', { payment_status: 'paid' }, 'Paid'],
    ['checkout.session.completed', { payment_status: 'no_payment_required' }, 'Paid'],
    ['checkout.session.completed', { payment_status: 'unpaid' }, 'Pending'],
    ['checkout.session.async_payment_succeeded', { payment_status: 'paid' }, 'Paid'],
    ['checkout.session.async_payment_failed', { payment_status: 'unpaid' }, 'Failed'],
    ['checkout.session.expired', { status: 'expired', payment_status: 'unpaid' }, 'Expired'],
  ])('%s with %j is %s', async (type, changes, status) => {
    const payload = await receiveEvent(type, { ...session, ...changes })
    expect(payload).toMatchObject({ status, gatewayTransactionId: 'cs_test_1', amount: 1_250 })
    expect('error' in payload).toBe(status === 'Failed')
  })

  const intent = {
    id: 'pi_1',
    object: 'payment_intent',
    amount_received: 1_250,
    currency: 'usd',
    status: 'succeeded',
    latest_charge: 'ch_1',
    metadata: NAMES,
  }
  const refunded = (own: object) => ({
    id: 're_1',
    object: 'refund',
    amount: 400,
    currency: 'usd',
    status: 'succeeded',
    payment_intent: 'pi_1',
    metadata: {},
    ...own,
  })
  const failed = refunded({ status: 'failed', failure_reason: 'lost_or_stolen_card' })
  const page = (data: object[], has_more = false) => ({ status: 200, body: { data, has_more } })
  const LIST = 'GET https://api.stripe.com/v1/refunds?payment_intent=pi_1&limit=100'

  it('of a charge only cause the refunds to be read, and have the sum of those that were made', async () => {
    const list = [refunded({ id: 're_2', amount: 100, status: 'pending' }), refunded({}), failed]
    const call = new FakeGatewayCall({ ...page(list), sentAt: 7 })
    const sum = { ...charge, amount_refunded: 1_250 }
    expect(await receiveEvent('charge.refunded', sum, call)).toMatchObject({
      status: 'PartiallyRefunded',
      amount: 400,
      currency: 'USD',
      gatewayTransactionId: 'pi_1',
      externalReferenceId: 'ext-7',
      isOtherId: true,
      refunds: {
        readAt: 7,
        refunds: [
          { id: 're_2', amount: 100, status: 'accepted' },
          { id: 're_1', amount: 400, status: 'succeeded' },
          { status: 'failed', error: { code: 'refund_failed', rawCode: 'lost_or_stolen_card' } },
        ],
      },
    })
    expect(asked(call)).toEqual([LIST])
    const all = new FakeGatewayCall(page([refunded({ amount: 1_250 })]))
    expect(await receiveEvent('charge.refunded', charge, all)).toMatchObject({
      status: 'Refunded',
      amount: 1_250,
    })
  })

  it('read all pages, and have the time of the first', async () => {
    const first = { ...page([refunded({ id: 're_2' })], true), sentAt: 3 }
    const call = new FakeGatewayCall(first, { ...page([refunded({})]), sentAt: 9 })
    expect(await receiveEvent('charge.refunded', charge, call)).toMatchObject({
      amount: 800,
      refunds: { readAt: 3, refunds: [{ id: 're_2' }, { id: 're_1' }] },
    })
    expect(asked(call)).toEqual([LIST, `${LIST}&starting_after=re_2`])
  })

  it.each([
    ['refund.created', 'pending', 'accepted', undefined],
    ['refund.updated', 'requires_action', 'accepted', undefined],
    ['refund.updated', 'canceled', 'failed', 'refund_cancelled'],
    ['refund.failed', 'failed', 'failed', 'refund_failed'],
    ['charge.refund.updated', 'failed', 'failed', 'refund_failed'],
  ])('of a refund (%s, %s) read the refunds of its payment', async (type, status, ours, code) => {
    const listed = refunded({ status, metadata: { refund_id: '01REFUND' } })
    const call = new FakeGatewayCall({ status: 200, body: intent }, page([listed]))
    expect(await receiveEvent(type, refunded({ status }), call)).toMatchObject({
      status: 'Paid',
      amount: 1_250,
      externalReferenceId: 'ext-7',
      refunds: {
        refunds: [
          { id: 're_1', refundId: '01REFUND', status: ours, ...(code && { error: { code } }) },
        ],
      },
    })
    expect(asked(call)).toEqual(['GET https://api.stripe.com/v1/payment_intents/pi_1', LIST])
  })

  it('of refunds are to be sent again while Stripe does not answer', async () => {
    for (const [type, object] of [
      ['refund.failed', failed],
      ['charge.refunded', charge],
    ] as const) {
      await expect(receiveEvent(type, object)).rejects.toThrow(GatewayUnavailableException)
    }
  })

  const disputed = {
    id: 'dp_1',
    object: 'dispute',
    amount: 900,
    currency: 'usd',
    status: 'needs_response',
    reason: 'fraudulent',
    payment_intent: 'pi_1',
    metadata: {},
  }

  const answered = (body: object, status = 200, sentAt = 7) => ({ status, body, sentAt })
  const PAID = answered(intent)
  const READ = [
    'GET https://api.stripe.com/v1/payment_intents/pi_1',
    'GET https://api.stripe.com/v1/disputes/dp_1',
  ]

  it.each(['created', 'updated', 'closed', 'funds_withdrawn', 'funds_reinstated'])(
    'of a dispute (%s) only cause it to be read, and have what was paid',
    async (step) => {
      const call = new FakeGatewayCall(PAID, answered({ ...disputed, amount: 950 }))
      expect(await receiveEvent(`charge.dispute.${step}`, disputed, call)).toMatchObject({
        alert: 'dispute',
        status: 'Paid',
        amount: 1_250,
        currency: 'USD',
        externalReferenceId: 'ext-7',
        eventId: 'evt_1',
        disputes: {
          id: 'dp_1',
          readAt: 7,
          parts: [{ id: 'dp_1', amount: 950, currency: 'USD', state: 'open', isOut: true }],
          error: { code: 'dispute', rawCode: 'fraudulent' },
        },
      })
      expect(asked(call)).toEqual(READ)
    },
  )

  const [open, ended] = [{ state: 'open' }, { state: 'ended' }]
  const moves = (count: number) => Array.from({ length: count }, () => ({ object: 'x' }))
  it.each<[string, number | undefined, object]>([
    ['needs_response', undefined, { ...open, isOut: true, isInquiry: false }],
    ['under_review', 0, { ...open, isOut: true }],
    ['needs_response', 2, { ...open, isOut: false }],
    ['under_review', 3, { ...open, isOut: true }],
    ['lost', 1, { ...ended, outcome: 'lost', isOut: true }],
    ['lost', 0, { ...ended, outcome: 'lost', isOut: true }],
    ['lost', 2, { ...ended, outcome: 'won', isOut: false }],
    ['won', undefined, { ...ended, outcome: 'won', isOut: false }],
    ['won', 1, { ...ended, outcome: 'won', isOut: true }],
    ['warning_needs_response', 0, { ...open, isInquiry: true, isOut: false }],
    ['warning_under_review', 1, { ...open, isInquiry: true, isOut: false }],
    ['warning_closed', 0, { ...ended, outcome: 'warning_closed', isInquiry: true, isOut: false }],
    ['prevented', 0, { state: 'unknown' }],
    ['prevented', 1, { state: 'unknown', isOut: true }],
  ])('of a dispute that is %s with %s movements of money', async (status, count, part) => {
    const more = count === undefined ? {} : { balance_transactions: moves(count) }
    const call = new FakeGatewayCall(PAID, answered({ ...disputed, status, ...more }))
    const told = await receiveEvent('charge.dispute.updated', disputed, call)
    expect(told).toMatchObject({ disputes: { parts: [part] } })
    if (!('isOut' in part)) expect(told).not.toHaveProperty('disputes.parts.0.isOut')
    if (!('outcome' in part)) expect(told).not.toHaveProperty('disputes.parts.0.outcome')
  })

  it.each([
    ['prevented', { state: 'ended', outcome: 'prevented' }],
    ['under_review', { state: 'open' }],
    ['warning_needs_response', { state: 'open' }],
  ])('that close a dispute which is %s end it, unless it is open again', async (status, part) => {
    const call = new FakeGatewayCall(PAID, answered({ ...disputed, status }))
    const told = await receiveEvent('charge.dispute.closed', disputed, call)
    expect(told).toMatchObject({ disputes: { parts: [part] } })
  })

  it.each([403, 404])('of a dispute that answers %s have their own copy of it', async (status) => {
    const own = { ...disputed, status: 'lost' }
    const read = async (more: object) => {
      const call = new FakeGatewayCall(PAID, answered({ error: {} }, status))
      const body = JSON.stringify({
        id: 'evt_1',
        object: 'event',
        type: 'charge.dispute.closed',
        data: { object: own },
        ...more,
      })
      return await gateway.handleWebhook(request(body, sign(body)), call)
    }
    const parts = [{ id: 'dp_1', amount: 900, outcome: 'lost' }]
    expect(await read({ created: 12 })).toMatchObject({
      status: 'Paid',
      amount: 1_250,
      disputes: { readAt: 12_000, isCopy: true, parts },
    })
    expect(await read({})).toMatchObject({ disputes: { readAt: NOW_S * 1_000, isCopy: true } })
  })

  it('of a dispute that cannot be read now are to be sent again', async () => {
    const call = new FakeGatewayCall(PAID, answered({}, 401))
    await expect(receiveEvent('charge.dispute.created', disputed, call)).rejects.toThrow(
      GatewayUnavailableException,
    )
  })

  it('of a dispute that is answered with something else have their own copy', async () => {
    const call = new FakeGatewayCall(PAID, answered(intent))
    expect(await receiveEvent('charge.dispute.created', disputed, call)).toMatchObject({
      disputes: { isCopy: true },
    })
  })

  it.each([
    ['another type', 'payment_intent.created', { ...intent, status: 'processing' }],
    ['a session that somebody else made', 'checkout.session.completed', { id: 'cs_2' }],
    ['a charge that somebody else made', 'charge.refunded', { ...charge, metadata: {} }],
    ['a refund without a payment', 'refund.failed', { ...failed, payment_intent: null }],
    ['a dispute of no payment', 'charge.dispute.created', { ...disputed, payment_intent: null }],
  ])('about %s are ignored', async (_, type, object) => {
    expect(await receiveEvent(type, object)).toEqual({ ignored: expect.any(String) })
  })

  it('of a payment that is not ours are ignored, even if its refund failed', async () => {
    const call = new FakeGatewayCall({ status: 200, body: { ...intent, metadata: {} } })
    expect(await receiveEvent('refund.failed', failed, call)).toEqual({
      ignored: expect.any(String),
    })
  })

  it.each([
    [
      'checkout.session.completed',
      { ...session, amount_total: null },
      { unreadable: 'amount_total', externalReferenceId, gatewayTransactionId: session.id },
    ],
    ['charge.refunded', { ...charge, amount: -1 }, { unreadable: 'amount', externalReferenceId }],
    [
      'charge.dispute.created',
      { ...disputed, amount: 'much' },
      { unreadable: 'amount', externalReferenceId },
    ],
    ['refund.failed', { ...failed, payment_intent: 3 }, { unreadable: 'payment_intent' }],
  ])('%s, of our payment, that cannot be read, names the payment', async (type, object, read) => {
    const [found, none] = [
      { status: 200, body: intent },
      { status: 404, body: {} },
    ]
    const call = new FakeGatewayCall(found, none)
    expect(await receiveEvent(type, object, call)).toEqual(read)
  })
})
