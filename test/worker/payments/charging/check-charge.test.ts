import { describe, expect, it } from 'vitest'
import { checkCharge } from '../../../../worker/payments/charging/charge.ts'
import type { AnyGateway } from '../../../../worker/payments/gateways/gateway.ts'
import { request } from '../../../support/payments.ts'

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
const good = request({ gateway: 'dinars' })

const faultOf = (asked: unknown): { name: string; message: string } => {
  try {
    checkCharge(asked, gateways)
  } catch (error) {
    return error as Error
  }
  throw new Error('it was accepted')
}

describe('a requested charge', () => {
  it('is returned unchanged, without undefined fields', () => {
    const checked = checkCharge({ ...good, returnUrl: undefined }, gateways)
    expect(checked).toStrictEqual({
      request: good,
      gateway: dinars,
      isReplacing: false,
      isRepeat: false,
    })
  })

  it.each([
    ['no body', undefined, 'body'],
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
    ['an unknown gateway', { ...good, gateway: 'nope' }, 'nope'],
    ['a currency that the gateway does not support', { ...good, currency: 'USD' }, 'USD'],
  ])('is refused for %s, and the message names it', (_, asked, named) => {
    expect(faultOf(asked)).toMatchObject({
      name: 'InvalidArgumentException',
      code: 'invalid_argument',
      message: expect.stringContaining(named) as unknown,
    })
  })
})
