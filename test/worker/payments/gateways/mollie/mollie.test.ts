import { describe, expect, it } from 'vitest'
import { GatewaySetup } from '../../../../../libraries/testing/gateway-setup.ts'
import {
  GatewayRefusedException,
  GatewayUnavailableException,
} from '../../../../../worker/payments/domain/exceptions.ts'
import { mollie } from '../../../../../worker/payments/gateways/mollie/mollie.ts'
import { FakeGatewayCall } from '../../../../support/fake-gateway-call.ts'
import {
  charge,
  eur,
  gateway,
  ID,
  names,
  payment,
  read,
  refund,
  SETTINGS,
  webhook,
} from './mollie-setup.ts'

const made = {
  ...payment('open'),
  expiresAt: '2023-11-14T22:28:20+00:00',
  _links: { checkout: { href: 'https://pay.mollie.test/1' } },
}
const refundOf = (id: string, value: string, status: string, more: object = {}) => ({
  resource: 'refund',
  id,
  amount: eur(value),
  status,
  ...more,
})
const embedding = (refunds: object[], chargebacks: object[] = []) => ({
  _embedded: { refunds, chargebacks },
})
const urlIn = ({ requests }: FakeGatewayCall): string | undefined =>
  (requests[0]?.json as { webhookUrl?: string } | undefined)?.webhookUrl
const refusal = (status: number, detail = 'No.') => ({
  status,
  body: { status, title: 'No', detail },
})
const status = (answer: ReturnType<typeof read>) =>
  gateway.checkStatus(names, new FakeGatewayCall(answer))
const received = (answer: ReturnType<typeof read>) =>
  gateway.handleWebhook(webhook(`id=${ID}`), new FakeGatewayCall(answer))

describe('a charge at Mollie', () => {
  it('sends the payer to its page', async () => {
    const call = new FakeGatewayCall({ status: 201, body: made })
    expect(await gateway.charge({ ...charge, installation: 'i-1' }, call)).toEqual({
      ok: true,
      gatewayTransactionId: ID,
      redirectUrl: 'https://pay.mollie.test/1',
      expiresAt: Date.UTC(2023, 10, 14, 22, 28, 20),
    })
    const [sent] = call.requests
    expect(sent).toMatchObject({
      method: 'POST',
      url: 'https://api.mollie.test/v2/payments',
      headers: { 'idempotency-key': charge.externalReferenceId },
      json: {
        amount: { value: '12.50', currency: 'EUR' },
        redirectUrl: 'https://shop.test/back',
        metadata: { reference: 'order-7', installation: 'i-1' },
      },
    })
    // With an API key, both are refused.
    for (const name of ['testmode', 'profileId']) expect(sent?.json).not.toHaveProperty(name)
  })

  it('names no address for webhooks that Mollie cannot reach', async () => {
    const urlOf = async (base_url: string, callbackUrl: string) => {
      const call = new FakeGatewayCall({ status: 201, body: made })
      await mollie
        .create('shop', { ...SETTINGS, base_url })
        .charge({ ...charge, callbackUrl }, call)
      return urlIn(call)
    }
    const here = 'http://127.0.0.1:8787/payments/webhooks/shop'
    expect(await urlOf(SETTINGS.base_url, here)).toBeUndefined()
    expect(await urlOf('http://127.0.0.1:9000', here)).toContain(`${here}?reference=`)
    expect(await urlOf(SETTINGS.base_url, 'https://pay.test/a')).toMatch(/\/a\?reference=.+&proof=/)
  })

  it('keeps the id of a payment without a page', async () => {
    const call = new FakeGatewayCall({ status: 201, body: { ...made, _links: {} } })
    await expect(gateway.charge(charge, call)).rejects.toMatchObject({ gatewayTransactionId: ID })
  })

  it('waits as long as a 429 says before it asks again', async () => {
    const busy = () => new Response('{}', { status: 429, headers: { 'retry-after': '30' } })
    const setup = new GatewaySetup(gateway, busy)
    const asked = setup.end(gateway.charge(charge, setup.call()))
    await expect(asked).rejects.toMatchObject({ retryAfterMs: 30_000 })
    expect(setup.sent).toHaveLength(1)
  })

  it('needs a page to return to', () => {
    const { returnUrl: _, ...rest } = charge
    expect(gateway.chargeProblem?.(rest)).toBe('shop needs a returnUrl.')
  })
})

