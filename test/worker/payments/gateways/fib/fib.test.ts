import { PaymentSDK } from '@first-iraqi-bank/sdk/payment'
import { afterEach, describe, expect, it, vi } from 'vitest'
import {
  GatewayRefusedException,
  GatewayUnavailableException,
  InvalidArgumentException,
  InvalidWebhookSignatureException,
} from '../../../../../worker/payments/domain/exceptions.ts'
import { fib } from '../../../../../worker/payments/gateways/fib/fib.ts'
import type { GatewayCharge } from '../../../../../worker/payments/gateways/gateway.ts'
import { asked, FakeGatewayCall } from '../../../../support/fake-gateway-call.ts'

const BASE = 'https://fib.prod.fib.iq'
const ID = 'd2ff6f9a-8c1a-4d5e-9a0c-6a2e8b1f0c11'
const SETTINGS = {
  base_url: BASE,
  client_id: 'shop',
  client_secret: 'shop-secret',
  expires_in: 'PT1H',
  refundable_for: 'P7D',
}
const bank = fib.create('fib', SETTINGS)

const charge: GatewayCharge = {
  gateway: 'fib',
  reference: 'order-7',
  externalReferenceId: '6f1c1a5e-0000-5000-8000-000000000007',
  amount: 25_000,
  currency: 'IQD',
  description: 'Two lamps',
  returnUrl: 'https://shop.test/back',
  callbackUrl: 'https://pay.test/payments/webhooks/fib',
  now: 1_700_000_000_000,
}
const names = {
  gatewayTransactionId: ID,
  externalReferenceId: charge.externalReferenceId,
  reference: charge.reference,
  amount: 25_000,
  currency: 'IQD',
}
const refund = { ...names, refundId: '01REFUND', refundAmount: 25_000, reason: 'Broken' }
const created = {
  paymentId: ID,
  readableCode: 'AB12-CD34',
  qrCode: 'data:image/png;base64,AAAA',
  validUntil: '2026-03-01T12:00:00.000Z',
  personalAppLink: 'https://personal.test/d2ff',
  businessAppLink: 'https://business.test/d2ff',
  corporateAppLink: 'https://corporate.test/d2ff',
}

const stored = (status: string, more: Record<string, unknown> = {}) => ({
  status: 200,
  body: { paymentId: ID, status, amount: { amount: 25_000, currency: 'IQD' }, ...more },
})
const callback = (body: string) => ({
  headers: new Headers(),
  query: new URLSearchParams(),
  body,
  receivedAt: 1_700_000_123_000,
})
const told = (id: unknown, status = 'PAID') => callback(JSON.stringify({ id, status }))

afterEach(() => {
  vi.unstubAllGlobals()
})

