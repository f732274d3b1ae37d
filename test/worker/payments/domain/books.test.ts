// What the books have of a payment.

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { movementsOf } from '../../../../worker/payments/domain/books.ts'
import type { Alert, Payment } from '../../../../worker/payments/domain/payment.ts'
import type {
  DisputeRow,
  RefundRow,
  WebhookEventRow,
} from '../../../../worker/payments/domain/rows.ts'
import {
  alertRow,
  came,
  disputeRow,
  NOW,
  paymentOf,
  refundRow,
  webhookEventRow,
} from '../../../support/payment-rows.ts'

const LATE = { ...came('Paid'), status: 'Expired' } as const
const made = (id: string, amount: number, status: RefundRow['status'] = 'succeeded') =>
  refundRow({ id, amount, status })
const booked = (
  before: Payment,
  payment: Payment,
  event?: WebhookEventRow,
  alerts: readonly Alert[] = [],
) =>
  movementsOf(before, { payment, alerts }, { now: NOW, event }).map(({ kind, amount }) => [
    kind,
    amount,
  ])
const paid = (...refunds: RefundRow[]) => paymentOf(came('Paid'), { refunds })

describe('a movement', () => {
  it('has its payment, the currency of the money, and both of its times', () => {
    const after = paymentOf({ ...came('Paid'), paid_amount: 20, paid_currency: 'USD' })
    const row = {
      id: expect.any(String),
      transaction_id: '01TX',
      gateway: 'bank',
      refund_id: null,
      kind: 'paid',
      amount: 20,
      currency: 'USD',
      booked_at: NOW,
      estimated: 0,
    }
    const decision = { payment: after, alerts: [] }
    const event = webhookEventRow()
    expect(movementsOf(paymentOf(), decision, { now: NOW, event })).toEqual([
      { ...row, occurred_at: event.occurred_at },
    ])
    const own = movementsOf(paymentOf(), decision, { now: NOW })
    expect(own).toEqual([{ ...row, occurred_at: NOW }])
  })
})

describe('the movements of a decision', () => {
  it.each<[string, Payment, Payment, unknown[]]>([
    ['the payment', paymentOf(), paid(), [['paid', 25_000]]],
    [
      'what was asked for, if what was paid is not known',
      paymentOf(),
      paymentOf({ ...came('Paid'), paid_amount: null }),
      [['paid', 25_000]],
    ],
    ['money that came after the end', paymentOf(), paymentOf(LATE), [['late_paid', 25_000]]],
    ['nothing, if it was paid before', paid(), paymentOf(LATE), []],
    [
      'nothing of refunds before it is paid',
      paymentOf(),
      paymentOf({}, { refunds: [made('a', 9)] }),
      [],
    ],
    [
      'earlier refunds with the payment',
      paymentOf({}, { refunds: [made('a', 9)] }),
      paid(made('a', 9)),
      [
        ['paid', 25_000],
        ['refunded', -9],
      ],
    ],
    [
      'a refund once it is made',
      paid(made('a', 9, 'accepted')),
      paid(made('a', 9)),
      [['refunded', -9]],
    ],
    ['a change of its amount', paid(made('a', 9)), paid(made('a', 12)), [['refunded', -3]]],
    ['nothing, if it was made before', paid(made('a', 9)), paid(made('a', 9)), []],
    ['one that fails', paid(made('a', 9)), paid(made('a', 9, 'failed')), [['refund_failed', 9]]],
    [
      'what came back before what replaces it, and no more than was paid',
      paid(made('a', 25_000)),
      paid(made('b', 30_000), made('a', 25_000, 'failed')),
      [
        ['refund_failed', 25_000],
        ['refunded', -25_000],
      ],
    ],
  ])('are %s', (_, before, after, movements) => {
    expect(booked(before, after)).toEqual(movements)
  })

  it('add up to what was paid less what was refunded, whatever its refunds do', () => {
    const status = fc.constantFrom('accepted', 'succeeded', 'failed')
    const step = fc.record({ id: fc.constantFrom('a', 'b', 'c'), status, isPaid: fc.boolean() })
    fc.assert(
      fc.property(fc.array(step), fc.constantFrom(came('Paid'), LATE), (steps, money) => {
        const rows = new Map<string, RefundRow>()
        let before = paymentOf()
        let sum = 0
        for (const { id, status, isPaid } of steps) {
          rows.set(id, made(id, 10_000, status))
          const isPaidNow = isPaid || before.transaction.paid_at !== null
          const after = paymentOf(isPaidNow ? money : {}, { refunds: [...rows.values()] })
          for (const [, amount] of booked(before, after)) sum += Number(amount)
          const back = 10_000 * after.refunds.filter((row) => row.status === 'succeeded').length
          expect(sum).toBe(isPaidNow ? 25_000 - Math.min(25_000, back) : 0)
          before = after
        }
      }),
    )
  })
})

describe('money that no payment counts', () => {
  const alert = (kind: Alert['kind']): Alert => ({
    kind,
    subject: 'its subject',
    gateway: 'bank',
    transactionId: '01TX',
    detail: {},
    createdAt: NOW,
  })
  const event = (outcome: WebhookEventRow['outcome']) =>
    webhookEventRow({ outcome, amount: 900, currency: 'USD' })
  const beside = (kind: Alert['kind'], outcome: WebhookEventRow['outcome'], before = paid()) =>
    movementsOf(
      before,
      { payment: before, alerts: [alert(kind)] },
      { now: NOW, event: event(outcome) },
    ).map(({ kind, amount, currency }) => [kind, amount, currency])

  it('is that of a wrong amount that was refused', () => {
    expect(beside('amount_mismatch', 'rejected')).toEqual([['refused_paid', 900, 'USD']])
    expect(beside('amount_mismatch', 'applied')).toEqual([])
    expect(beside('id_mismatch', 'rejected')).toEqual([])
    expect(booked(paid(), paid(), undefined, [alert('amount_mismatch')])).toEqual([])
  })

  it('is booked once for each alert', () => {
    const known = (own: Parameters<typeof alertRow>[0]) => {
      const before = paymentOf(came('Paid'), { alerts: [alertRow(own)] })
      return beside('amount_mismatch', 'rejected', before).length
    }
    expect(known({ kind: 'amount_mismatch', subject: 'its subject' })).toBe(0)
    expect(known({ kind: 'amount_mismatch', subject: 'another' })).toBe(1)
    expect(known({ kind: 'late_payment', subject: 'its subject' })).toBe(1)
  })
})

describe('what banks have taken of disputes', () => {
  const out = (id: string, out_amount: number, own: Partial<DisputeRow> = {}) =>
    disputeRow({ id, out_amount, ...own })
  const moved = (before: DisputeRow[], after: DisputeRow[]) =>
    movementsOf(
      paymentOf(came('Paid'), { disputes: before }),
      { payment: paymentOf(came('Paid'), { disputes: after }), alerts: [] },
      { now: NOW },
    ).map(({ kind, amount, currency }) => [kind, amount, currency])

  it('is booked as one amount where its parts were known only as a sum', () => {
    const sum = out('a', 50, { part: null })
    const parts = [out('a', 30), out('b', 20)]
    expect(moved([sum], parts)).toEqual([])
    expect(moved([sum], [...parts, out('c', 5)])).toEqual([['disputed', 5, 'IQD']])
    expect(moved([sum], [out('a', 0), out('b', 20)])).toEqual([['dispute_returned', -30, 'IQD']])
    expect(moved([sum], [...parts, out('d', 7, { dispute: 'other' })])).toEqual([
      ['disputed', 7, 'IQD'],
    ])
  })
})
