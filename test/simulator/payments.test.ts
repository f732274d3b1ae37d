import { beforeEach, describe, expect, it } from 'vitest'
import { mollie } from '../../simulator/mollie.ts'
import type { Action, Order, Refund, Rules, State } from '../../simulator/payments.ts'
import { PaymentStore } from '../../simulator/payments.ts'
import { redirect } from '../../simulator/redirect.ts'
import { stripe } from '../../simulator/stripe.ts'

const ORDER: Order = {
  gateway: 'redirect',
  reference: 'order-1',
  externalReference: 'ext-1',
  amount: 25_000,
  currency: 'IQD',
  description: 'Delivery',
  expiresInMs: 60_000,
}

const RULES: Readonly<Record<string, Rules>> = { stripe, mollie }

let ids = 0
let payments: PaymentStore
beforeEach(() => {
  ids = 0
  payments = new PaymentStore({
    rulesOf: (gateway) => RULES[gateway] ?? redirect,
    newId: () => `id-${++ids}`,
  })
})

describe('the payment store', () => {
  it('opens a payment with its expiry', () => {
    const opened = payments.open(ORDER, 1_000)
    expect(opened).toMatchObject({ payment: { id: 'id-1', state: 'open', expiresAt: 61_000 } })
  })

  it('refuses a second payment with the same external reference, and returns the first', () => {
    payments.open(ORDER, 0)
    expect(payments.open({ ...ORDER, amount: 1 }, 0)).toMatchObject({
      ok: false,
      existing: { id: 'id-1', amount: 25_000 },
    })
    expect(payments.all()).toHaveLength(1)
  })

  it('opens any number of payments without an external reference', () => {
    const { externalReference: _, ...order } = ORDER
    payments.open(order, 0)
    expect(payments.open(order, 0)).toMatchObject({ ok: true, payment: { id: 'id-2' } })
  })

  it('does not find payments of the other gateway', () => {
    payments.open(ORDER, 0)
    expect(payments.find('id-1', 'redirect')).toBeDefined()
    expect(payments.find('id-1', 'fib')).toBeUndefined()
  })

  it('allows each action only in certain states', () => {
    const allowed: Record<State, Action[]> = {
      open: ['pay', 'fail', 'cancel', 'expire'],
      processing: [],
      authorized: [],
      paid: ['request_refund', 'refund'],
      failed: ['pay_late'],
      cancelled: ['pay_late'],
      expired: ['pay_late'],
      refund_requested: ['refuse_refund', 'refund'],
      refunded: [],
    }
    const ways: Record<Exclude<State, 'processing' | 'authorized'>, Action[]> = {
      open: [],
      paid: ['pay'],
      failed: ['fail'],
      cancelled: ['cancel'],
      expired: ['expire'],
      refund_requested: ['pay', 'request_refund'],
      refunded: ['pay', 'refund'],
    }
    const all = [...Object.values(allowed).flat(), 'transfer'] as const
    for (const state of Object.keys(ways) as (keyof typeof ways)[]) {
      for (const action of new Set(all)) {
        const opened = payments.open({ ...ORDER, externalReference: `${state} ${action}` }, 0)
        if (!opened.ok) throw new Error('not opened')
        for (const step of ways[state]) payments.move(opened.payment, step, { now: 1 })
        const moved = payments.move(opened.payment, action, { now: 2 })
        expect([state, action, moved.ok]).toEqual([state, action, allowed[state].includes(action)])
      }
    }
  })

  it('leaves a payment of Stripe open when a card is declined, and knows slow methods', () => {
    const opened = payments.open({ ...ORDER, gateway: 'stripe' }, 0)
    if (!opened.ok) throw new Error('not opened')
    const states = (['fail', 'cancel', 'transfer', 'expire', 'fail', 'pay'] as const).map(
      (action) => {
        const moved = payments.move(opened.payment, action, { now: 1 })
        return moved.ok ? moved.after.state : `still ${moved.state}`
      },
    )
    const kept = ['open', 'still open', 'processing', 'still processing', 'failed', 'still failed']
    expect(states).toEqual(kept)
  })

  it('refuses to refund more than is left, also by the status of an earlier refund', () => {
    const opened = payments.open({ ...ORDER, gateway: 'stripe' }, 0)
    if (!opened.ok) throw new Error('not opened')
    payments.move(opened.payment, 'pay', { now: 1 })
    const set = (id: string, amount: number, status: Refund['status']) =>
      payments.setRefund(opened.payment, { id, amount, status, metadata: {}, createdAt: 2 }, 2)
    expect(set('re-1', 25_001, 'pending')).toEqual({ ok: false, state: 'paid', left: 25_000 })
    set('re-1', 20_000, 'failed')
    set('re-2', 5_001, 'succeeded')
    expect(set('re-1', 20_000, 'succeeded')).toEqual({ ok: false, state: 'paid', left: 19_999 })
    expect(set('re-3', 0, 'succeeded')).toMatchObject({ ok: false })
    const refunds = [{ status: 'failed' }, { id: 're-2' }]
    expect(payments.find('id-1')).toMatchObject({ state: 'paid', refunds })
  })

  it('refuses to capture more than is left, and what nobody has authorized', () => {
    const opened = payments.open({ ...ORDER, gateway: 'mollie' }, 0)
    if (!opened.ok) throw new Error('not opened')
    const capture = (id: string, amount: number) =>
      payments.capture(opened.payment, { id, amount, createdAt: 2 }, false)
    expect(capture('c-1', 1)).toEqual({ ok: false, state: 'open' })
    payments.move(opened.payment, 'authorize', { now: 1 })
    expect(capture('c-2', 25_001)).toEqual({ ok: false, state: 'authorized' })
    capture('c-3', 20_000)
    expect(capture('c-4', 5_001)).toEqual({ ok: false, state: 'authorized' })
    expect(capture('c-5', 5_000)).toMatchObject({ after: { state: 'paid' } })
  })

  it('takes money for a payment that had failed', () => {
    const opened = payments.open(ORDER, 0)
    if (!opened.ok) throw new Error('not opened')
    payments.move(opened.payment, 'fail', { now: 5 })
    payments.move(opened.payment, 'pay_late', { now: 9 })
    expect(payments.find('id-1')).toMatchObject({ state: 'paid', paidAt: 9 })
  })

  it('stores when and what was paid', () => {
    const opened = payments.open(ORDER, 0)
    if (!opened.ok) throw new Error('not opened')
    payments.move(opened.payment, 'pay', { now: 5, paid: { amount: 0, currency: 'USD' } })
    expect(payments.find('id-1')).toMatchObject({ paidAt: 5, paid: { amount: 0, currency: 'USD' } })
  })
})
