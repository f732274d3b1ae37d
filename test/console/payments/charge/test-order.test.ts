import { describe, expect, it } from 'vitest'
import { parseRoute } from '../../../../console/address.ts'
import { orderOf } from '../../../../console/payments/charge/test-order.ts'

describe('a test charge', () => {
  const form = { gateway: 'stripe', amount: '12.50', currency: 'USD', description: 'A lamp' }

  it('is in minor units, and returns to the payment with its reference', () => {
    const order = orderOf(form, 'test-1', 'http://127.0.0.1:8787/')
    expect(order).toMatchObject({ gateway: 'stripe', reference: 'test-1', amount: 1_250 })
    const back = new URL(order?.returnUrl ?? '')
    // Gateways add such parameters.
    back.searchParams.set('token', 'x')
    expect(parseRoute(back.hash)).toEqual({
      view: 'payments',
      query: { reference: 'test-1', open: 'newest' },
    })
  })

  it('needs a valid amount', () => {
    expect(orderOf({ ...form, amount: '12.505' }, 'test-1', 'http://x/')).toBeUndefined()
  })
})
