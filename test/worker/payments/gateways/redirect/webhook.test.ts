// What genuine callbacks say. Forged ones: redirect-fixtures.ts.

import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { GatewaySetup } from '../../../../../libraries/testing/gateway-setup.ts'
import type { WebhookRequest } from '../../../../../worker/payments/gateways/gateway.ts'
import { redirect } from '../../../../../worker/payments/gateways/redirect/redirect.ts'
import { timeOf } from '../../../../../worker/payments/gateways/redirect/wire.ts'
import {
  CHARGE,
  claims,
  gateway,
  inBody,
  received,
  SETTINGS,
  sign,
  signed,
} from '../../../../support/redirect-fixtures.ts'

const shop = redirect.create('shop', SETTINGS)

function receive(request: WebhookRequest) {
  const setup = new GatewaySetup(shop, gateway())
  return { setup, payload: setup.end(shop.handleWebhook(request, setup.call())) }
}
const receiveSigned = async (what: unknown) => receive(inBody(await sign(what)))
const payloadOf = async (what: unknown) => await (await receiveSigned(what)).payload

async function multipart(form: FormData): Promise<WebhookRequest> {
  const sent = new Response(form)
  const bytes = new Uint8Array(await sent.arrayBuffer())
  return { ...received(''), headers: sent.headers, bytes, body: new TextDecoder().decode(bytes) }
}

