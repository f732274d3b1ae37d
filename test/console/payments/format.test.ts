import { describe, expect, it } from 'vitest'
import {
  amountText,
  money,
  moneyParts,
  parseAmount,
  STATUSES,
} from '../../../console/payments/format.ts'
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
    expect(parseAmount(' 25,000 ', 'IQD')).toBe(25_000)
    expect(parseAmount('12.345', 'USD')).toBeUndefined()
    expect(parseAmount('0', 'USD')).toBeUndefined()
    expect(parseAmount('-5', 'USD')).toBeUndefined()
    expect(parseAmount('1e3', 'USD')).toBeUndefined()
    expect(parseAmount('', 'USD')).toBeUndefined()
  })
})

it('every status has a name', () => {
  expect(new Set(Object.keys(STATUSES))).toEqual(new Set(PAYMENT_STATUSES))
})
