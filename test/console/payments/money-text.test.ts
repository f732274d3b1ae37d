import { describe, expect, it } from 'vitest'
import { money, moneyParts, readTyped, typed } from '../../../console/payments/money-text.ts'

/** Intl parts a code from its number by a space that does not break. */
const shown = (amount: number, currency: string) =>
  money(amount, currency).replaceAll('\u00a0', ' ')

describe('amounts', () => {
  it('are shown with as many decimals as their currency has here', () => {
    expect(shown(25_000, 'IQD')).toBe('IQD 25,000')
    expect(shown(1_250, 'USD')).toBe('USD 12.50')
    expect(shown(1_250, 'KWD')).toBe('KWD 1.250')
    expect(shown(0, 'USD')).toBe('USD 0.00')
  })

  it('are shown even of what is no currency: a gateway may say anything', () => {
    expect(moneyParts(5, 'x!')).toEqual([{ isCurrency: false, text: '5 x!' }])
  })

  it('are read as they are shown in a field, and never rounded', () => {
    for (const [amount, currency] of [
      [25_000, 'IQD'],
      [1_250, 'USD'],
      [1, 'KWD'],
    ] as const) {
      expect(readTyped(typed(amount, currency), currency)).toBe(amount)
    }
    expect(readTyped(' 25,000 ', 'IQD')).toBe(25_000)
    expect(readTyped('12.345', 'USD')).toBeUndefined()
    expect(readTyped('0', 'USD')).toBeUndefined()
    expect(readTyped('-5', 'USD')).toBeUndefined()
    expect(readTyped('1e3', 'USD')).toBeUndefined()
    expect(readTyped('', 'USD')).toBeUndefined()
  })
})