describe('the status of a payment at Mollie', () => {
  it.each([
    ['open', { status: 'Pending', isBeingPaid: false }],
    ['pending', { status: 'Pending', isBeingPaid: true, isPageClosed: true }],
    ['authorized', { status: 'Pending', isBeingPaid: true, isPageClosed: true }],
    ['canceled', { status: 'Cancelled' }],
    ['expired', { status: 'Expired' }],
    ['on_the_moon', { status: 'Pending', isBeingPaid: true }],
  ])('%s is read as %j', async (word, expected) => {
    expect(await status(read(word))).toMatchObject({ known: true, ...expected })
  })

  it('has the reason of a failure, from either place', async () => {
    const statusReason = { code: 'insufficient_funds', message: 'Too little money.' }
    const error = { code: 'payment_failed', rawCode: 'insufficient_funds' }
    expect(await status(read('failed', { statusReason }))).toMatchObject({
      status: 'Failed',
      error: { ...error, message: 'Too little money.' },
    })
    const details = { failureReason: 'invalid_cvv', failureMessage: 'Wrong code.' }
    expect(await status(read('failed', { details }))).toMatchObject({
      error: { code: 'payment_failed', rawCode: 'invalid_cvv', message: 'Wrong code.' },
    })
  })

  it('follows the refunds, each with its own state', async () => {
    const ours = { metadata: { refund_id: '01REFUND' } }
    const refunds = [
      refundOf('re_1', '2.00', 'refunded', ours),
      refundOf('re_2', '3.00', 'processing', { metadata: null }),
      refundOf('re_3', '1.00', 'failed'),
      refundOf('re_4', '1.00', 'canceled'),
      refundOf('re_5', '1.00', 'queued'),
    ]
    expect(await status(read('paid', embedding(refunds)))).toMatchObject({
      status: 'PartiallyRefunded',
      amount: 200,
      paidAmount: 1_250,
      refunds: {
        refunds: [
          { id: 're_1', refundId: '01REFUND', amount: 200, status: 'succeeded' },
          { id: 're_2', amount: 300, status: 'accepted' },
          { id: 're_3', status: 'failed', error: { code: 'refund_failed' } },
          { id: 're_4', status: 'failed', error: { code: 'refund_cancelled' } },
          { id: 're_5', status: 'accepted' },
        ],
      },
    })
  })

  it('is Refunded, and never of more than was paid, if a gift was refunded, too', async () => {
    const more = {
      ...embedding([refundOf('re_1', '37.50', 'refunded')]),
      amountRefunded: eur('37.50'),
    }
    expect(await status(read('paid', more))).toMatchObject({ status: 'Refunded', amount: 1_250 })
  })

  const captured = (value: string, more: object = {}) => ({ amountCaptured: eur(value), ...more })
  it.each<[string, string, Record<string, unknown>, object]>([
    ['nothing', 'authorized', captured('0.00'), { status: 'Pending', isPageClosed: true }],
    ['a part', 'authorized', captured('5.00'), { status: 'Paid', amount: 500, paidAmount: 500 }],
    ['a part, to its end', 'paid', captured('5.00'), { status: 'Paid', amount: 500 }],
    ['all', 'paid', captured('12.50'), { status: 'Paid', amount: 1_250 }],
    ['nothing, by a method without captures', 'paid', captured('0.00'), { amount: 1_250 }],
    [
      'a part that was given back',
      'paid',
      captured('5.00', embedding([refundOf('re_1', '5.00', 'refunded')])),
      { status: 'Refunded', amount: 500 },
    ],
    [
      'a part, and some of it was given back',
      'paid',
      captured('5.00', embedding([refundOf('re_1', '2.00', 'refunded')])),
      { status: 'PartiallyRefunded', amount: 200, paidAmount: 500 },
    ],
  ])('is that of what was captured: %s', async (_name, word, more, expected) => {
    expect(await status(read(word, more))).toMatchObject(expected)
    const { isPageClosed: _, paidAmount: _paid, ...event } = expected as Record<string, unknown>
    expect(await received(read(word, more))).toMatchObject(event)
  })

  it('is not known of a payment in another mode, or that the key does not know', async () => {
    expect(await status(read('paid', { mode: 'live' }))).toEqual({ known: false })
    for (const code of [404, 410]) {
      expect(await status(refusal(code) as never)).toEqual({ known: false })
    }
    const other = status(read('paid', { id: 'tr_other' }))
    await expect(other).rejects.toThrow(GatewayUnavailableException)
  })
})

