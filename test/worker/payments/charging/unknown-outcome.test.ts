// An outcome that was unknown once stays unknown: a refusal is about the request that it answers,
// and an earlier request for the same payment may have been carried out.

import { describe, expect, it } from 'vitest'
import { end } from '../../../../libraries/testing/fake-clock.ts'
import { type Answer, json, page } from '../../../../libraries/testing/gateway-setup.ts'
import { GatewayRefusedException } from '../../../../worker/payments/domain/exceptions.ts'
import type { Earlier } from '../../../../worker/payments/domain/open-charge.ts'
import { fib } from '../../../../worker/payments/gateways/fib/fib.ts'
import type { ChargeAnswer } from '../../../../worker/payments/gateways/gateway.ts'
import { mollie } from '../../../../worker/payments/gateways/mollie/mollie.ts'
import { redirect } from '../../../../worker/payments/gateways/redirect/redirect.ts'
import { stripe } from '../../../../worker/payments/gateways/stripe/stripe.ts'
import { setUpPayments, unavailable } from '../../../support/payments-setup.ts'
import { SETTINGS } from '../../../support/redirect-fixtures.ts'
import { attemptsOf, keyed, order, tryCharge } from './lost-charge.ts'

const REFUSED = { code: 'gateway_refused', rawCode: 'CONFLICT', message: 'It exists already.' }
const refusing = (): ChargeAnswer => ({ ok: false, error: REFUSED })
const open = [{ attempt: 1, status: 'Pending' }]
const failed = [{ attempt: 1, status: 'Failed' }]

describe('a charge that is refused after a call without an answer', () => {
  it.each([
    ['by its shop', undefined],
    ['by the sweeper', 60_000],
  ])('stays open when it is repeated %s, and fires no PaymentFailed', async (_whom, waitMs) => {
    const setup = setUpPayments()
    const { payments, script, clock, charged, eventNames, quiet } = setup
    script.charge = unavailable
    await tryCharge(setup, order, keyed)
    script.charge = refusing
    await clock.advance(waitMs ?? 1)
    if (waitMs !== undefined) await payments.sweeper.sweep()
    else expect(await tryCharge(setup, order, keyed)).toMatchObject({ code: 'gateway_unavailable' })
    expect(charged.map(({ earlier }) => earlier)).toEqual(['none', 'unknown'])
    expect(await attemptsOf(setup)).toMatchObject(open)
    await quiet()
    expect(eventNames()).not.toContain('PaymentFailed')
  })

  it('stays open also when the driver throws the refusal, or an invalid argument', async () => {
    const setup = setUpPayments()
    setup.script.charge = unavailable
    await tryCharge(setup, order)
    setup.script.charge = () => {
      throw new GatewayRefusedException(REFUSED)
    }
    expect(await tryCharge(setup, order)).toMatchObject({ code: 'gateway_unavailable' })
    expect(await attemptsOf(setup)).toMatchObject(open)
  })

  it('fails when the driver declares that its refusal covers the earlier call', async () => {
    const setup = setUpPayments()
    setup.script.charge = unavailable
    await tryCharge(setup, order)
    setup.script.charge = () => ({ ok: false, error: REFUSED, coversEarlier: true })
    expect(await tryCharge(setup, order)).toMatchObject({ code: 'gateway_refused' })
    expect(await attemptsOf(setup)).toMatchObject(failed)
  })

  it('is another payment at another attempt: that one has no earlier call', async () => {
    const setup = setUpPayments()
    setup.script.charge = refusing
    for (let attempt = 0; attempt < 2; attempt++) {
      await setup.clock.advance(1)
      expect(await tryCharge(setup, order)).toMatchObject({ code: 'gateway_refused' })
    }
    expect(setup.charged.map(({ earlier }) => earlier)).toEqual(['none', 'none'])
  })
})

