import { describe, expect, it } from 'vitest'
import {
  filtersOf,
  isFiltering,
  pagePath,
  STATUSES,
} from '../../../../console/payments/feed/filters.ts'
import { PAYMENT_STATUSES } from '../../../../worker/payments/domain/status.ts'

describe('the filters in a URL', () => {
  it('know every status', () => {
    expect([...STATUSES].sort()).toEqual([...PAYMENT_STATUSES].sort())
  })

  it('omit empty and unknown values', () => {
    expect(filtersOf({ status: 'Paid', gateway: 'fib', q: ' order-1 ' })).toEqual({
      status: 'Paid',
      gateway: 'fib',
      q: 'order-1',
    })
    expect(filtersOf({ status: 'Paied', gateway: '', q: '  ', open: 'newest' })).toEqual({})
    expect(isFiltering(filtersOf({ q: '' }))).toBe(false)
    expect(isFiltering(filtersOf({ reference: 'a' }))).toBe(true)
  })

  it('become the path of a page, for any value', () => {
    expect(pagePath({ q: 'a&b=c' }, 50)).toBe('/api/payments/transactions?q=a%26b%3Dc&limit=50')
    expect(pagePath({}, 200, 'x')).toBe('/api/payments/transactions?limit=200&cursor=x')
  })
})