describe('a webhook of Mollie', () => {
  it('is ignored for what is not ours, with a 200', async () => {
    expect(await received(refusal(404) as never)).toMatchObject({ ignored: expect.any(String) })
    const foreign = [{ metadata: null }, { metadata: undefined }, { metadata: 'order-7' }]
    for (const more of [{ mode: 'live' }, ...foreign]) {
      expect(await received(read('paid', more))).toMatchObject({ ignored: expect.any(String) })
    }
  })

  it('is counted by its payment if its address has our proof', async () => {
    const charged = new FakeGatewayCall({ status: 201, body: made })
    await gateway.charge(charge, charged)
    const { search } = new URL(urlIn(charged) ?? '')
    const call = new FakeGatewayCall(read('paid'))
    await gateway.handleWebhook(webhook(`id=${ID}`, search), call)
    expect(call.requests[0]?.provenFor).toBe(charge.externalReferenceId)
    const stranger = new FakeGatewayCall(read('paid'))
    await gateway.handleWebhook(webhook(`id=${ID}`, search.replace('proof=', 'proof=0')), stranger)
    expect(stranger.requests[0]?.provenFor).toBeUndefined()
  })

  it('is another event for each state of a refund', async () => {
    const idOf = async (...refunds: object[]) => {
      const payload = await received(read('paid', embedding(refunds)))
      return 'eventId' in payload ? payload.eventId : undefined
    }
    const pending = refundOf('re_1', '2.00', 'pending')
    const two = refundOf('re_2', '2.00', 'pending')
    const ids = [
      await idOf(),
      await idOf(pending),
      await idOf(refundOf('re_1', '2.00', 'refunded')),
    ]
    expect(new Set([...ids, await idOf(pending, two)]).size).toBe(4)
    expect(await idOf(pending, two)).toBe(await idOf(two, pending))
  })

  it('is another event with each capture', async () => {
    const idOf = async (value?: string) => {
      const more = value === undefined ? {} : { amountCaptured: eur(value) }
      const payload = await received(read('authorized', more))
      return 'eventId' in payload ? payload.eventId : undefined
    }
    const ids = [await idOf(), await idOf('0.00'), await idOf('5.00'), await idOf('12.50')]
    expect(new Set(ids).size).toBe(4)
    expect(await idOf('5.00')).toBe(ids[2])
  })

  it('of a late `paid` does not undo a refund', async () => {
    const payload = await received(read('paid', embedding([refundOf('re_1', '12.50', 'refunded')])))
    expect(payload).toMatchObject({ status: 'Refunded', amount: 1_250 })
  })

  it('has all chargebacks as one dispute of the payment, with those that are reversed', async () => {
    const reason = { code: 'AC01', description: 'Wrong account' }
    const chargeback = { id: 'chb_1', amount: eur('10.00'), reason, reversedAt: null }
    const reversed = {
      id: 'chb_2',
      amount: eur('2.50'),
      reversedAt: '2024-01-01T00:00:00+00:00',
    }
    const answer = { ...read('paid', embedding([], [reversed, chargeback])), sentAt: 7 }
    const disputes = {
      id: ID,
      readAt: 7,
      parts: [
        {
          id: 'chb_2',
          amount: 250,
          currency: 'EUR',
          state: 'ended',
          outcome: 'won',
          isOut: false,
          endedAt: Date.UTC(2024, 0, 1),
        },
        { id: 'chb_1', amount: 1_000, currency: 'EUR', state: 'open', isOut: true },
      ],
      error: { code: 'dispute', rawCode: 'AC01', message: 'Wrong account' },
    }
    const paid = { status: 'Paid', amount: 1_250 }
    expect(await received(answer)).toMatchObject({ ...paid, alert: 'dispute', disputes })
    expect(await status(answer)).toMatchObject({ ...paid, disputes })
    const all = await received(read('paid', embedding([], [{ ...reversed, reversedAt: 'soon' }])))
    expect(all).not.toHaveProperty('alert')
    expect(all).toMatchObject({
      disputes: {
        parts: [{ id: 'chb_2', state: 'ended' }],
        error: { code: 'dispute', message: 'The payer disputes the payment.' },
      },
    })
    expect(await received(read('paid'))).not.toHaveProperty('disputes')
  })

  it('of a payment that was refunded has what was paid before', async () => {
    const refunds = [refundOf('re_1', '4.00', 'refunded')]
    expect(await received(read('paid', embedding(refunds)))).toMatchObject({
      status: 'PartiallyRefunded',
      paidAmount: 1_250,
    })
  })
})

