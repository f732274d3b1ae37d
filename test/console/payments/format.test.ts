import { describe, expect, it } from 'vitest'
import {
  amountProblem,
  amountText,
  money,
  moneyParts,
  parseAmount,
  STATUSES,
  standingOf,
} from '../../../console/payments/format.ts'
import type { Transaction } from '../../../libraries/api/types.ts'
import { PAYMENT_STATUSES } from '../../../worker/payments/domain/status.ts'

/** Intl puts a no-break space between currency and number. */
const shown = (amount: number, currency: string) =>
  money(amount, currency).replaceAll('\u00a0', ' ')

describe('amounts', () => {
  it('are shown with the decimals of their currency', () => {
    expect(shown(25_000, 'IQD')).toBe('IQD 25,000')
    expect(shown(1_250, 'USD')).toBe('USD 12.50')
    expect(shown(1_250, 'KWD')).toBe('KWD 1.250')
    expect(shown(0, 'USD')).toBe('USD 0.00')
  })

  it('are shown even with an invalid currency, which a gateway may send', () => {
    expect(moneyParts(5, 'x!')).toEqual([{ isCurrency: false, text: '5 x!' }])
  })

  it('are parsed as they are shown in a field, and never rounded', () => {
    for (const [amount, currency] of [
      [25_000, 'IQD'],
      [1_250, 'USD'],
      [1, 'KWD'],
    ] as const) {
      expect(parseAmount(amountText(amount, currency), currency)).toBe(amount)
    }
    expect(amountText(1_250, 'USD')).toBe('12.50')
  })

  it.each([
    ['5.50', 'USD', 550],
    [' 5.5 ', 'USD', 550],
    ['007', 'USD', 700],
    ['25000', 'IQD', 25_000],
    ['1.250', 'KWD', 1_250],
  ])('%s %s is typed with digits and at most one point', (text, currency, amount) => {
    expect(parseAmount(text, currency)).toBe(amount)
  })

  it.each(
    // biome-ignore format: several texts a line.
    [
      '5,50', '25,000', '1,234.50', '1.234.50', '5.', '.5', '1 000', '1\u00a0000', "1'000", '-5',
      '+5', '1e3', '0x10', '٥', '５', '5.50 USD', '$5', '0', '0.00', '', ' ', 'NaN', 'Infinity',
      '12.345', '12.500', '9999999999999999',
    ],
  )('“%s” is refused, since it may be meant as another amount', (text) => {
    expect(parseAmount(text, 'USD')).toBeUndefined()
  })

  it('has no decimals that its currency does not have', () => {
    expect(parseAmount('25000.0', 'IQD')).toBeUndefined()
    expect(parseAmount('1.2500', 'KWD')).toBeUndefined()
  })

  it('is explained with an example that is accepted', () => {
    expect(amountProblem('USD')).toBe(
      'Enter the amount in USD with digits, and at most one point with 2 decimals, like 12.50.',
    )
    expect(amountProblem('IQD')).toBe('Enter the amount in IQD with digits only, like 25000.')
  })
})

it('every status has a name', () => {
  expect(new Set(Object.keys(STATUSES))).toEqual(new Set(PAYMENT_STATUSES))
})

describe('how a payment stands', () => {
  const paid = { amount: 25_000, currency: 'IQD' }
  const of = (more: object) => standingOf({ refundedAmount: 0, ...more } as Transaction).text

  it('is its status, but for money that came late, and a refund that failed', () => {
    expect(of({ status: 'Expired' })).toBe('Expired')
    expect(of({ status: 'Expired', paid })).toBe('Paid late')
    expect(of({ status: 'Cancelled', paid, refundedAmount: 25_000 })).toBe('Paid late, refunded')
    expect(of({ status: 'Refunded', paid })).toBe('Refund failed')
    expect(of({ status: 'PartiallyRefunded', paid })).toBe('Refund failed')
    expect(of({ status: 'PartiallyRefunded', paid, refundedAmount: 5 })).toBe('Partly refunded')
    // Refused for its amount, it is still open.
    expect(of({ status: 'Pending', paid })).toBe('Pending')
  })
})
