import { describe, expect, it } from 'vitest'
import { customerOf, singleFind, whyFound } from '../../../console/payments/found.ts'
import type { Transaction } from '../../../libraries/api/types.ts'

const row = {
  id: '01KA7Q2W3E4R5T6Y7U8I9O0PAS',
  gatewayTransactionId: 'cs_test_9f8e7d',
  externalReferenceId: 'ours',
  reference: 'ord-2026-10231',
  description: 'A lamp',
  amount: 25_000,
  currency: 'IQD',
  paid: { amount: 2_000, currency: 'USD' },
  metadata: { customer_name: 'زينب علي', table: 47_100 },
} as unknown as Transaction

describe('why a payment was found', () => {
  it.each([
    ['#ord 10231', 'Number'],
    ['علي', 'Customer'],
    ['lamp 10231', 'Number, Description'],
    ['471', 'table'],
    ['25.000', 'Amount'],
    ['20,00', 'Paid amount'],
    ['9F8E7D', 'Id'],
    ['she called', 'Note'],
  ])('%s: %s', (q, why) => {
    expect(whyFound(row, q)).toBe(why)
  })

  it('is not said where nothing was typed', () => {
    expect(whyFound(row, ' ')).toBeUndefined()
  })
})

describe('Enter opens', () => {
  const at = (id: string, more: object) => ({ ...row, id, ...more })
  const order = at('1', { reference: 'ORD-25000', amount: 5 })
  const [one, other] = [at('2', {}), at('3', { reference: 'ORD-2' })]

  it('the one whose number was typed, though others have it as their amount', () => {
    expect(singleFind([one, order, other], '25000')).toBe(order)
    expect(singleFind([other], '25000')).toBe(other)
  })

  it.each([
    ['25000', { reference: 'ORD-125000' }],
    ['25000', { reference: 'ORD-2', metadata: { phone: '7725000123' } }],
    ['25.000', { reference: 'ORD-25000' }],
    ['20,00', { reference: 'ORD-2000' }],
  ])('none by chance: %s is an amount of others, and a part of %j', (q, more) => {
    const chance = at('1', { amount: 5, ...more })
    expect(singleFind([one, chance, other], q)).toBeUndefined()
  })

  it('none of several that are meant', () => {
    expect(singleFind([one, other], '25000')).toBeUndefined()
    expect(singleFind([order, at('4', order)], '25000')).toBeUndefined()
    expect(singleFind([], '25000')).toBeUndefined()
    const unreadable = { id: '5', code: 'unreadable', invalid: 'It is no time.' } as const
    expect(singleFind([unreadable, order], '25000')).toBeUndefined()
  })
})

it('the customer is named as the shop gave it, the name before the address', () => {
  expect(customerOf(row)).toBe('زينب علي')
  expect(customerOf({ metadata: { email: 'z@a.iq', name: ' ' } })).toBe('z@a.iq')
  expect(customerOf({ metadata: { name: 5 } })).toBeUndefined()
  expect(customerOf({})).toBeUndefined()
})
