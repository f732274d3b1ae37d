import { describe, expect, it } from 'vitest'
import { parseRoute } from '../../../console/address.ts'
import { exampleAmount, orderOf } from '../../../console/payments/test-order.ts'
import { parseAmount } from '../../../console/payments/texts.ts'

describe('a test charge', () => {
  const order = { gateway: 'stripe', amount: '12.50', currency: 'USD', description: 'A lamp' }

  it('is in minor units, and returns to the payment with its reference', () => {
    const request = orderOf(order, 'test-1', 'http://127.0.0.1:8787/')
    expect(request).toMatchObject({ gateway: 'stripe', reference: 'test-1', amount: 1_250 })
    const back = new URL(request?.returnUrl ?? '')
    // Gateways add such parameters.
    back.searchParams.set('token', 'x')
    expect(parseRoute(back.hash)).toEqual({
      view: 'payments',
      query: { reference: 'test-1', open: 'newest' },
    })
  })

  it('needs a valid amount', () => {
    expect(orderOf({ ...order, amount: '12.505' }, 'test-1', 'http://x/')).toBeUndefined()
  })

  it.each(['IQD', 'USD', 'JPY', 'KRW', 'KWD'])('has a valid example amount of %s', (currency) => {
    expect(parseAmount(exampleAmount(currency), currency)).toBeGreaterThan(0)
  })
})