describe('a charge at FIB', () => {
  it('makes a payment, and returns its codes and link', async () => {
    const call = new FakeGatewayCall({ status: 201, body: created })
    expect(await bank.charge(charge, call)).toEqual({
      ok: true,
      gatewayTransactionId: ID,
      readableCode: 'AB12-CD34',
      qrCode: 'data:image/png;base64,AAAA',
      deepLink: 'https://personal.test/d2ff',
      expiresAt: Date.parse('2026-03-01T12:00:00.000Z'),
    })
    expect(call.requests).toMatchObject([
      {
        method: 'POST',
        url: `${BASE}/protected/v1/payments`,
        json: {
          monetaryValue: { amount: 25_000, currency: 'IQD' },
          description: 'Two lamps',
          statusCallbackUrl: expect.stringMatching(
            /^https:\/\/pay\.test\/payments\/webhooks\/fib\?reference=6f1c1a5e-0000-5000-8000-000000000007&proof=[0-9a-f]{64}$/,
          ),
          redirectUri: 'https://shop.test/back',
          expiresIn: 'PT1H',
          refundableFor: 'P7D',
        },
        withToken: true,
      },
    ])
  })

  it('is never repeated, because the bank would make two payments', async () => {
    const call = new FakeGatewayCall({ status: 201, body: created })
    await bank.charge(charge, call)
    expect(bank.chargeIsIdempotent).toBe(false)
    expect(call.requests[0]?.isIdempotent).toBe(false)
  })

  it('cuts the description to 50 characters, and never inside a character', async () => {
    const call = new FakeGatewayCall({ status: 201, body: created })
    // As the bank's server counts, 😀 is two.
    await bank.charge({ ...charge, description: `${'x'.repeat(49)}😀 and more` }, call)
    expect(call.requests[0]?.json).toMatchObject({ description: 'x'.repeat(49) })
  })

  it('leaves out unknown URLs', async () => {
    const call = new FakeGatewayCall({ status: 201, body: created })
    const { returnUrl: _, ...rest } = charge
    await bank.charge({ ...rest, callbackUrl: undefined }, call)
    expect(Object.keys(call.requests[0]?.json ?? {})).toEqual([
      'monetaryValue',
      'description',
      'expiresIn',
      'refundableFor',
    ])
  })

  it('takes dinars only', () => {
    expect(bank.currencies).toEqual(['IQD'])
  })

  it("returns the bank's refusal as a refusal", async () => {
    const errors = [{ code: 'AMOUNT_TOO_SMALL', title: 'Amount', detail: 'At least 250 IQD' }]
    const call = new FakeGatewayCall({ status: 400, body: { traceId: 't', errors } })
    expect(await bank.charge(charge, call)).toEqual({
      ok: false,
      error: {
        code: 'gateway_refused',
        rawCode: 'AMOUNT_TOO_SMALL',
        message: 'At least 250 IQD',
      },
    })
  })

  it.each([
    ['no paymentId', { status: 201, body: { ...created, paymentId: undefined } }],
    ['an empty body', { status: 200, body: undefined }],
    ['a redirect', { status: 302, body: {} }],
    ['an outage', { status: 503, body: {} }],
  ])('calls the outcome unknown after %s', async (_, reply) => {
    await expect(bank.charge(charge, new FakeGatewayCall(reply))).rejects.toThrow(
      GatewayUnavailableException,
    )
  })

  it('succeeds without a code or with an invalid time', async () => {
    const body = { ...created, qrCode: null, readableCode: '', validUntil: 'soon' }
    const answer = await bank.charge(charge, new FakeGatewayCall({ status: 201, body }))
    expect(answer).toEqual({
      ok: true,
      gatewayTransactionId: ID,
      deepLink: 'https://personal.test/d2ff',
    })
  })
})

