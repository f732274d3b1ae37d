// Charges, status and refunds at Stripe.

import Stripe from 'stripe'
import { describe, expect, it } from 'vitest'
import {
  GatewayRefusedException,
  GatewayUnavailableException,
} from '../../../../../worker/payments/domain/exceptions.ts'
import { minorUnits } from '../../../../../worker/payments/domain/money.ts'
import { stripe } from '../../../../../worker/payments/gateways/stripe/stripe.ts'
import { asked, FakeGatewayCall } from '../../../../support/fake-gateway-call.ts'
import { charge, names, refund } from './stripe-setup.ts'

const BASE = 'https://api.stripe.com'
const SETTINGS = { base_url: BASE, secret_key: 'sk_test_1', webhook_secret: 'whsec_1' }
const gateway = stripe.create('stripe', SETTINGS)

const made = {
  id: 'cs_test_1',
  object: 'checkout.session',
  url: 'https://checkout.stripe.com/c/pay/cs_test_1',
  status: 'open',
  payment_status: 'unpaid',
  amount_total: 1_250,
  currency: 'usd',
  expires_at: 1_700_086_400,
  payment_intent: null,
}
const paid = { ...made, url: null, status: 'complete', payment_status: 'paid' }
const ok = (body: unknown) => ({ status: 200, body })
const no = (status: number, error: Record<string, unknown>) => ({ status, body: { error } })
const intent = (more: Record<string, unknown>) => ({
  id: 'pi_1',
  status: 'succeeded',
  amount_received: 1_250,
  currency: 'usd',
  latest_charge: { id: 'ch_1', amount_refunded: 0 },
  ...more,
})

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
    expect(gateway.chargeRepeatableForMs).toBe(24 * 3_600_000)
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
        cancel_url: 'https://shop.test/back',
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
    expect(ours?.headers).toMatchObject({ 'stripe-version': Stripe.API_VERSION })
  })

  it('uses the configured return page if the order has none', async () => {
    const urls = { success_url: 'https://shop.test/paid', cancel_url: 'https://shop.test/cart' }
    const configured = stripe.create('stripe', { ...SETTINGS, ...urls })
    const { returnUrl: _, ...rest } = charge
    const call = new FakeGatewayCall(ok(made), ok(made))
    await configured.charge(rest, call)
    await configured.charge(charge, call)
    expect(call.requests[0]?.form).toMatchObject(urls)
    expect(call.requests[1]?.form).toMatchObject({ ...urls, success_url: charge.returnUrl })
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

  it('takes no fils that do not end in a zero', () => {
    expect(gateway.chargeProblem(charge)).toBeUndefined()
    const fils = { ...charge, currency: 'KWD', amount: 1_255 }
    expect(gateway.chargeProblem(fils)).toBe(
      'stripe does not take 1255 KWD: with three decimals, the last digit must be 0 at Stripe, such as 1250 or 1260.',
    )
    expect(gateway.chargeProblem({ ...fils, amount: 1_250 })).toBeUndefined()
  })

  it('supports neither Iraqi dinars nor francs, whose minor units differ at Stripe', () => {
    expect(gateway.currencies).not.toContain('IQD')
    expect(gateway.currencies).not.toContain('XAF')
  })

  it('needs a return page, of the charge or of its settings', () => {
    const { returnUrl: _, ...rest } = charge
    expect(gateway.chargeProblem(rest)).toMatch(/needs a returnUrl, or its setting success_url/)
    const configured = stripe.create('stripe', { ...SETTINGS, success_url: 'https://shop.test/' })
    expect(configured.chargeProblem(rest)).toBeUndefined()
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
      coversEarlier: true,
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

describe('a payment at Stripe', () => {
  it.each([
    ['Pending', 1_250, made],
    ['Expired', 1_250, { ...made, status: 'expired' }],
    ['Paid', 1_250, { ...paid, payment_intent: intent({}) }],
    ['Paid', 1_250, { ...paid, payment_intent: 'pi_1' }],
    ['Paid', 1_250, { ...paid, payment_status: 'no_payment_required' }],
    ['PartiallyRefunded', 400, { ...paid, payment_intent: intent({}) }, refundOf(400)],
    ['Refunded', 1_250, { ...paid, payment_intent: 'pi_1' }, refundOf(1_250)],
    ['Pending', 1_250, unpaid('processing')],
    ['Failed', 1_250, unpaid('requires_payment_method')],
    ['Failed', 1_250, unpaid('canceled')],
  ])('is %s with %i', async (status, amount, body, refund?: object) => {
    const refunds = ok({ data: refund ? [refund] : [], has_more: false })
    const call = new FakeGatewayCall(ok(body), refunds)
    const isPaid = body.payment_status !== 'unpaid' && Boolean(body.payment_intent)
    expect(await gateway.checkStatus(names, call)).toMatchObject({
      known: true,
      status,
      amount,
      currency: 'USD',
      raw: body,
    })
    expect(asked(call)).toEqual([
      `GET ${BASE}/v1/checkout/sessions/cs_test_1?expand[]=payment_intent`,
      ...(isPaid ? [`GET ${BASE}/v1/refunds?payment_intent=pi_1&limit=100`] : []),
    ])
  })

  it('has the paid amount beside the refunded part', async () => {
    const refunds = ok({ data: [refundOf(400)], has_more: false })
    const call = new FakeGatewayCall(ok({ ...paid, payment_intent: 'pi_1' }), refunds)
    const answer = await gateway.checkStatus(names, call)
    expect(answer).toMatchObject({
      amount: 400,
      paidAmount: 1_250,
      refunds: { refunds: [{ id: 're_1', amount: 400, status: 'succeeded' }] },
    })
  })

  it('fails with the reason of the bank', async () => {
    const call = new FakeGatewayCall(ok(unpaid('requires_payment_method')))
    expect(await gateway.checkStatus(names, call)).toMatchObject({
      error: { code: 'payment_failed', rawCode: 'debit_not_authorized', message: 'No.' },
    })
  })

  it('is unknown when Stripe does not know it, but not when our key is refused', async () => {
    const missing = no(404, { type: 'invalid_request_error', code: 'resource_missing' })
    expect(await gateway.checkStatus(names, new FakeGatewayCall(missing))).toEqual({ known: false })
    const denied = no(401, { type: 'invalid_request_error' })
    await expect(gateway.checkStatus(names, new FakeGatewayCall(denied))).rejects.toThrow(
      GatewayUnavailableException,
    )
  })

  it('is cancelled by expiring its session', async () => {
    const call = new FakeGatewayCall(ok({ ...made, status: 'expired' }))
    await gateway.cancel(names, call)
    expect(asked(call)).toEqual([`POST ${BASE}/v1/checkout/sessions/cs_test_1/expire`])
    // A failure that Stripe keeps under a key would be the answer for a day.
    expect(call.requests[0]?.headers).not.toHaveProperty('idempotency-key')
    const late = no(400, { type: 'invalid_request_error', message: 'Already complete.' })
    await expect(gateway.cancel(names, new FakeGatewayCall(late))).rejects.toThrow(
      GatewayRefusedException,
    )
  })

  function refundOf(amount: number) {
    return { id: 're_1', amount, status: 'succeeded', metadata: {} }
  }

  function unpaid(status: string) {
    const last_payment_error = { code: 'debit_not_authorized', message: 'No.' }
    const payment_intent = intent({
      status,
      amount_received: 0,
      latest_charge: null,
      last_payment_error,
    })
    return { ...made, status: 'complete', payment_intent }
  }
})

describe('a refund at Stripe', () => {
  const session = ok({ ...paid, payment_intent: 'pi_1' })

  it('refunds a part of the session’s payment, once for each refund id', async () => {
    const call = new FakeGatewayCall(session, ok({ id: 're_1', status: 'succeeded' }))
    expect(await gateway.refund(refund, call)).toEqual({
      ok: true,
      isDone: true,
      gatewayRefundId: 're_1',
    })
    expect(asked(call)).toEqual([
      `GET ${BASE}/v1/checkout/sessions/cs_test_1`,
      `POST ${BASE}/v1/refunds`,
    ])
    expect(call.requests[1]).toMatchObject({
      isIdempotent: true,
      headers: { 'idempotency-key': '01REFUND' },
      form: { payment_intent: 'pi_1', amount: '400', 'metadata[reason]': 'One was broken' },
    })
  })

  it.each(['pending', 'requires_action'])('is pending while %s', async (status) => {
    const call = new FakeGatewayCall(session, ok({ id: 're_1', status }))
    expect(await gateway.refund(refund, call)).toMatchObject({ ok: true, isDone: false })
  })

  it.each([
    ['it fails at once', ok({ id: 're_1', status: 'failed', failure_reason: 'unknown' })],
    ['it is too much', no(400, { code: 'charge_already_refunded', message: 'Already.' })],
  ])('is refused when %s', async (_, reply) => {
    expect(await gateway.refund(refund, new FakeGatewayCall(session, reply))).toMatchObject({
      ok: false,
    })
  })

  it('is not made if Stripe answers with another session', async () => {
    const other = new FakeGatewayCall(ok({ ...paid, id: 'cs_test_2', payment_intent: 'pi_2' }))
    await expect(gateway.refund(refund, other)).rejects.toThrow(GatewayUnavailableException)
    expect(asked(other)).toEqual([`GET ${BASE}/v1/checkout/sessions/cs_test_1`])
  })

  it('is refused without a call when nothing was paid', async () => {
    const call = new FakeGatewayCall(ok(made))
    expect(await gateway.refund(refund, call)).toMatchObject({ ok: false })
    expect(call.requests).toHaveLength(1)
  })
})