describe('a callback of redirect', () => {
  it('is read from its claims, without a call', async () => {
    const request = inBody(await sign(claims()))
    const { payload, setup } = receive(request)
    expect(await payload).toEqual({
      gateway: 'shop',
      gatewayTransactionId: 'gt-1',
      reference: 'order-7',
      externalReferenceId: CHARGE.externalReferenceId,
      status: 'Paid',
      amount: 25_000,
      currency: 'IQD',
      eventId: 'ev-1',
      occurredAt: Date.UTC(2026, 5, 1, 0, 10),
      raw: claims(),
    })
    expect([setup.sent, setup.lines]).toEqual([[], []])
  })

  it('may have its token in each place that the gateway uses', async () => {
    const token = await sign(claims())
    const requests = [
      inBody(token),
      inBody(token, 'token'),
      received(`webhook_token=${token}`),
      received(`a=b&token=${token}`),
      received('', `token=${token}`),
      received('{}', `token=${token}`),
      { ...inBody(token), query: new URLSearchParams({ token }) },
      received(JSON.stringify({ webhook_token: token, token })),
    ]
    for (const request of requests) {
      expect(await receive(request).payload, request.body).toMatchObject({
        eventId: 'ev-1',
        raw: claims(),
      })
    }
  })

  it.each(['webhook_token', 'token'])('may have its %s in a multipart form', async (name) => {
    const form = new FormData()
    form.set('a', 'b')
    form.set(name, await sign(claims()))
    const request = await multipart(form)
    expect(await receive(request).payload).toMatchObject({ eventId: 'ev-1' })
  })

  it('may have it in a form with any boundary, and none in one that is cut off', async () => {
    const token = await sign(claims())
    const type = 'multipart/form-data; charset=utf-8; boundary="b"'
    const field = `--b\r\nContent-Type: text/plain\r\ncontent-disposition: form-data; name="token"`
    const sent = (body: string) =>
      receive({ ...received(body), headers: new Headers({ 'content-type': type }) }).payload
    expect(await sent(`${field}\r\n\r\n${token}\r\n--b--\r\n`)).toMatchObject({ eventId: 'ev-1' })
    for (const body of ['', field, `${field}\r\n\r\n${token}`, `${field}\r\n\r\n\r\n--b--`])
      await expect(sent(body)).rejects.toMatchObject({ code: 'invalid_webhook_signature' })
  })

  it.each([
    ['SUCCESS', 'Paid'],
    ['FAILED', 'Failed'],
    ['EXPIRED', 'Expired'],
    ['REFUNDED', 'Refunded'],
    ['PENDING', 'Pending'],
    ['OTP_SENT', 'Pending'],
    ['CUSTOMER_AUTHENTICATION_REQUIRED', 'Pending'],
  ])('that says %s means %s', async (currentStatus, status) => {
    const { payload, setup } = await receiveSigned(claims({ data: { currentStatus } }))
    expect(await payload).toHaveProperty('status', status)
    expect(setup.lines).toEqual([])
  })

  it('of an unknown status is Pending, and is logged', async () => {
    const { payload, setup } = await receiveSigned(claims({ data: { currentStatus: 'ON_HOLD' } }))
    expect(await payload).toHaveProperty('status', 'Pending')
    const event = 'payments.redirect_gateway.unknown_status'
    expect(setup.lines).toEqual([{ event, fields: { gateway: 'shop', status: 'ON_HOLD' } }])
  })

  it.each(['SOMETHING_NEW', 'status_changed', '', undefined, 7])(
    'of the unknown event %j is logged, and its status used',
    async (eventType) => {
      const { payload, setup } = await receiveSigned(claims({ eventType }))
      expect(await payload).toMatchObject({ status: 'Paid', eventId: 'ev-1' })
      expect(setup.lines.map(({ event }) => event)).toEqual([
        'payments.redirect_gateway.unknown_event',
      ])
    },
  )

  it('of a failure has the reason', async () => {
    const data = { currentStatus: 'FAILED', errorMessage: 'Insufficient balance.' }
    expect(await payloadOf(claims({ data }))).toMatchObject({
      status: 'Failed',
      error: { code: 'payment_failed', rawCode: 'FAILED', message: 'Insufficient balance.' },
    })
    const silent = await payloadOf(claims({ data: { ...data, errorMessage: null } }))
    expect(silent).toHaveProperty('error.code', 'payment_failed')
  })

  it('has an error only for a failure', async () => {
    const payload = await payloadOf(claims({ data: { errorMessage: 'Left over' } }))
    expect(payload).not.toHaveProperty('error')
  })

  it.each(['SUCCESS', 'REFUNDED', 'NEVER_HEARD_OF', undefined])(
    'of a completed refund means Refunded, though its status is %s',
    async (currentStatus) => {
      const data = { currentStatus }
      const { payload, setup } = await receiveSigned(
        claims({ eventType: 'REFUND_COMPLETED', data }),
      )
      expect(await payload).toMatchObject({ status: 'Refunded', amount: 25_000 })
      expect(setup.lines).toEqual([])
    },
  )

  it.each(['SUCCESS', 'REFUNDED', 'FAILED', undefined])(
    'of a failed refund moves nothing and alerts, though its status is %s',
    async (currentStatus) => {
      const data = { currentStatus, errorMessage: 'The wallet is closed.' }
      expect(await payloadOf(claims({ eventType: 'REFUND_FAILED', data }))).toMatchObject({
        status: 'Paid',
        alert: 'refund_failed',
        error: { code: 'refund_failed', message: 'The wallet is closed.' },
      })
    },
  )

  it.each(['iqd', 'Iqd', ' IQD', 'IQD\n'])(
    'has the currency of %j, with its units',
    async (currency) => {
      const payload = await payloadOf(claims({ data: { amount: { value: 25_000, currency } } }))
      expect(payload).toMatchObject({ amount: 25_000, currency: 'IQD' })
    },
  )

  it('has the age of its timestamp: a replayed old one does not look new', async () => {
    const old = claims({ timestamp: '2020-01-01T00:00:00Z' })
    const payload = await payloadOf(old)
    expect(payload).toHaveProperty('occurredAt', Date.UTC(2020, 0, 1))
  })

  it('with an expired token is late, not forged', async () => {
    const payload = await payloadOf({ ...claims(), exp: 1_500_000_000, nbf: 4_000_000_000 })
    expect(payload).toHaveProperty('eventId', 'ev-1')
  })

  it('needs neither an order id nor an external reference to be matched', async () => {
    const data = { orderId: undefined, merchantReferenceId: null }
    const payload = await payloadOf(claims({ data }))
    expect(payload).toMatchObject({ gatewayTransactionId: 'gt-1', reference: '' })
    expect(payload).not.toHaveProperty('externalReferenceId')
  })

  it('may have numbers as ids', async () => {
    const data = { transactionId: 17, orderId: 7, merchantReferenceId: 5 }
    expect(await payloadOf(claims({ eventId: 12, data }))).toMatchObject({
      gatewayTransactionId: '17',
      externalReferenceId: '5',
      reference: '7',
      eventId: '12',
    })
  })

  describe('with an id above 2^53', () => {
    // Both are 9007199254740992 once JSON.parse has made them numbers.
    const ids = ['9007199254740992', '9007199254740993']
    const withId = (id: string) =>
      JSON.stringify(claims({ eventId: '#', data: { transactionId: '#' } })).replaceAll('"#"', id)
    const read = async (id: string) => await receive(inBody(await signed(withId(id)))).payload

    it('keeps it as its text: two payments never become one', async () => {
      expect(await Promise.all(ids.map(read))).toMatchObject(
        ids.map((id) => ({ gatewayTransactionId: id, eventId: id })),
      )
    })

    it('is unreadable where JSON.parse does not give the text, as on Node 20', async () => {
      const parse = JSON.parse
      vi.spyOn(JSON, 'parse').mockImplementation((text, reviver) =>
        parse(text, reviver && ((key, value) => reviver.call(null, key, value))),
      )
      onTestFinished(() => void vi.restoreAllMocks())
      for (const id of ids) {
        const payload = await read(id)
        expect(payload).toHaveProperty('unreadable', 'eventId, data.transactionId')
        expect(payload).not.toHaveProperty('gatewayTransactionId')
      }
    })
  })

  it.each([
    ['eventId', claims({ eventId: undefined })],
    ['an eventId', claims({ eventId: '' })],
    ['data', { ...claims(), data: undefined }],
    ['transactionId', claims({ data: { transactionId: undefined } })],
    ['currentStatus', claims({ data: { currentStatus: undefined } })],
    ['amount', claims({ data: { amount: undefined } })],
    ['amount.value', claims({ data: { amount: { currency: 'IQD' } } })],
    ['amount.currency', claims({ data: { amount: { value: 25_000 } } })],
    ['an amount of whole dinars', claims({ data: { amount: { value: 0.5, currency: 'IQD' } } })],
    ['a currency', claims({ data: { amount: { value: 25_000, currency: 'IQDD' } } })],
    ['claims', []],
    ['an object', 17],
  ])('that is genuine and lacks %s is unreadable, not forged', async (_, what) => {
    expect(await payloadOf(what)).toHaveProperty('unreadable')
  })

  it('that is unreadable names its payment, as far as it can be read', async () => {
    const unreadable = 'data.amount'
    const data = { amount: { value: 'much', currency: 'IQD' } }
    const externalReferenceId = CHARGE.externalReferenceId
    const ids = { gatewayTransactionId: 'gt-1', externalReferenceId }
    expect(await payloadOf(claims({ data }))).toEqual({ unreadable, ...ids })
    const unnamed = { ...data, transactionId: {}, merchantReferenceId: null }
    expect(await payloadOf(claims({ data: unnamed }))).toEqual({
      unreadable: 'data.transactionId, data.amount',
    })
  })

  it('that is genuine with an impossible time, or none, does not count as current', async () => {
    for (const timestamp of ['yesterday', -1, null, undefined, '+999999-01-01T00:00:00Z']) {
      expect(await payloadOf(claims({ timestamp }))).toHaveProperty('occurredAt', Number.NaN)
    }
  })

  it('is not quoted when it cannot be read', async () => {
    const data = { customerMsisdn: '9647811111111', amount: { value: 'x', currency: 'IQD' } }
    expect(JSON.stringify(await payloadOf(claims({ data })))).not.toContain('9647811111111')
  })
})