describe('a callback of FIB', () => {
  it.each([
    ['UNPAID', null, 'Pending', 'UNPAID'],
    ['PAID', null, 'Paid', 'PAID'],
    ['DECLINED', 'PAYMENT_EXPIRATION', 'Expired', 'DECLINED:PAYMENT_EXPIRATION'],
    ['DECLINED', 'PAYMENT_CANCELLATION', 'Cancelled', 'DECLINED:PAYMENT_CANCELLATION'],
    ['REFUND_REQUESTED', null, 'Paid', 'REFUND_REQUESTED'],
    ['REFUNDED', null, 'Refunded', 'REFUNDED'],
  ])('is what the bank says when it is read again: %s %s is %s', async (...row) => {
    const [status, decliningReason, ours, event] = row
    const answer = stored(status, { decliningReason })
    const call = new FakeGatewayCall(answer)
    // Whatever the callback itself says.
    const request = told(ID, 'SOMETHING_ELSE')
    expect(await bank.handleWebhook(request, call)).toEqual({
      gateway: 'fib',
      gatewayTransactionId: ID,
      reference: '',
      status: ours,
      amount: 25_000,
      currency: 'IQD',
      eventId: `${ID}:${event}`,
      occurredAt: request.receivedAt,
      raw: answer.body,
    })
    expect(asked(call)).toEqual([`GET ${BASE}/protected/v1/payments/${ID}/status`])
    expect(call.requests[0]?.withToken).toBe(true)
  })

  /** The query of the address that a bank is given with a charge. */
  async function givenTo(gateway: typeof bank): Promise<URLSearchParams> {
    const call = new FakeGatewayCall({ status: 201, body: created })
    await gateway.charge(charge, call)
    const json = call.requests[0]?.json as { statusCallbackUrl: string } | undefined
    return new URL(json?.statusCallbackUrl ?? '').searchParams
  }

  it('has our external reference from the callback URL', async () => {
    const request = { ...told(ID), query: await givenTo(bank) }
    const read = await bank.handleWebhook(request, new FakeGatewayCall(stored('PAID')))
    const { externalReferenceId } = charge
    expect(read).toMatchObject({ externalReferenceId, gatewayTransactionId: ID })
  })

  it('uses the limit of the payment that its URL proves, or that of unproven callbacks', async () => {
    const query = await givenTo(bank)
    const proven = new FakeGatewayCall(stored('PAID'))
    await bank.handleWebhook({ ...told(ID), query }, proven)
    expect(proven.requests[0]?.provenFor).toBe(charge.externalReferenceId)
    query.set('proof', '0'.repeat(64))
    for (const stranger of [query, new URLSearchParams()]) {
      const call = new FakeGatewayCall(stored('PAID'))
      await bank.handleWebhook({ ...told(ID), query: stranger }, call)
      expect(call.requests[0]).not.toHaveProperty('provenFor')
    }
  })

  it.each([
    ['no proof', { proof: undefined }],
    ['an empty proof', { proof: '' }],
    ['a made up proof', { proof: '0'.repeat(64) }],
    ['the proof of another name', { reference: '6f1c1a5e-0000-5000-8000-000000000008' }],
  ])('carries no name with %s: a payment made elsewhere must not pay an order', async (_, own) => {
    const query = await givenTo(bank)
    for (const [name, value] of Object.entries(own)) {
      if (value === undefined) query.delete(name)
      else query.set(name, value)
    }
    const call = new FakeGatewayCall(stored('PAID'))
    const read = await bank.handleWebhook({ ...told(ID), query }, call)
    expect(read).toMatchObject({ gatewayTransactionId: ID })
    expect(read).not.toHaveProperty('externalReferenceId')
  })

  it('has no external reference with the URL of another gateway in the same account', async () => {
    const query = await givenTo(fib.create('fib-b', SETTINGS))
    const call = new FakeGatewayCall(stored('PAID'))
    const read = await bank.handleWebhook({ ...told(ID), query }, call)
    expect(read).not.toHaveProperty('externalReferenceId')
  })

  it('is a failure with the bank’s reason when it declined', async () => {
    const call = new FakeGatewayCall(stored('DECLINED', { decliningReason: 'LIMIT' }))
    expect(await bank.handleWebhook(told(ID), call)).toMatchObject({
      status: 'Failed',
      eventId: `${ID}:DECLINED:LIMIT`,
      error: { code: 'declined', rawCode: 'LIMIT' },
    })
  })

  it('is Pending and logged when its status is unknown', async () => {
    const call = new FakeGatewayCall(stored('ON_HOLD'))
    expect(await bank.handleWebhook(told(ID), call)).toMatchObject({ status: 'Pending' })
    expect(call.warnings).toEqual([
      { event: 'payments.fib.unknown_status', fields: { status: 'ON_HOLD' } },
    ])
  })

  it.each([
    ['no JSON', callback('paid')],
    ['an empty body', callback('')],
    ['an array', callback('[]')],
    ['null', callback('null')],
    ['no id', callback('{"status":"PAID"}')],
    ['an id that is not a string', told(7)],
    ['an empty id', told('')],
    ['an id that climbs the path', told('../../admin')],
    ['an id with a slash', told('a/b')],
    ['an id with a line break', told(`${ID}\n`)],
    ['an id that is too long', told('x'.repeat(65))],
    ['a huge body', told('x'.repeat(200_000))],
  ])('is refused with %s, and the bank is asked nothing', async (_, request) => {
    const call = new FakeGatewayCall()
    await expect(bank.handleWebhook(request, call)).rejects.toThrow(
      InvalidWebhookSignatureException,
    )
    expect(call.requests).toEqual([])
  })

  it.each([404, 400])('is refused when the bank does not know its id (%i)', async (status) => {
    const call = new FakeGatewayCall({ status, body: { errors: [] } })
    await expect(bank.handleWebhook(told(ID), call)).rejects.toThrow(
      InvalidWebhookSignatureException,
    )
  })

  it.each([
    ['an outage', { status: 503, body: {} }],
    ['a refused token', { status: 401, body: {} }],
    ['an answer without a status', { status: 200, body: { paymentId: ID } }],
    ['half a dinar', stored('PAID', { amount: { amount: 0.5, currency: 'IQD' } })],
  ])('is to be sent again after %s, and not called forged', async (_, reply) => {
    await expect(bank.handleWebhook(told(ID), new FakeGatewayCall(reply))).rejects.toThrow(
      GatewayUnavailableException,
    )
  })

  it('has the payment id of the bank, not the spelling of the callback', async () => {
    const call = new FakeGatewayCall(stored('PAID'))
    expect(await bank.handleWebhook(told(ID.toUpperCase()), call)).toMatchObject({
      gatewayTransactionId: ID,
      eventId: `${ID}:PAID`,
    })
  })
})

