// An order that is paid twice: which payments are of one order, and its alert.

import { describe, expect, it } from 'vitest'
import { decideInOrder, isOfOrder } from '../../../../worker/payments/domain/alerts.ts'
import { type Payment, unchanged } from '../../../../worker/payments/domain/payment.ts'
import type { AlertRow } from '../../../../worker/payments/domain/rows.ts'
import { alertRow, came, NOW, paymentOf, transactionRow } from '../../../support/payment-rows.ts'

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

const LATE = { ...came('Paid'), status: 'Cancelled' } as const
const row = (kind: AlertRow['kind'], own: Partial<AlertRow> = {}) =>
  alertRow({ id: `01${kind}`, kind, ...own })
const bySomebody = { acknowledged_at: 7, acknowledged_by: 'ada' }
const byRefund = { acknowledged_at: 7, acknowledged_by: 'refund' }
const payment = (id: string, own: Parameters<typeof paymentOf>[0], ...alerts: AlertRow[]) =>
  paymentOf({ id, attempt: Number(id), gateway: `bank-${id}`, ...own }, { alerts, refunds: [] })

/** The decision that takes payment 2 from one state to the next. */
const decide = (before: Payment, after: Payment, ...others: Payment[]) =>
  decideInOrder(before, unchanged(after), others, NOW)
const pending = payment('2', {})
const second = payment('2', came('Paid'))

describe('a payment of an order that is paid already', () => {
  it('raises an alert that names the newest other one, beside what was decided', () => {
    const before = { kind: 'amount_mismatch', subject: 'a' } as never
    const [decided, ...rest] = decideInOrder(
      pending,
      { ...unchanged(second), alerts: [before] },
      [payment('3', LATE), payment('4', {}), payment('1', came('Paid'))],
      NOW,
    )
    expect(rest).toEqual([])
    expect(decided?.payment).toBe(second)
    expect(decided?.alerts).toEqual([
      before,
      {
        kind: 'double_payment',
        subject: '2',
        transactionId: '2',
        gateway: 'bank-2',
        createdAt: NOW,
        detail: {
          reference: 'order-1',
          amount: 25_000,
          currency: 'IQD',
          otherTransactionId: '3',
          otherGateway: 'bank-3',
        },
      },
    ])
  })

  it('names what was paid, else what was asked for', () => {
    const detailOf = (own: Parameters<typeof paymentOf>[0]) =>
      decide(pending, payment('2', own), payment('1', LATE))[0]?.alerts[0]?.detail
    const other = { ...came('Paid'), paid_amount: 9, paid_currency: 'USD' }
    expect(detailOf(other)).toMatchObject({ amount: 9, currency: 'USD' })
    const unknown = { ...came('Paid'), paid_amount: null, paid_currency: null }
    expect(detailOf(unknown)).toMatchObject({ amount: 25_000, currency: 'IQD' })
  })

  const settledByHand = row('late_payment', { ...bySomebody, gateway_reference: 'by hand' })
  it.each<[string, Payment, Payment, Payment[]]>([
    ['the only one', pending, second, []],
    ['beside an unpaid one', pending, second, [payment('1', {})]],
    ['beside a refunded one', pending, second, [payment('1', came('Refunded'))]],
    ['beside money that was sent back', pending, second, [payment('1', LATE, settledByHand)]],
    ['begun with repeat', pending, payment('2', { ...came('Paid'), is_repeat: 1 }), [second]],
    ['already known to be paid', second, second, [payment('1', came('Paid'))]],
    ['not paid yet', pending, pending, [payment('1', came('Paid'))]],
  ])('raises none if it is %s', (_, before, after, others) => {
    expect(decide(before, after, ...others)).toEqual([unchanged(after)])
  })
})

describe('the refund of one of two payments', () => {
  const open = row('double_payment')
  const rest = [row('amount_mismatch'), row('double_payment', { ...bySomebody, id: 'seen' })]
  const refunded = payment('2', came('Refunded'), open, ...rest)

  it('settles the alerts of both, and no other', () => {
    const other = payment('1', came('Paid'), open)
    const decisions = decide({ ...second, alerts: refunded.alerts }, refunded, other)
    const settled = { ...open, acknowledged_at: NOW, acknowledged_by: 'refund' }
    expect(decisions.map(({ payment }) => payment.transaction.id)).toEqual(['2', '1'])
    expect(decisions.map(({ payment }) => payment.alerts)).toEqual([[...rest, settled], [settled]])
    expect(decisions.flatMap(({ events, alerts }) => [...events, ...alerts])).toEqual([])
  })

  it('settles none while two others are paid', () => {
    const others = [payment('1', came('Paid')), payment('3', came('Paid'))]
    expect(decide(second, refunded, ...others)).toEqual([unchanged(refunded)])
  })

  it('opens what it has settled again if it fails, whichever payment has the alert', () => {
    const settled = row('double_payment', byRefund)
    const reopened = {
      ...settled,
      created_at: NOW + 1,
      acknowledged_at: null,
      acknowledged_by: null,
    }
    const before = payment('2', came('Refunded'))
    const own = payment('2', came('Paid'), settled, row('late_payment', byRefund))
    const bare = payment('1', came('Paid'))
    const [decided, ...others] = decide(before, own, bare)
    expect(decided?.payment.alerts).toEqual([row('late_payment', byRefund), reopened])
    expect(decided?.alerts).toEqual([])
    expect(others).toEqual([unchanged(bare)])
    const ofOther = decide(before, second, bare, { ...bare, alerts: [settled] })
    expect(ofOther.map(({ alerts }) => alerts)).toEqual([[], [], []])
    expect(ofOther.map(({ payment }) => payment.alerts)).toEqual([[], [], [reopened]])
  })

  it('raises a new alert if it fails and had settled none', () => {
    const before = payment('2', came('Refunded'))
    const seen = payment('1', came('Paid'), row('double_payment', bySomebody))
    const decisions = decide(before, second, seen)
    expect(decisions.map(({ alerts }) => alerts.map(({ kind }) => kind))).toEqual([
      ['double_payment'],
    ])
    // Paid for the first time, nothing of before is opened.
    const first = decide(
      pending,
      second,
      payment('1', came('Paid'), row('double_payment', byRefund)),
    )
    expect(first).toMatchObject([{ alerts: [{ kind: 'double_payment' }] }])
  })
})
