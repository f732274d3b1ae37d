// Charges in process.

import { describe, expect, it } from 'vitest'
import { end } from '../../../../libraries/testing/fake-clock.ts'
import { validCharge } from '../../../../worker/payments/charging/charge.ts'
import {
  GatewayUnavailableException,
  InvalidArgumentException,
} from '../../../../worker/payments/domain/exceptions.ts'
import type { AnyGateway, ChargeAnswer } from '../../../../worker/payments/gateways/gateway.ts'
import { request } from '../../../support/payments.ts'
import { setUpPayments, unavailable } from '../../../support/payments-setup.ts'

const order = request()
const PAGE = 'https://bank.example/pay'

describe('a charge', () => {
  it('is stored and reported before its gateway is called, and returns the payment page', async () => {
    const setup = setUpPayments()
    const { payments, script, charged } = setup
    const before: unknown[] = []
    const { charge } = script
    script.charge = async (asked) => {
      await setup.quiet()
      before.push(setup.eventNames(), await payments.queries.transactions({}, { limit: 9 }))
      return charge(asked)
    }
    const response = await payments.charge(order, { correlationId: 'correlation-1' })
    expect(before).toMatchObject([
      ['PaymentInitiated'],
      [{ status: 'Pending', reference: 'order-1', correlationId: 'correlation-1' }],
    ])
    expect(response).toStrictEqual({
      status: 'Pending',
      gateway: 'bank',
      reference: 'order-1',
      transactionId: expect.stringMatching(/^[0-9A-Z]{26}$/) as unknown,
      gatewayTransactionId: `gateway-${charged[0]?.externalReferenceId}`,
      redirectUrl: 'https://bank.example/pay',
    })
    const story = await payments.queries.story(response.transactionId)
    expect(story?.transaction).toMatchObject({
      gatewayTransactionId: response.gatewayTransactionId,
      redirectUrl: response.redirectUrl,
    })
  })

  it('gives no page that is not https', async () => {
    const { payments, script } = setUpPayments()
    const redirectUrl = 'http://bank.example/pay'
    script.charge = () => ({ ok: true, gatewayTransactionId: 'one', redirectUrl })
    const failed = { code: 'gateway_unavailable', transactionId: expect.any(String) }
    await expect(payments.charge(order)).rejects.toMatchObject(failed)
    expect(await payments.queries.transactions({}, { limit: 9 })).toMatchObject([
      { status: 'Pending', gatewayTransactionId: 'one' },
    ])
  })

  it('gives no page if the gateway answers with the id of another order', async () => {
    const { payments, script, clock } = setUpPayments()
    const page = (n: number) => ({ redirectUrl: `https://bank.example/${n}` })
    script.charge = () => ({ ok: true, gatewayTransactionId: 'one', ...page(1) })
    await payments.charge(order)
    const other = { ...order, reference: 'order-2' }
    const failed = { code: 'gateway_unavailable', transactionId: expect.any(String) }
    await expect(payments.charge(other)).rejects.toMatchObject(failed)
    await expect(payments.charge(other)).rejects.toMatchObject(failed)
    expect(await payments.queries.alerts({}, { limit: 9 })).toMatchObject([
      { kind: 'id_mismatch', detail: { reference: 'order-2', gatewayTransactionId: 'one' } },
    ])
    script.charge = () => ({ ok: true, gatewayTransactionId: 'two', ...page(2) })
    await clock.advance(10 * 60_000)
    await payments.sweeper.sweep()
    expect(await payments.charge(other)).toMatchObject(page(2))
  })

  it('is the same charge with another phone number, since numbers are not in the stored hash', async () => {
    const { payments, charged } = setUpPayments()
    const context = { idempotencyKey: 'key-1' }
    const first = await payments.charge({ ...order, customerPhone: '9647801234567' }, context)
    const other = await payments.charge({ ...order, customerPhone: '9647807654321' }, context)
    expect(other).toStrictEqual(first)
    expect(await payments.charge(order, context)).toStrictEqual(first)
    expect(charged).toMatchObject([{ customerPhone: '9647801234567' }])
  })

  describe('while the same charge is calling the gateway', () => {
    /** Its gateway has been called, and has not answered. */
    async function underWay() {
      const setup = setUpPayments()
      const answer = Promise.withResolvers<ChargeAnswer>()
      setup.script.charge = () => answer.promise
      const first = setup.payments.charge(order)
      // Until then, either of the two may be the first.
      await expect.poll(() => setup.charged.length).toBe(1)
      return { ...setup, answer, first }
    }

    it('waits for it, and has its page: the payer clicked twice', async () => {
      const { payments, clock, charged, answer, first } = await underWay()
      const second = payments.chargeOrFind(order)
      await clock.advance(4_000)
      answer.resolve({ ok: true, gatewayTransactionId: 'one', redirectUrl: PAGE })
      const response = await first
      await clock.advance(1_000)
      expect(await second).toStrictEqual({ response, isNew: false })
      expect(charged).toHaveLength(1)
    })

    it('is in progress after 5 s, with the time until its turn ends', async () => {
      const { payments, clock, answer, first } = await underWay()
      const startedAt = clock.now()
      const second = payments.charge(order).catch((error: unknown) => error)
      expect(await end(clock, second)).toMatchObject({ code: 'in_progress', retryAfterMs: 55_000 })
      expect(clock.now() - startedAt).toBe(5_000)
      answer.reject(new GatewayUnavailableException('There is no answer.'))
      await expect(first).rejects.toMatchObject({ code: 'gateway_unavailable' })
    })

    it('calls the gateway itself once that has ended without an answer', async () => {
      const { payments, script, clock, charged, answer, first } = await underWay()
      const second = payments.charge(order)
      script.charge = () => ({ ok: true, gatewayTransactionId: 'one', redirectUrl: PAGE })
      answer.reject(new GatewayUnavailableException('There is no answer.'))
      await expect(first).rejects.toMatchObject({ code: 'gateway_unavailable' })
      await clock.advance(5_000)
      expect(await second).toMatchObject({ gatewayTransactionId: 'one' })
      expect(charged[1]?.externalReferenceId).toBe(charged[0]?.externalReferenceId)
    })
  })

  it('stays Pending when its gateway does not answer, and is repeated with the same id', async () => {
    const { payments, script, charged } = setUpPayments()
    const { charge } = script
    script.charge = unavailable
    await expect(payments.charge(order)).rejects.toMatchObject({ code: 'gateway_unavailable' })
    const [open] = await payments.queries.transactions({}, { limit: 9 })
    expect(open).toMatchObject({ status: 'Pending' })
    script.charge = charge
    const response = await payments.charge(order)
    expect(response.transactionId).toBe(open?.id)
    expect(charged[1]?.externalReferenceId).toBe(charged[0]?.externalReferenceId)
  })

  it('is Failed when the gateway refuses it, and its order can be charged again', async () => {
    const setup = setUpPayments()
    const { payments, script, charged } = setup
    const { charge } = script
    script.charge = () => ({ ok: false, error: { code: 'declined', message: 'No.' } })
    await expect(payments.charge(order)).rejects.toMatchObject({
      name: 'GatewayRefusedException',
      error: { code: 'declined' },
    })
    await setup.quiet()
    expect(setup.eventNames()).toEqual(['PaymentInitiated', 'PaymentFailed'])
    script.charge = charge
    // Ids are ordered by time.
    await setup.clock.advance(1)
    await payments.charge(order)
    expect(charged[1]?.externalReferenceId).not.toBe(charged[0]?.externalReferenceId)
    const [second, first] = await payments.queries.transactions({}, { limit: 9 })
    expect([first?.status, first?.attempt]).toEqual(['Failed', 1])
    expect([second?.status, second?.attempt]).toEqual(['Pending', 2])
  })

  it('is refused before anything is stored where the driver knows that it is not possible', async () => {
    const chargeProblem = ({ returnUrl }: { returnUrl?: string }) =>
      returnUrl === undefined ? 'bank needs a returnUrl.' : undefined
    const setup = setUpPayments({ gateway: { chargeProblem } })
    const { payments } = setup
    const { returnUrl: _, ...rest } = order
    await expect(payments.charge(rest)).rejects.toMatchObject({
      code: 'invalid_argument',
      message: 'bank needs a returnUrl.',
    })
    await setup.quiet()
    expect(setup.eventNames()).toEqual([])
    expect(await payments.queries.transactions({}, { limit: 9 })).toEqual([])
    const returnUrl = 'https://shop.example/back'
    expect(await payments.charge({ ...rest, returnUrl })).toMatchObject({ status: 'Pending' })
  })

  it('is Failed when the driver rejects its arguments', async () => {
    const { payments, script } = setUpPayments()
    script.charge = () => {
      throw new InvalidArgumentException('A return address is needed.')
    }
    await expect(payments.charge(order)).rejects.toMatchObject({ code: 'invalid_argument' })
    const [failed] = await payments.queries.transactions({}, { limit: 9 })
    expect(failed).toMatchObject({ status: 'Failed', error: { code: 'invalid_argument' } })
  })

  it('is refused again with the same error for the same key', async () => {
    const { payments, script } = setUpPayments()
    const keyed = { idempotencyKey: 'key-1' }
    script.charge = () => {
      throw new InvalidArgumentException('A return address is needed.')
    }
    const first = await payments.charge(order, keyed).catch((error: unknown) => error)
    await expect(payments.charge(order, keyed)).rejects.toEqual(first)
    expect(first).toBeInstanceOf(InvalidArgumentException)
  })

  it('stays Pending when a driver throws an unexpected error', async () => {
    const { payments, script } = setUpPayments()
    script.charge = () => {
      throw new TypeError('undefined is not a function')
    }
    await expect(payments.charge(order)).rejects.toMatchObject({ code: 'gateway_unavailable' })
    const [open] = await payments.queries.transactions({}, { limit: 9 })
    expect(open?.status).toBe('Pending')
  })
})