describe('a payment at FIB', () => {
  it('is read with its amount, even written as a decimal text', async () => {
    const amount = { amount: '25000.00', currency: 'IQD' }
    const reply = stored('PAID', { amount })
    expect(await bank.checkStatus(names, new FakeGatewayCall(reply))).toEqual({
      known: true,
      status: 'Paid',
      amount: 25_000,
      currency: 'IQD',
      isRefundRequested: false,
      raw: reply.body,
    })
  })

  it('is still Paid while its refund is requested, and reports that', async () => {
    const call = new FakeGatewayCall(stored('REFUND_REQUESTED'))
    expect(await bank.checkStatus(names, call)).toMatchObject({
      status: 'Paid',
      isRefundRequested: true,
    })
  })

  it('is unknown when the bank does not know it, but not when the bank does not answer', async () => {
    const gone = new FakeGatewayCall({ status: 404, body: {} })
    expect(await bank.checkStatus(names, gone)).toEqual({ known: false })
    await expect(bank.checkStatus(names, new FakeGatewayCall())).rejects.toThrow(
      GatewayUnavailableException,
    )
  })

  it('is cancelled by its id', async () => {
    const call = new FakeGatewayCall({ status: 204, body: undefined })
    await bank.cancel(names, call)
    expect(asked(call)).toEqual([`POST ${BASE}/protected/v1/payments/${ID}/cancel`])
    const late = new FakeGatewayCall({ status: 406, body: {} })
    await expect(bank.cancel(names, late)).rejects.toThrow(GatewayRefusedException)
  })

  it('is refunded by hand: accepted now, done when the bank reports it', async () => {
    const call = new FakeGatewayCall({ status: 202, body: undefined })
    expect(await bank.refund(refund, call)).toEqual({ ok: true, isDone: false })
    expect(asked(call)).toEqual([`POST ${BASE}/protected/v1/payments/${ID}/refund`])
    // Asked for twice, the bank may pay twice.
    expect(call.requests[0]?.isIdempotent).toBe(false)
  })

  it('supports full refunds only, and refuses others without a call', async () => {
    const call = new FakeGatewayCall()
    const part = { ...refund, refundAmount: 24_999 }
    await expect(bank.refund(part, call)).rejects.toThrow(InvalidArgumentException)
    expect(call.requests).toEqual([])
  })

  it('is not refunded when the bank refuses', async () => {
    const call = new FakeGatewayCall({ status: 406, body: { errors: [{ code: 'TOO_LATE' }] } })
    expect(await bank.refund(refund, call)).toMatchObject({
      ok: false,
      error: { code: 'gateway_refused', rawCode: 'TOO_LATE' },
    })
  })
})