describe('a refund and a cancellation at Mollie', () => {
  it('are each one request', async () => {
    const call = new FakeGatewayCall({ status: 201, body: refundOf('re_1', '4.00', 'pending') })
    const part = { ...refund, refundAmount: 400 }
    expect(await gateway.refund(part, call)).toEqual({
      ok: true,
      isDone: false,
      gatewayRefundId: 're_1',
    })
    expect(call.requests).toMatchObject([
      {
        url: `https://api.mollie.test/v2/payments/${ID}/refunds`,
        headers: { 'idempotency-key': '01REFUND' },
        json: { amount: eur('4.00'), metadata: { refund_id: '01REFUND' } },
        isIdempotent: false,
      },
    ])
  })

  it('take a duplicate refund for no refusal', async () => {
    const call = new FakeGatewayCall(refusal(409, 'A duplicate refund has been detected'))
    await expect(gateway.refund(refund, call)).rejects.toThrow(GatewayUnavailableException)
  })

  it('cancel a payment only where Mollie says that it can be', async () => {
    const call = new FakeGatewayCall(read('open'), read('canceled'))
    await gateway.cancel(names, call)
    expect(call.requests.map(({ method }) => method)).toEqual(['GET', 'DELETE'])
    const late = new FakeGatewayCall(read('open', { isCancelable: false }))
    await expect(gateway.cancel(names, late)).rejects.toThrow(GatewayRefusedException)
    expect(late.requests).toHaveLength(1)
  })
})

describe('the settings of Mollie', () => {
  it('are refused with the token of an organization, and say which money moves', () => {
    expect(mollie.check(SETTINGS)).toEqual([])
    expect(mollie.check({ ...SETTINGS, api_key: 'access_1' })).toHaveLength(1)
    expect(mollie.isLive({ api_key: 'live_1' })).toBe(true)
    expect(mollie.examine({ api_key: 'sk_1' }, () => 'MOLLIE_API_KEY')).toMatchObject([
      { level: 'error', sentence: 'MOLLIE_API_KEY must begin with test_ or live_.' },
    ])
    expect(mollie.examine(SETTINGS, () => 'MOLLIE_API_KEY')).toMatchObject([{ level: 'warn' }])
  })
})
