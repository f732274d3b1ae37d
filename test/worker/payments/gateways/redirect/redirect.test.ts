import { describe, expect, it } from 'vitest'
import type { GatewayCharge } from '../../../../../worker/payments/gateways/gateway.ts'
import { redirect } from '../../../../../worker/payments/gateways/redirect/redirect.ts'
import { type Answer, json } from '../../../../support/gateway-bed.ts'
import {
  CHARGE,
  INIT,
  INQUIRY,
  OPENED,
  SETTINGS,
  TOKEN,
} from '../../../../support/redirect-fixtures.ts'
import { answering, DUPLICATE, shop, UNAVAILABLE, WITHOUT_PAGE } from './redirect-bed.ts'

describe('the settings of redirect', () => {
  it('are the contract’s, with its defaults', () => {
    const { envPrefix, settings } = redirect
    expect(envPrefix).toBe('REDIRECT_GATEWAY_')
    expect(settings).toEqual({
      base_url: { default: 'https://pg-api-uat.zaincash.iq' },
      client_id: { required: true },
      client_secret: { required: true },
      api_key: { required: true },
      scope: { default: 'payment:read payment:write reverse:write' },
      service_type: { default: 'Delivery' },
      lang: { default: 'en' },
      success_url: { optional: true },
      failure_url: { optional: true },
    })
  })

  it('are refused when client secret and API key are equal', () => {
    const problems = redirect.check({ ...SETTINGS, api_key: SETTINGS.client_secret })
    expect(problems).toHaveLength(1)
    expect(problems.join()).not.toContain(SETTINGS.client_secret)
  })

  it.each(['base_url', 'success_url', 'failure_url'])('need a URL in %s', (name) => {
    expect(redirect.check({ ...SETTINGS, [name]: 'https://shop.test/x?y=1' })).toEqual([])
    for (const bad of ['shop.test', 'ftp://shop.test', 'javascript:1', '/x']) {
      expect(redirect.check({ ...SETTINGS, [name]: bad })).toEqual([
        `${name} is not an http(s) URL`,
      ])
    }
  })
})

describe('a charge by redirect', () => {
  it('opens a transaction, and returns its page', async () => {
    const { charge, bed } = shop()
    expect(await charge()).toEqual({
      ok: true,
      gatewayTransactionId: 'gt-1',
      redirectUrl: 'https://gateway.test/pay/gt-1',
      expiresAt: Date.UTC(2026, 5, 1, 0, 30),
    })
    expect(bed.asked).toEqual([TOKEN, INIT])
    expect(bed.sent[1]?.headers.get('authorization')).toBe('Bearer a-token-of-the-gateway')
  })

  it('leaves settings without a value out of its request', async () => {
    expect(await shop().opening()).toEqual({
      language: 'En',
      externalReferenceId: CHARGE.externalReferenceId,
      orderId: 'order-7',
      serviceType: 'Delivery',
      amount: { value: 25_000, currency: 'IQD' },
    })
  })

  it('sends the phone and both return URLs when they are set', async () => {
    const urls = { success_url: 'https://shop.test/yes', failure_url: 'https://shop.test/no' }
    const own = shop({}, { ...SETTINGS, ...urls })
    expect(await own.opening({ customerPhone: '9647800000000' })).toMatchObject({
      customer: { phone: '9647800000000' },
      redirectUrls: { successUrl: 'https://shop.test/yes', failureUrl: 'https://shop.test/no' },
    })
  })

  it('uses the order’s returnUrl before the configured one', async () => {
    const returnUrl = 'https://shop.test/order-7'
    const configured = { ...SETTINGS, success_url: 'https://shop.test/yes' }
    for (const settings of [SETTINGS, configured]) {
      const body = await shop({}, settings).opening({ returnUrl })
      expect(body).toHaveProperty('redirectUrls', { successUrl: returnUrl })
    }
  })

  it.each([
    ['en', 'En'],
    ['ar', 'Ar'],
    ['AR', 'Ar'],
    ['ku', 'Ku'],
    ['Ku', 'Ku'],
    ['fr', 'En'],
    ['', 'En'],
    ['constructor', 'En'],
  ])('sends the language %j as %s', async (lang, sent) => {
    expect(await shop({}, { ...SETTINGS, lang }).opening()).toHaveProperty('language', sent)
  })

  it('uses the service type of the order before the configured one', async () => {
    const settings = { ...SETTINGS, service_type: 'Books' }
    const of = (metadata?: GatewayCharge['metadata']) =>
      shop({}, settings).opening(metadata && { metadata })
    expect(await of()).toHaveProperty('serviceType', 'Books')
    expect(await of({ service_type: 'Lamps' })).toHaveProperty('serviceType', 'Lamps')
    expect(await of({ service_type: null })).toHaveProperty('serviceType', 'Books')
    expect(await of({ other: 'x' })).toHaveProperty('serviceType', 'Books')
  })

  it('takes dinars only', () => {
    expect(redirect.create('shop', {}).currencies).toEqual(['IQD'])
  })

  it.each([
    ['the transaction', { ...OPENED, transactionDetails: {} }],
    ['its details', { redirectUrl: OPENED.redirectUrl }],
    ['the redirectUrl', { transactionDetails: OPENED.transactionDetails }],
    ['a redirectUrl that is text', { ...OPENED, redirectUrl: null }],
    ['everything', {}],
    ['an object', []],
    ['a body', undefined],
  ])('has an unknown outcome when the answer lacks %s', async (_, body) => {
    const init = () => (body ? json(body) : new Response(null, { status: 200 }))
    await expect(shop({ init }).charge()).rejects.toMatchObject(UNAVAILABLE)
  })

  it('is refused with the gateway’s error, without a retry', async () => {
    const body = { timestamp: 'x', error: { code: 'AMOUNT_TOO_LOW', message: 'At least 250.' } }
    const { charge, bed } = shop({ init: answering(body, 400) })
    expect(await charge()).toEqual({
      ok: false,
      error: { code: 'gateway_refused', rawCode: 'AMOUNT_TOO_LOW', message: 'At least 250.' },
    })
    expect(bed.asked).toEqual([TOKEN, INIT])
  })

  it.each([[{}], [[]], ['no'], [{ code: 7 }]])(
    'is refused even with %j as reason',
    async (body) => {
      expect(await shop({ init: answering(body, 422) }).charge()).toMatchObject({
        ok: false,
        error: { code: 'gateway_refused', rawCode: '422' },
      })
    },
  )

  it.each([401, 403])(
    'is not refused by %i, which refuses us and not the payment',
    async (status) => {
      const { charge } = shop({ init: answering({ code: 'DENIED' }, status) })
      await expect(charge()).rejects.toMatchObject(UNAVAILABLE)
    },
  )

  it('repeats after a lost answer, and returns the transaction of the first request', async () => {
    const answers: Answer[] = [
      () => {
        throw new TypeError('reset')
      },
      answering({ code: DUPLICATE, transactionId: 'gt-1' }, 400),
    ]
    const { charge, bed } = shop({ init: (request) => (answers.shift() ?? json)(request) })
    await expect(charge()).rejects.toMatchObject(WITHOUT_PAGE)
    expect(bed.asked).toEqual([TOKEN, INIT, INIT, `${INQUIRY}/gt-1`])
  })
})