describe("the driver's wire, beside the bank's own client", () => {
  /** What the official client puts on the wire. */
  async function official(act: (sdk: PaymentSDK) => Promise<unknown>) {
    const sent: { method: string; url: string; headers: Headers; body: unknown }[] = []
    vi.stubGlobal('fetch', (url: string, init: RequestInit) => {
      const { method = 'GET', body } = init
      sent.push({ method, url, headers: new Headers(init.headers), body })
      return Promise.resolve(Response.json({}))
    })
    await act(PaymentSDK.getClient('shop', 'shop-secret', 'prod'))
    return sent[0]
  }

  it('requests a token with the same form', async () => {
    const theirs = await official((sdk) => sdk.authenticate())
    const ours = bank.tokenRequest()
    expect(`${ours.method} ${ours.url}`).toBe(`${theirs?.method} ${theirs?.url}`)
    expect(new URLSearchParams(ours.form).toString()).toBe(String(theirs?.body))
  })

  it('makes a payment with the same request', async () => {
    const theirs = await official((sdk) =>
      sdk.createPayment(
        {
          amount: 25_000,
          description: 'Two lamps',
          statusCallbackUrl: new URL('https://pay.test/payments/webhooks/fib'),
          redirectUri: new URL('https://shop.test/back'),
          expiresIn: { hours: 1 },
          refundableFor: { days: 7 },
        },
        'token',
      ),
    )
    const call = new FakeGatewayCall({ status: 201, body: created })
    await bank.charge(charge, call)
    expect(asked(call)).toEqual([`${theirs?.method} ${theirs?.url}`])
    // Our own name in the address is nothing that their client knows.
    const json = JSON.stringify(call.requests[0]?.json).replace(/\?reference=[^"]+/, '')
    expect(JSON.parse(json)).toEqual(JSON.parse(String(theirs?.body)))
    for (const [name, value] of Object.entries(call.requests[0]?.headers ?? {})) {
      expect(theirs?.headers.get(name)).toBe(value)
    }
  })

  it('reads, cancels and refunds at the same URLs', async () => {
    const call = new FakeGatewayCall(
      stored('PAID'),
      { status: 204, body: undefined },
      { status: 202, body: undefined },
    )
    await bank.checkStatus(names, call)
    await bank.cancel(names, call)
    await bank.refund(refund, call)
    const theirs = [
      await official((sdk) => sdk.getPaymentStatus(ID, 'token')),
      await official((sdk) => sdk.cancelPayment(ID, 'token')),
      await official((sdk) => sdk.refundPayment(ID, 'token')),
    ]
    expect(asked(call)).toEqual(theirs.map((sent) => `${sent?.method} ${sent?.url}`))
  })
})

describe("the driver's settings", () => {
  it('are right by default', () => {
    expect(fib.check(SETTINGS)).toEqual([])
    expect(fib.check({ ...SETTINGS, expires_in: 'P1DT12H', refundable_for: 'P2W' })).toEqual([])
  })

  it.each([
    ['base_url', 'fib.iq'],
    ['expires_in', '1 hour'],
    ['expires_in', 'P'],
    ['expires_in', 'PT'],
    ['refundable_for', '7D'],
  ])('are refused with %s = %s', (name, value) => {
    expect(fib.check({ ...SETTINGS, [name]: value })).toHaveLength(1)
  })

  it('may have a base URL with a path, as a simulator has', async () => {
    const below = fib.create('fib', { ...SETTINGS, base_url: 'http://127.0.0.1:1/fib/' })
    expect(below.tokenRequest().url).toMatch(/^http:\/\/127\.0\.0\.1:1\/fib\/auth\/realms\//)
  })
})
