import { describe, expect, it } from 'vitest'
import { dayAfter, isMonth, monthAfter, monthSums, spanOf } from '../../../console/books/months.ts'

describe('a month of the books', () => {
  it('has a month before and after it, and the span of its days', () => {
    expect([monthAfter('2026-12', 1), monthAfter('2026-01', -1)]).toEqual(['2027-01', '2025-12'])
    expect(spanOf('2026-11')).toEqual({ after: '2026-11-01', before: '2026-12-01' })
    expect(dayAfter('2026-02-28')).toBe('2026-03-01')
    expect(['2026-11', '2026-13', '11', undefined].map(isMonth)).toEqual([
      true,
      false,
      false,
      false,
    ])
  })

  it('is the sum of its days, by gateway and currency', () => {
    const sum = (amountMinor: number, paid: number, currency = 'USD') => ({
      gateway: 'stripe',
      currency,
      amount: '',
      amountMinor,
      kinds: { paid: { count: 1, amount: '', amountMinor: paid } },
    })
    const days = [
      { day: '2026-11-01', sums: [sum(1_000, 1_200), sum(5, 5, 'EUR')] },
      { day: '2026-11-02', sums: [sum(-250, 100)] },
    ]
    expect(monthSums(days)).toMatchObject([
      { currency: 'EUR', amount: '0.05' },
      {
        currency: 'USD',
        amount: '7.50',
        amountMinor: 750,
        kinds: { paid: { count: 2, amount: '13.00', amountMinor: 1_300 } },
      },
    ])
  })
})
