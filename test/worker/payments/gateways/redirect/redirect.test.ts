// Charges, status and refunds by the redirect gateway.

import { describe, expect, it } from 'vitest'
import { type Answer, GatewaySetup, json } from '../../../../../libraries/testing/gateway-setup.ts'
import type { GatewayCharge, Settings } from '../../../../../worker/payments/gateways/gateway.ts'
import { redirect } from '../../../../../worker/payments/gateways/redirect/redirect.ts'
import {
  CHARGE,
  gateway,
  INIT,
  INQUIRY,
  inquiry,
  NAMES,
  OPENED,
  REFUND,
  SETTINGS,
  TOKEN,
} from '../../../../support/redirect-fixtures.ts'

const UNAVAILABLE = { code: 'gateway_unavailable' }
/** The gateway has made it, and does not return the page again. */
const WITHOUT_PAGE = { ...UNAVAILABLE, gatewayTransactionId: 'gt-1' }
const DUPLICATE = 'EXTERNAL_REFERENCE_ALREADY_EXISTS'

type Own = Parameters<typeof gateway>[0]

function shop(own?: Own, settings: Settings = SETTINGS) {
  const driver = redirect.create('shop', settings)
  const setup = new GatewaySetup(driver, gateway(own))
  return {
    setup,
    charge: (more: Partial<GatewayCharge> = {}) =>
      setup.end(driver.charge({ ...CHARGE, ...more }, setup.call())),
    refund: (more: object = {}) => setup.end(driver.refund({ ...REFUND, ...more }, setup.call())),
    check: () => setup.end(driver.checkStatus(NAMES, setup.call())),
    /** The body of the request that opens a transaction. */
    async opening(more?: Partial<GatewayCharge>): Promise<unknown> {
      await this.charge(more)
      return JSON.parse(setup.sent.at(-1)?.body ?? '')
    },
  }
}
const answering =
  (body: unknown, status = 200): Answer =>
  () =>
    json(body, status)

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
    const two = `another-key ${SETTINGS.client_secret}`
    expect(redirect.check({ ...SETTINGS, api_key: two })).toEqual(problems)
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
    const { charge, setup } = shop()
    expect(await charge()).toEqual({
      ok: true,
      gatewayTransactionId: 'gt-1',
      redirectUrl: 'https://gateway.test/pay/gt-1',
      expiresAt: Date.UTC(2026, 5, 1, 0, 30),
    })
    expect(setup.asked).toEqual([TOKEN, INIT])
    expect(setup.sent[1]?.headers.get('authorization')).toBe('Bearer a-token-of-the-gateway')
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

  it('uses the order’s pages before the configured ones', async () => {
    const [returnUrl, cancelUrl] = ['https://shop.test/order-7', 'https://shop.test/cart']
    const [yes, no] = ['https://shop.test/yes', 'https://shop.test/no']
    const pages = async (own: object, charge: object) =>
      (await shop({}, { ...SETTINGS, ...own }).opening(charge)) as { redirectUrls?: unknown }
    const configured = { success_url: yes, failure_url: no }
    for (const [own, charge, redirectUrls] of [
      [{}, { returnUrl }, { successUrl: returnUrl, failureUrl: returnUrl }],
      [{}, { returnUrl, cancelUrl }, { successUrl: returnUrl, failureUrl: cancelUrl }],
      [configured, { returnUrl }, { successUrl: returnUrl, failureUrl: no }],
      [configured, { cancelUrl }, { successUrl: yes, failureUrl: cancelUrl }],
      [{ success_url: yes }, {}, { successUrl: yes }],
    ] as const) {
      expect((await pages(own, charge)).redirectUrls).toEqual(redirectUrls)
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
    const { charge, setup } = shop({ init: answering(body, 400) })
    expect(await charge()).toEqual({
      ok: false,
      error: { code: 'gateway_refused', rawCode: 'AMOUNT_TOO_LOW', message: 'At least 250.' },
    })
    expect(setup.asked).toEqual([TOKEN, INIT])
  })

  it.each([[{}], [[]], ['no'], [{ code: 7 }]])(
    'has an unknown outcome after a 422 with %j, which the gateway may not have written',
    async (body) => {
      const { charge } = shop({ init: answering(body, 422) })
      await expect(charge()).rejects.toMatchObject(UNAVAILABLE)
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
    const { charge, setup } = shop({ init: (request) => (answers.shift() ?? json)(request) })
    await expect(charge()).rejects.toMatchObject(WITHOUT_PAGE)
    expect(setup.asked).toEqual([TOKEN, INIT, INIT, `${INQUIRY}/gt-1`])
  })
})