describe('the fluent builder', () => {
  it('charges with the given values, and does not change earlier builders', async () => {
    const { payments, charged } = setUpPayments()
    const lamp = payments.for({ reference: 'order-7' }).driver('bank').description('A lamp')
    const response = await lamp
      .amount(25_000, 'IQD')
      .returnUrl('https://shop.example/thanks')
      .cancelUrl('https://shop.example/cart')
      .customerPhone('9647800000000')
      .metadata({ service_type: 'Express' })
      .idempotencyKey('key-7')
      .charge()
    expect(response).toMatchObject({ status: 'Pending', reference: 'order-7' })
    expect(charged[0]).toMatchObject({
      reference: 'order-7',
      amount: 25_000,
      returnUrl: 'https://shop.example/thanks',
      cancelUrl: 'https://shop.example/cart',
      customerPhone: '9647800000000',
      metadata: { service_type: 'Express' },
    })
    await expect(lamp.charge()).rejects.toMatchObject({
      code: 'invalid_argument',
      message: expect.stringContaining('amount') as unknown,
    })
  })

  it('finds gateways by their key', () => {
    const { payments } = setUpPayments()
    expect(payments.driver('bank').key).toBe('bank')
    const sentence = 'There is no gateway nope; configured: bank.'
    expect(() => payments.driver('nope')).toThrow(new InvalidArgumentException(sentence))
  })
})

