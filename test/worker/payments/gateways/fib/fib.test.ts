// Charges, status and refunds at First Iraqi Bank.

import { PaymentSDK } from '@first-iraqi-bank/sdk/payment'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { fib } from '../../../../../worker/payments/gateways/fib/fib.ts'
import { asked, FakeGatewayCall } from '../../../../support/fake-gateway-call.ts'
import { BASE, bank, charge, created, ID, names, refund, SETTINGS, stored } from './fib-setup.ts'

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

  it('is never repeated, because the bank would create two payments', async () => {
    const call = new FakeGatewayCall({ status: 201, body: created })
    await bank.charge(charge, call)
    expect(bank.chargeRepeatableForMs).toBe(0)
    expect(call.requests[0]?.isIdempotent).toBe(false)
  })

  it('cuts the description to 50 characters, and never inside a character', async () => {
    const call = new FakeGatewayCall({ status: 201, body: created })
    // The bank counts 😀 as two.
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

  it('supports dinars only', () => {
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
})

describe('a payment at FIB', () => {
  it('is read with its amount, even written as a decimal text', async () => {
    const amount = { amount: '25000.00', currency: 'IQD' }
    const reply = stored('PAID', { amount })
    expect(await bank.checkStatus(names, new FakeGatewayCall(reply))).toEqual({
      known: true,
      gatewayTransactionId: ID,
      status: 'Paid',
      amount: 25_000,
      currency: 'IQD',
      refunds: { readAt: 0, refunds: [] },
      raw: reply.body,
    })
  })

  it('is still Paid while its refund is requested, and reports that', async () => {
    const call = new FakeGatewayCall(stored('REFUND_REQUESTED'))
    expect(await bank.checkStatus(names, call)).toMatchObject({
      status: 'Paid',
      refunds: { refunds: [{ amount: 25_000, status: 'accepted' }] },
    })
  })

  it('keeps its id if the bank spells it in another case', async () => {
    const call = new FakeGatewayCall(stored('PAID', { paymentId: ID.toUpperCase() }))
    expect(await bank.checkStatus(names, call)).toHaveProperty('gatewayTransactionId', ID)
  })
})

describe("the driver's settings", () => {
  it('are valid with these values', () => {
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

afterEach(() => {
  vi.unstubAllGlobals()
})

describe("the driver's requests, compared with the bank's own client", () => {
  /** The request that the bank's own client sends. */
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
    // The bank's own client knows nothing of our reference in the URL.
    const json = JSON.stringify(call.requests[0]?.json).replace(/\?reference=[^"]+/, '')
    expect(JSON.parse(json)).toEqual(JSON.parse(String(theirs?.body)))
    const theirNames = [...(theirs?.headers.keys() ?? [])].filter((name) => name.startsWith('x-'))
    const ours = new Headers(call.requests[0]?.headers)
    for (const name of theirNames) expect(ours.get(name)).toBe(theirs?.headers.get(name))
    expect([...ours.keys()]).toEqual(theirNames)
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