describe('a charge whose external reference exists at the gateway', () => {
  it.each([
    ['beside its code', { code: DUPLICATE, transactionId: 'gt-1' }],
    ['in the error', { error: { code: DUPLICATE, details: { transactionId: 'gt-1' } } }],
    ['in a list', { errors: [{ errorCode: DUPLICATE }], data: [{ transactionId: 'gt-1' }] }],
    ['under another code like it', { code: 'EXTERNAL_REFERENCE_ID_EXISTS', transactionId: 'gt-1' }],
  ])('is named but has no page, its id standing %s, and is never made twice', async (_, body) => {
    const { charge, setup } = shop({ init: answering(body, 400) })
    await expect(charge()).rejects.toMatchObject(WITHOUT_PAGE)
    expect(setup.asked).toEqual([TOKEN, INIT, `${INQUIRY}/gt-1`])
  })

  it('returns the redirectUrl if the gateway does', async () => {
    const redirectUrl = 'https://gateway.test/pay/gt-1'
    const body = { code: DUPLICATE, transactionId: 'gt-1', redirectUrl }
    expect(await shop({ init: answering(body, 400) }).charge()).toHaveProperty(
      'redirectUrl',
      redirectUrl,
    )
  })

  it('has an unknown outcome without the transaction’s id, and is not made twice', async () => {
    const { charge, setup } = shop({ init: answering({ code: DUPLICATE }, 400) })
    await expect(charge()).rejects.toMatchObject(UNAVAILABLE)
    expect(setup.asked).toEqual([TOKEN, INIT])
  })

  it('does not use a payment with another amount', async () => {
    const init = answering({ code: DUPLICATE, transactionId: 'gt-1' }, 400)
    const amount = { value: 250, currency: 'IQD' }
    const other = inquiry('SUCCESS', { transactionDetails: { transactionId: 'gt-1', amount } })
    expect(await shop({ init, inquiry: answering(other) }).charge()).toMatchObject({
      ok: false,
      error: { code: 'gateway_refused', rawCode: DUPLICATE },
    })
  })

  it('encodes any id as one segment of the path', async () => {
    const id = '../../oauth2/token?x'
    const init = answering({ code: DUPLICATE, transactionId: id }, 400)
    const amount = { value: 25_000, currency: 'IQD' }
    const found = inquiry('PENDING', { transactionDetails: { transactionId: id, amount } })
    const { charge, setup } = shop({ init, inquiry: answering(found) })
    await expect(charge()).rejects.toMatchObject({ gatewayTransactionId: id })
    expect(setup.asked.at(-1)).toBe(`${INQUIRY}/${encodeURIComponent(id)}`)
  })
})

describe('the status of a payment by redirect', () => {
  it.each([
    ['SUCCESS', 'Paid'],
    ['success', 'Paid'],
    ['FAILED', 'Failed'],
    ['EXPIRED', 'Expired'],
    ['REFUNDED', 'Refunded'],
    ['PENDING', 'Pending'],
    ['OTP_SENT', 'Pending'],
    ['CUSTOMER_AUTHENTICATION_REQUIRED', 'Pending'],
  ])('%s is %s', async (word, status) => {
    const body = inquiry(word)
    const { check, setup } = shop({ inquiry: answering(body) })
    expect(await check()).toMatchObject({
      known: true,
      status,
      amount: 25_000,
      currency: 'IQD',
      raw: body,
    })
    expect(setup.lines).toEqual([])
  })

  it('is unknown when the gateway does not know the payment', async () => {
    const { check } = shop({ inquiry: answering({ code: 'TRANSACTION_NOT_FOUND' }, 404) })
    expect(await check()).toEqual({ known: false })
  })

  it.each<[string, Answer]>([
    ['is refused', answering({ code: 'DENIED' }, 403)],
    ['is a 400', answering({}, 400)],
    ['has no status', answering({ ...inquiry('SUCCESS'), status: undefined })],
    ['has no amount', answering({ status: 'SUCCESS', transactionDetails: {} })],
    [
      'has an amount finer than a dinar',
      answering(
        inquiry('SUCCESS', { transactionDetails: { amount: { value: 0.5, currency: 'IQD' } } }),
      ),
    ],
  ])('is not guessed when the answer %s', async (_, own) => {
    await expect(shop({ inquiry: own }).check()).rejects.toMatchObject(UNAVAILABLE)
  })
})

describe('a refund by redirect', () => {
  it.each(['payment:read payment:write', '', 'reverse:writer', 'xreverse:write'])(
    'is not possible when the scope is %j',
    (scope) => {
      expect(redirect.create('shop', { ...SETTINGS, scope }).refundProblem()).toMatch(
        /reverse:write/,
      )
    },
  )

  it('has no problem with the default scope', () => {
    expect(redirect.create('shop', SETTINGS).refundProblem()).toBeUndefined()
  })

  it.each([
    [{ status: 'COMPLETED' }],
    [{ reversalReferenceId: 'rv-1' }],
    [{ status: 'PENDING', reversalReferenceId: 'rv-1' }],
    [{ status: 'FAILED', reversalReferenceId: 'rv-1' }],
    [{ status: 'COMPLETED', reversalReferenceId: '' }],
    [{ status: 'COMPLETED', reversalReferenceId: null }],
    [{}],
    [[]],
  ])('has an unknown outcome when the answer is %j', async (body) => {
    await expect(shop({ reverse: answering(body) }).refund()).rejects.toMatchObject(UNAVAILABLE)
  })

  it.each([400, 401, 403, 404])(
    'that is answered with %i has given nothing back',
    async (status) => {
      const { refund } = shop({ reverse: answering({ code: 'NOT_REVERSIBLE' }, status) })
      expect(await refund()).toMatchObject({ ok: false, error: { rawCode: 'NOT_REVERSIBLE' } })
    },
  )
})