const never = () => Promise.reject(new Error('the gateway was called'))
const dinars: AnyGateway = {
  key: 'dinars',
  privateFields: [],
  echoedFields: [],
  currencies: ['IQD'],
  chargeRepeatableForMs: Number.MAX_SAFE_INTEGER,
  charge: never,
  handleWebhook: never,
}
const gateways = new Map([['dinars', dinars]])
const good = request({ gateway: 'dinars' })

const faultOf = (asked: unknown): { name: string; message: string } => {
  try {
    validCharge(asked, gateways)
  } catch (error) {
    return error as Error
  }
  throw new Error('it was accepted')
}

describe('a requested charge', () => {
  it('is returned unchanged, without undefined fields', () => {
    const checked = validCharge({ ...good, returnUrl: undefined }, gateways)
    expect(checked).toStrictEqual({
      request: good,
      gateway: dinars,
      isReplacing: false,
      isRepeat: false,
    })
  })

  it.each([
    ['no request', undefined, 'The request is missing.'],
    ['an amount of 0', { ...good, amount: 0 }, 'amount'],
    ['a negative amount', { ...good, amount: -1 }, 'amount'],
    ['a fraction of a minor unit', { ...good, amount: 0.5 }, 'amount'],
    ['an amount as text', { ...good, amount: '25000' }, 'amount'],
    ['an amount that a double cannot hold', { ...good, amount: 2 ** 53 }, 'amount'],
    // The amount in its webhook could not be read: a decimal number cannot hold so many digits.
    ['an amount of more than 15 digits', { ...good, amount: 10 ** 15 }, 'amount'],
    ['a currency in small letters', { ...good, currency: 'iqd' }, 'currency'],
    ['no description', { ...good, description: undefined }, 'description'],
    ['a line break in the reference', { ...good, reference: 'a\nb' }, 'reference'],
    ['half a character in the reference', { ...good, reference: 'a\ud800' }, 'reference'],
    ['half a character in the description', { ...good, description: '\udc00' }, 'description'],
    ['a return address that runs code', { ...good, returnUrl: 'javascript:1' }, 'returnUrl'],
    ['one with a space', { ...good, returnUrl: 'https://shop.example/a b' }, 'returnUrl'],
    ['one with a space before it', { ...good, returnUrl: ' https://shop.example/' }, 'returnUrl'],
    ['one with a line break', { ...good, returnUrl: 'https://shop.example/\r\nX: y' }, 'returnUrl'],
    [
      'one with a control character',
      { ...good, returnUrl: 'https://a.example/\u0085' },
      'returnUrl',
    ],
    ['one with a user', { ...good, returnUrl: 'https://shop.example@evil.example/' }, 'returnUrl'],
    ['one with a password', { ...good, returnUrl: 'https://:x@shop.example/' }, 'returnUrl'],
    ['nested metadata', { ...good, metadata: { a: { b: 1 } } }, 'metadata'],
    ['too much metadata', { ...good, metadata: { a: 'x'.repeat(5_000) } }, 'metadata'],
    ['an unknown field', { ...good, ammount: 1 }, 'ammount'],
    ['an unknown gateway', { ...good, gateway: 'nope' }, 'no gateway nope; configured: dinars.'],
    ['a currency that the gateway does not support', { ...good, currency: 'USD' }, 'USD'],
  ])('is refused for %s, and the message names it', (_, asked, named) => {
    expect(faultOf(asked)).toMatchObject({
      name: 'InvalidArgumentException',
      code: 'invalid_argument',
      message: expect.stringContaining(named) as unknown,
    })
  })
})
