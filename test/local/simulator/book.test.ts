import { beforeEach, describe, expect, it } from 'vitest'
import { Book } from '../../../local/simulator/book.ts'
import type { Action, Order, State } from '../../../local/simulator/payment.ts'

const ORDER: Order = {
  gateway: 'redirect',
  reference: 'order-1',
  externalReference: 'ext-1',
  amount: 25_000,
  currency: 'IQD',
  description: 'Delivery',
  expiresInMs: 60_000,
}

let ids = 0
let book: Book
beforeEach(() => {
  ids = 0
  book = new Book(() => `id-${++ids}`)
})

describe('the book of payments', () => {
  it('keeps a payment open until its time is over', () => {
    const opened = book.open(ORDER, 1_000)
    expect(opened).toMatchObject({ payment: { id: 'id-1', state: 'open', expiresAt: 61_000 } })
  })

  it('opens no second payment for one external reference, and names the first', () => {
    book.open(ORDER, 0)
    expect(book.open({ ...ORDER, amount: 1 }, 0)).toMatchObject({
      ok: false,
      existing: { id: 'id-1', amount: 25_000 },
    })
    expect(book.all()).toHaveLength(1)
  })

  it('opens as many payments as asked for where there is no external reference', () => {
    const { externalReference: _, ...order } = ORDER
    book.open(order, 0)
    expect(book.open(order, 0)).toMatchObject({ ok: true, payment: { id: 'id-2' } })
  })

  it('does not show one gateway the payments of the other', () => {
    book.open(ORDER, 0)
    expect(book.find('id-1', 'redirect')).toBeDefined()
    expect(book.find('id-1', 'fib')).toBeUndefined()
  })

  it('moves a payment only where its state allows', () => {
    const allowed: Record<State, Action[]> = {
      open: ['pay', 'fail', 'cancel', 'expire'],
      paid: ['request_refund', 'refund'],
      failed: ['pay_late'],
      cancelled: ['pay_late'],
      expired: ['pay_late'],
      refund_requested: ['refuse_refund', 'refund'],
      refunded: [],
    }
    const ways: Record<State, Action[]> = {
      open: [],
      paid: ['pay'],
      failed: ['fail'],
      cancelled: ['cancel'],
      expired: ['expire'],
      refund_requested: ['pay', 'request_refund'],
      refunded: ['pay', 'refund'],
    }
    const all = Object.values(allowed).flat()
    for (const state of Object.keys(allowed) as State[]) {
      for (const action of new Set(all)) {
        const opened = book.open({ ...ORDER, externalReference: `${state} ${action}` }, 0)
        if (!opened.ok) throw new Error('not opened')
        for (const step of ways[state]) book.move(opened.payment, step, { now: 1 })
        const moved = book.move(opened.payment, action, { now: 2 })
        expect([state, action, moved.ok]).toEqual([state, action, allowed[state].includes(action)])
      }
    }
  })

  it('takes money for a payment that had failed', () => {
    const opened = book.open(ORDER, 0)
    if (!opened.ok) throw new Error('not opened')
    book.move(opened.payment, 'fail', { now: 5 })
    book.move(opened.payment, 'pay_late', { now: 9 })
    expect(book.find('id-1')).toMatchObject({ state: 'paid', paidAt: 9 })
  })

  it('says when it was paid, and what was paid instead', () => {
    const opened = book.open(ORDER, 0)
    if (!opened.ok) throw new Error('not opened')
    book.move(opened.payment, 'pay', { now: 5, paid: { amount: 0, currency: 'USD' } })
    expect(book.find('id-1')).toMatchObject({ paidAt: 5, paid: { amount: 0, currency: 'USD' } })
  })
})
