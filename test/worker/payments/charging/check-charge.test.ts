import { describe, expect, it } from 'vitest'
import { checkCharge } from '../../../../worker/payments/charging/check-charge.ts'
import type { AnyGateway } from '../../../../worker/payments/gateways/gateway.ts'

const never = () => Promise.reject(new Error('the gateway was called'))
const dinars: AnyGateway = {
  key: 'dinars',
  privateFields: [],
  echoedFields: [],
  currencies: ['IQD'],
  chargeIsIdempotent: true,
  charge: never,
  handleWebhook: never,
}
const gateways = new Map([['dinars', dinars]])
const good = {
  gateway: 'dinars',
  reference: 'order-1',
  amount: 25_000,
  currency: 'IQD',
  description: 'A lamp',
}

const faultOf = (asked: unknown): { name: string; message: string } => {
  try {
    checkCharge(asked, gateways)
  } catch (error) {
    return error as Error
  }
  throw new Error('it was taken')
}

describe('a charge that is asked for', () => {
  it('comes out as it is, without what was left undefined', () => {
    const { request, gateway } = checkCharge({ ...good, returnUrl: undefined }, gateways)
    expect(request).toStrictEqual(good)
    expect(gateway).toBe(dinars)
  })

  it.each([
    ['no body', undefined, 'body'],
    ['an amount of nothing', { ...good, amount: 0 }, 'amount'],
    ['a negative amount', { ...good, amount: -1 }, 'amount'],
    ['a fraction of a minor unit', { ...good, amount: 0.5 }, 'amount'],
    ['an amount as text', { ...good, amount: '25000' }, 'amount'],
    ['an amount that a double cannot hold', { ...good, amount: 2 ** 53 }, 'amount'],
    // Its webhook could never be read: no gateway's decimal number holds so many digits.
    ['an amount of more than 15 digits', { ...good, amount: 10 ** 15 }, 'amount'],
    ['a currency in small letters', { ...good, currency: 'iqd' }, 'currency'],
    ['no description', { ...good, description: undefined }, 'description'],
    ['a line break in the reference', { ...good, reference: 'a\nb' }, 'reference'],
    ['half a character in the reference', { ...good, reference: 'a\ud800' }, 'reference'],
    ['half a character in the description', { ...good, description: '\udc00' }, 'description'],
    ['a return address that runs code', { ...good, returnUrl: 'javascript:1' }, 'returnUrl'],
    ['nested metadata', { ...good, metadata: { a: { b: 1 } } }, 'metadata'],
    ['metadata without end', { ...good, metadata: { a: 'x'.repeat(5_000) } }, 'metadata'],
    ['a field that there is not', { ...good, ammount: 1 }, 'ammount'],
    ['a gateway that there is not', { ...good, gateway: 'nope' }, 'nope'],
    ['a currency that the gateway does not take', { ...good, currency: 'USD' }, 'USD'],
  ])('is refused for %s, and the sentence names it', (_, asked, named) => {
    expect(faultOf(asked)).toMatchObject({
      name: 'InvalidArgumentException',
      code: 'invalid_argument',
      message: expect.stringContaining(named) as unknown,
    })
  })
})