describe('the time of a callback', () => {
  const AT = Date.UTC(2026, 5, 1, 0, 10)

  it.each([
    ['ms', AT],
    ['seconds', AT / 1_000],
    ['seconds as text', String(AT / 1_000)],
    ['ms as text', String(AT)],
    ['seconds with a fraction', AT / 1_000 + 0.000_1],
    ['ISO 8601', '2026-06-01T00:10:00Z'],
    ['ISO 8601 with an offset', '2026-06-01T03:10:00+03:00'],
    ['ISO 8601 with an offset without its colon', '2026-06-01T03:10:00+0300'],
    ['ISO 8601 with an offset of hours', '2026-06-01T03:10:00+03'],
    ['ISO 8601 without a zone', '2026-06-01T00:10:00'],
    ['ISO 8601 with nanoseconds', '2026-06-01T00:10:00.000000001'],
    ['ISO 8601 with a space', '2026-06-01 00:10:00'],
  ])('may be written as %s', (_, value) => {
    expect(timeOf(value)).toBe(AT)
  })

  it('may be a day', () => {
    expect(timeOf('2026-06-01')).toBe(Date.UTC(2026, 5, 1))
  })

  it.each([undefined, null, '', 'now', 0, -1, Number.NaN, {}, [], true])('is not %j', (value) => {
    expect(timeOf(value)).toBeUndefined()
  })
})
