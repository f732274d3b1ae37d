import { describe, expect, it } from 'vitest'
import { parseRoute } from '../../../../console/address.ts'
import { orderOf } from '../../../../console/payments/charge/test-order.ts'

describe('a test charge', () => {
  const form = { gateway: 'stripe', amount: '12.50', currency: 'USD', description: 'A lamp' }

  it('is in minor units, and comes back to the payments of its own reference', () => {
    const order = orderOf(form, 'test-1', 'http://127.0.0.1:8787/')
    expect(order).toMatchObject({ gateway: 'stripe', reference: 'test-1', amount: 1_250 })
    const back = new URL(order?.returnUrl ?? '')
    // As gateways do.
    back.searchParams.set('token', 'x')
    expect(parseRoute(back.hash)).toEqual({
      view: 'payments',
      query: { reference: 'test-1', open: 'newest' },
    })
  })

  it('is none without an amount', () => {
    expect(orderOf({ ...form, amount: '12.505' }, 'test-1', 'http://x/')).toBeUndefined()
  })
})
