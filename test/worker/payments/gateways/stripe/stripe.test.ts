import Stripe from 'stripe'
import { describe, expect, it } from 'vitest'
import {
  GatewayUnavailableException,
  InvalidArgumentException,
} from '../../../../../worker/payments/domain/exceptions.ts'
import { minorUnits } from '../../../../../worker/payments/domain/money.ts'
import { stripe } from '../../../../../worker/payments/gateways/stripe/stripe.ts'
import { API_VERSION } from '../../../../../worker/payments/gateways/stripe/wire.ts'
import { asked, FakeGatewayCall } from '../../../../support/fake-gateway-call.ts'
import { charge, gateway, made, no, ok, SETTINGS } from './stripe-bed.ts'

describe('a charge at Stripe', () => {
  it('makes a Checkout Session, and returns its page', async () => {
    const call = new FakeGatewayCall(ok(made))
    expect(await gateway.charge(charge, call)).toEqual({
      ok: true,
      gatewayTransactionId: 'cs_test_1',
      redirectUrl: made.url,
      expiresAt: 1_700_086_400_000,
    })
  })

  it('is the same charge when it is repeated', async () => {
    const call = new FakeGatewayCall(ok(made), ok(made))
    await gateway.charge(charge, call)
    await gateway.charge({ ...charge, now: charge.now + 60_000 }, call)
    const [first, second] = call.requests
    expect(gateway.chargeIsIdempotent).toBe(true)
    expect(first).toMatchObject({ isIdempotent: true, headers: { 'idempotency-key': 'ext-7' } })
    // Stripe refuses a repeated key with other parameters.
    expect(second).toEqual(first)
  })

  it("has the same form as a request of Stripe's own client", async () => {
    const sent: { method: string; url: string; body: string; headers: Headers }[] = []
    const theirs = new Stripe('sk_test_1', {
      httpClient: Stripe.createFetchHttpClient((url, { method = 'GET', body, headers } = {}) => {
        sent.push({ method, url: String(url), body: String(body), headers: new Headers(headers) })
        return Promise.resolve(Response.json(made))
      }),
      maxNetworkRetries: 0,
    })
    const metadata = { external_reference_id: 'ext-7', reference: 'order-7' }
    await theirs.checkout.sessions.create(
      {
        mode: 'payment',
        client_reference_id: 'order-7',
        success_url: 'https://shop.test/back',
        line_items: [
          {
            quantity: 1,
            price_data: {
              currency: 'usd',
              unit_amount: 1_250,
              product_data: { name: 'Two lamps' },
            },
          },
        ],
        adaptive_pricing: { enabled: false },
        metadata,
        payment_intent_data: { metadata },
      },
      { idempotencyKey: 'ext-7' },
    )
    const call = new FakeGatewayCall(ok(made))
    await gateway.charge(charge, call)
    const [ours] = call.requests
    expect(asked(call)).toEqual(sent.map(({ method, url }) => `${method} ${url}`))
    expect(ours?.form).toEqual(Object.fromEntries(new URLSearchParams(sent[0]?.body)))
    for (const [name, value] of Object.entries(ours?.headers ?? {})) {
      expect(`${name}: ${sent[0]?.headers.get(name)}`).toBe(`${name}: ${value}`)
    }
    expect(API_VERSION).toBe(Stripe.API_VERSION)
  })

  it('uses the configured return page if the order has none', async () => {
    const urls = { success_url: 'https://shop.test/paid', cancel_url: 'https://shop.test/cart' }
    const configured = stripe.create('stripe', { ...SETTINGS, ...urls })
    const { returnUrl: _, ...rest } = charge
    const call = new FakeGatewayCall(ok(made), ok(made))
    await configured.charge(rest, call)
    await configured.charge(charge, call)
    expect(call.requests[0]?.form).toMatchObject(urls)
    expect(call.requests[1]?.form).toMatchObject({ success_url: 'https://shop.test/back' })
  })

  it('puts a long reference into the metadata, and cuts a long product name', async () => {
    const call = new FakeGatewayCall(ok(made))
    const reference = 'r'.repeat(201)
    await gateway.charge({ ...charge, reference, description: '😀'.repeat(300) }, call)
    const form: Record<string, string> = call.requests[0]?.form ?? {}
    expect(form.client_reference_id).toBeUndefined()
    expect(form['metadata[reference]']).toBe(reference)
    expect(form['line_items[0][price_data][product_data][name]']).toBe('😀'.repeat(125))
  })

  it('refuses fils that do not end in a zero, without a call', async () => {
    const call = new FakeGatewayCall()
    await expect(
      gateway.charge({ ...charge, currency: 'KWD', amount: 1_255 }, call),
    ).rejects.toThrow(InvalidArgumentException)
    expect(call.requests).toEqual([])
  })

  it('supports neither Iraqi dinars nor francs, whose minor units differ at Stripe', () => {
    expect(gateway.currencies).not.toContain('IQD')
    expect(gateway.currencies).not.toContain('XAF')
  })

  it('needs a return page, and without one does not call Stripe', async () => {
    const call = new FakeGatewayCall()
    const { returnUrl: _, ...rest } = charge
    await expect(gateway.charge(rest, call)).rejects.toThrow(InvalidArgumentException)
    expect(call.requests).toEqual([])
  })

  it('supports only currencies with the same minor units in money.ts and at Stripe', () => {
    // From Stripe's documentation of currencies.
    const whole = 'BIF CLP DJF GNF JPY KMF KRW MGA PYG RWF UGX VND VUV XAF XOF XPF'.split(' ')
    const thousandths = 'BHD JOD KWD OMR TND'.split(' ')
    for (const currency of gateway.currencies) {
      const theirs = whole.includes(currency) ? 1 : thousandths.includes(currency) ? 1_000 : 100
      expect(`${currency} ${minorUnits(currency)}`).toBe(`${currency} ${theirs}`)
    }
  })

  it("returns Stripe's refusal as a refusal", async () => {
    const error = {
      type: 'invalid_request_error',
      code: 'amount_too_small',
      message: 'The total must be at least 50 cents.',
    }
    expect(await gateway.charge(charge, new FakeGatewayCall(no(400, error)))).toEqual({
      ok: false,
      error: {
        code: 'gateway_refused',
        rawCode: 'amount_too_small',
        message: 'The total must be at least 50 cents.',
      },
    })
  })

  it.each([
    ['the same key is in use', no(409, { type: 'invalid_request_error' })],
    ['the same key came with other parameters', no(400, { type: 'idempotency_error' })],
    ['our key is refused', no(401, { type: 'invalid_request_error', message: 'Invalid key.' })],
    ['a 4xx is not Stripe’s', { status: 400, body: { message: 'blocked' } }],
    ['Stripe is busy', no(429, { type: 'rate_limit' })],
    ['Stripe is broken', no(500, { type: 'api_error' })],
    ['it has no page', ok({ ...made, url: null })],
    ['it has no id', ok({ ...made, id: undefined })],
    ['it is empty', ok(undefined)],
  ])('has an unknown outcome when %s', async (_, reply) => {
    await expect(gateway.charge(charge, new FakeGatewayCall(reply))).rejects.toThrow(
      GatewayUnavailableException,
    )
  })
})

describe("the driver's settings", () => {
  it('are right with Stripe’s own keys', () => {
    expect(stripe.check(SETTINGS)).toEqual([])
    expect(stripe.check({ ...SETTINGS, webhook_secret: 'whsec_1 whsec_2' })).toEqual([])
  })

  it.each([
    ['base_url', 'api.stripe.com'],
    ['secret_key', 'whsec_1'],
    ['secret_key', 'pk_test_1'],
    ['webhook_secret', 'whsec_1 sk_test_1'],
  ])('are refused with %s = %s, which is another one', (name, value) => {
    expect(stripe.check({ ...SETTINGS, [name]: value })).toHaveLength(1)
  })
})
