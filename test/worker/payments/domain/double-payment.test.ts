import { expect, it } from 'vitest'
import { isOfOrder } from '../../../../worker/payments/domain/double-payment.ts'
import { transactionRow } from '../../../support/payment-rows.ts'

const paid = transactionRow({ id: '1', gateway: 'shop-a' })

it.each([
  ['at another gateway', { gateway: 'shop-b' }, true, false],
  ['at the same gateway', { gateway: 'shop-a' }, true, true],
  ['begun with repeat', { gateway: 'shop-a', is_repeat: 1 }, false, false],
  ['of another reference', { gateway: 'shop-a', reference: 'order-2' }, false, false],
] as const)('a payment %s is of the same order as the references say', (_, own, shared, apart) => {
  const other = transactionRow({ id: '2', ...own })
  expect(isOfOrder(paid, other, 'shared')).toBe(shared)
  expect(isOfOrder(paid, other, 'per-gateway')).toBe(apart)
  expect(isOfOrder(paid, paid, 'shared')).toBe(false)
})
