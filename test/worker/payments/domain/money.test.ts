import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  fromMinor,
  isAmount,
  isCurrency,
  majorText,
  minorUnits,
  moneyIn,
  toMinor,
} from '../../../../worker/payments/domain/money.ts'

const currency = fc.constantFrom('IQD', 'JPY', 'USD', 'EUR', 'KWD', 'XYZ')
const amount = fc.integer({ min: 1, max: 999_999_999_999_999 })

describe('minor units', () => {
  it.each([
    ['IQD', 1],
    ['USD', 100],
    ['EUR', 100],
    ['JPY', 1],
    ['KWD', 1_000],
    ['XYZ', 100],
  ])('of %s are %i to the unit', (code, factor) => {
    expect(minorUnits(code)).toBe(factor)
  })

  it('of the name of a property of Object are those of an unknown currency', () => {
    expect(minorUnits('constructor')).toBe(100)
  })
})

describe('a gateway’s amount', () => {
  it.each<[unknown, string, number]>([
    [25_000, 'IQD', 25_000],
    ['25000', 'IQD', 25_000],
    ['25000.00', 'IQD', 25_000],
    [12.5, 'USD', 1_250],
    ['12.50', 'USD', 1_250],
    ['12.500', 'USD', 1_250],
    [19.99, 'USD', 1_999],
    [1.005, 'KWD', 1_005],
    [' 7 ', 'USD', 700],
    [0, 'USD', 0],
    ['0.00', 'USD', 0],
  ])('%j of %s is %i in minor units', (value, code, minor) => {
    expect(toMinor(value, code)).toBe(minor)
  })

  it.each([-5, '-3.20', '-0.00'])('%j is no amount: nobody pays less than nothing', (value) => {
    expect(toMinor(value, 'USD')).toBeUndefined()
  })

  it('has its currency in capitals, however the gateway spells it', () => {
    expect(moneyIn('12.50', ' usd ')).toEqual({ amount: 1_250, currency: 'USD' })
  })

  it.each(['', 'US', 'USDT', 'u$d', 'ıqd'])('in %j, which is no currency, is none', (spelled) => {
    expect(moneyIn(12, spelled)).toBeUndefined()
    expect(moneyIn('twelve', 'USD')).toBeUndefined()
  })

  it.each<[unknown, string]>([
    [25_000.5, 'IQD'],
    ['0.001', 'USD'],
    [12.505, 'USD'],
    [0.1 + 0.2, 'USD'],
    ['1.0001', 'KWD'],
  ])(
    '%j of %s has too many decimals for the currency, and is refused, not rounded',
    (value, code) => {
      expect(toMinor(value, code)).toBeUndefined()
    },
  )

  it.each([
    '',
    ' ',
    '.5',
    '5.',
    '1,000',
    '1_000',
    '1e3',
    '0x10',
    '+5',
    '--5',
    '5 IQD',
    '٥',
    'NaN',
    'Infinity',
    '9999999999999999999',
    Number.NaN,
    Number.POSITIVE_INFINITY,
    1e21,
    null,
    undefined,
    true,
    [5],
    { amount: 5 },
  ])('%j is not an amount', (value) => {
    expect(toMinor(value, 'IQD')).toBeUndefined()
    expect(toMinor(value, 'USD')).toBeUndefined()
  })

  it('is refused above the largest safe integer', () => {
    expect(toMinor('90071992547409.91', 'USD')).toBe(Number.MAX_SAFE_INTEGER)
    expect(toMinor('90071992547409.92', 'USD')).toBeUndefined()
  })

  it('is the same after it was sent, as a number and as JSON', () => {
    fc.assert(
      fc.property(amount, currency, (minor, code) => {
        const sent = fromMinor(minor, code)
        expect(toMinor(sent, code)).toBe(minor)
        expect(toMinor(JSON.stringify(sent), code)).toBe(minor)
      }),
    )
  })

  it('is the same with any number of zeros at the end', () => {
    fc.assert(
      fc.property(amount, currency, fc.integer({ min: 0, max: 6 }), (minor, code, noughts) => {
        const digits = String(minorUnits(code)).length - 1
        const text = String(minor).padStart(digits + 1, '0')
        const whole = text.slice(0, text.length - digits)
        const decimal = `${whole}.${text.slice(text.length - digits)}${'0'.repeat(noughts + 1)}`
        expect(toMinor(decimal, code)).toBe(minor)
      }),
    )
  })

  it('is refused with one decimal more than the currency has', () => {
    fc.assert(
      fc.property(amount, currency, fc.integer({ min: 1, max: 9 }), (minor, code, digit) => {
        const whole = Math.floor(minor / minorUnits(code))
        const zeros = '0'.repeat(String(minorUnits(code)).length - 1)
        expect(toMinor(`${whole}.${zeros}${digit}`, code)).toBeUndefined()
      }),
    )
  })
})

describe('an amount as a text', () => {
  it.each([
    [0, 'USD', '0.00'],
    [5, 'USD', '0.05'],
    [-1_250, 'USD', '-12.50'],
    [1, 'KWD', '0.001'],
    [-7, 'IQD', '-7'],
    [0, 'IQD', '0'],
  ])('%i of %s is %s', (minor, code, text) => {
    expect(majorText(minor, code)).toBe(text)
  })

  it('is read as the same amount', () => {
    fc.assert(
      fc.property(amount, currency, (minor, code) => {
        expect(toMinor(majorText(minor, code), code)).toBe(minor)
        expect(majorText(-minor, code)).toBe(`-${majorText(minor, code)}`)
      }),
    )
  })
})

describe('an amount to charge', () => {
  it('is a whole number above zero', () => {
    fc.assert(fc.property(amount, isAmount))
    for (const value of [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, '5', null, 5n]) {
      expect(isAmount(value)).toBe(false)
    }
  })

  it('has at most 15 digits, which a decimal number keeps exactly', () => {
    const tooMany = 1_000_000_000_000_000
    expect(isAmount(tooMany - 1)).toBe(true)
    expect(isAmount(tooMany)).toBe(false)
    // Otherwise: these two are the same number for a gateway.
    expect(fromMinor(9_007_199_254_740_990, 'USD')).toBe(fromMinor(9_007_199_254_740_991, 'USD'))
  })
})

describe('a currency', () => {
  it('is three capital letters', () => {
    fc.assert(fc.property(fc.stringMatching(/^[A-Z]{3}$/), isCurrency))
    for (const code of ['', 'US', 'USDT', 'usd', 'U5D', ' USD', 'USD\n', 'ÜSD']) {
      expect(isCurrency(code)).toBe(false)
    }
  })
})