describe('a charge that was never sent', () => {
  const noToken: Answer = () => page('Bad gateway', 502)

  /** Its token was not granted, so nothing was sent; after that, the gateway is `answer`. */
  async function unsent(answer: Answer) {
    let isUp = false
    const sent: string[] = []
    const earlier: Earlier[] = []
    const driver = redirect.create('bank', SETTINGS)
    const setup = setUpPayments({
      gateway: {
        ...driver,
        charge: (...[charge, call]: Parameters<typeof driver.charge>) => {
          earlier.push(charge.earlier)
          return driver.charge(charge, call)
        },
      },
      fetch: async (input, init) => {
        const request = new Request(input, init)
        const isToken = request.url.endsWith('/token')
        if (!isToken) sent.push(request.method)
        if (!isUp) return await noToken(request)
        return isToken ? json({ access_token: 'a-token', expires_in: 9_999 }) : answer(request)
      },
    })
    const charge = () => end(setup.clock, tryCharge(setup, order))
    await charge()
    expect(sent).toEqual([])
    isUp = true
    return { ...setup, setup, charge, earlier, sent }
  }

  const refuse: Answer = () => json({ code: 'CONFLICT', message: 'No.' }, 400)

  it('has no earlier call, so a refusal is definite', async () => {
    const { setup, charge, earlier } = await unsent(refuse)
    expect(await charge()).toMatchObject({ code: 'gateway_refused' })
    expect(earlier).toEqual(['none', 'none'])
    expect(await attemptsOf(setup)).toMatchObject(failed)
  })

  it('has one once the sweeper has sent it, and got no answer', async () => {
    let answers = 0
    const outage: Answer = () => page('Bad gateway', 502)
    const { setup, charge, earlier, payments, clock } = await unsent((request) =>
      answers++ < 3 ? outage(request) : refuse(request),
    )
    await clock.advance(60_000)
    await end(clock, payments.sweeper.sweep())
    expect(await charge()).toMatchObject({ code: 'gateway_unavailable' })
    expect(earlier).toEqual(['none', 'none', 'unknown'])
    expect(await attemptsOf(setup)).toMatchObject(open)
  })

  it('keeps an earlier call that had no answer', async () => {
    const setup = setUpPayments()
    const { script, charged } = setup
    script.charge = unavailable
    await tryCharge(setup, order)
    script.charge = () => {
      throw Object.assign(new Error(), { isUnsent: true })
    }
    await tryCharge(setup, order)
    script.charge = refusing
    await tryCharge(setup, order)
    expect(charged.map(({ earlier }) => earlier)).toEqual(['none', 'unknown', 'unknown'])
    expect(await attemptsOf(setup)).toMatchObject(open)
  })
})

// The gateway makes the payment, its answer is lost, and the repetition is refused with 409.

const token = { access_token: 'a-token', expires_in: 9_999 }
const lostThen409 = (): typeof fetch => {
  const seen = new Set<string>()
  return async (input, init) => {
    const request = new Request(input, init)
    const { pathname } = new URL(request.url)
    if (pathname.endsWith('/token')) return json(token)
    if (request.method === 'GET') return page('Not found', 502)
    const isFirst = !seen.has(pathname)
    seen.add(pathname)
    const error = { type: 'invalid_request_error', code: 'conflict', message: 'It exists.' }
    const conflict = { code: 'CONFLICT', message: 'It exists.', transactionId: 'gt-1', error }
    return isFirst
      ? page('Bad gateway', 502)
      : json({ ...conflict, errors: [{ code: 'CONFLICT' }] }, 409)
  }
}

const DRIVERS = {
  redirect: redirect.create('bank', SETTINGS),
  fib: fib.create('bank', {
    base_url: 'https://fib.test',
    client_id: 'shop',
    client_secret: 'shop-secret',
    expires_in: 'PT1H',
    refundable_for: 'P7D',
  }),
  stripe: stripe.create('bank', {
    base_url: 'https://stripe.test',
    secret_key: 'sk_test_1',
    webhook_secret: 'whsec_1',
  }),
  mollie: mollie.create('bank', {
    base_url: 'https://mollie.test',
    api_key: 'test_dHar4XY7LxsDOtmnkVtjNVWXLSlXsM',
  }),
}

describe.each(Object.entries(DRIVERS))('a charge at %s whose answer was lost', (name, driver) => {
  const currency = name === 'stripe' || name === 'mollie' ? 'USD' : 'IQD'
  const asked = { ...order, currency, returnUrl: 'https://shop.test/back' }

  it('stays open though each repetition is refused with 409, and fires no PaymentFailed', async () => {
    const setup = setUpPayments({ gateway: driver, fetch: lostThen409() })
    const { payments, clock, quiet, eventNames } = setup
    for (let call = 0; call < 3; call++) {
      const charged = tryCharge(setup, asked, keyed)
      expect(await end(clock, charged)).toMatchObject({ code: 'gateway_unavailable' })
      await clock.advance(60_000)
      await end(clock, payments.sweeper.sweep())
    }
    expect(await attemptsOf(setup)).toMatchObject(open)
    await quiet()
    expect(eventNames()).not.toContain('PaymentFailed')
  })
})
