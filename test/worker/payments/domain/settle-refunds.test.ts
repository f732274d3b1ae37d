// What follows for a payment when its refunds have changed.

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { settleRefunds } from '../../../../worker/payments/domain/refunds.ts'
import type { RefundRow } from '../../../../worker/payments/domain/rows.ts'
import { PAYMENT_STATUSES } from '../../../../worker/payments/domain/status.ts'
import { came, NOW, paymentOf, refundRow } from '../../../support/payment-rows.ts'

const refund = (id: string, more: Partial<RefundRow> = {}) => refundRow({ id, ...more })
const paid = (...refunds: RefundRow[]) =>
  paymentOf({ ...came('Paid'), paid_currency: 'USD' }, { refunds })

describe('what follows from changed refunds', () => {
  const cause = { id: '01CAUSE', correlationId: 'c-9', now: NOW }
  const failing = (row: RefundRow, before = row, more = {}) =>
    settleRefunds(paid(before), paid({ ...row, status: 'failed' }), { ...cause, ...more }).alerts

  it('is an alert for each that has failed since, with who asked for it', () => {
    const row = refund('a', { gateway_refund_id: 'g', asked_by: 'ada', error: '{"code":"x"}' })
    const detail = { reference: 'order-1', amount: 4_000, currency: 'USD' }
    const ofOurs = { refundId: 'a', gatewayRefundId: 'g', askedBy: 'ada', error: { code: 'x' } }
    expect(failing(row, row, { eventId: 'event-1' })).toEqual([
      {
        kind: 'refund_failed',
        subject: 'a',
        gateway: 'bank',
        transactionId: '01TX',
        createdAt: NOW,
        detail: { ...detail, eventId: 'event-1', ...ofOurs },
      },
    ])
    // Made at the gateway, its id there is the one that people know.
    const theirs = { request_hash: null, gateway_refund_id: 'g' }
    for (const [row, refundId] of [
      [refund('a'), 'a'],
      [refund('a', { request_hash: null }), 'a'],
      [refund('a', theirs), 'g'],
    ] as const) {
      expect(failing(row)[0]?.detail).toStrictEqual({ ...detail, refundId })
    }
    expect(failing({ ...row, status: 'failed' })).toEqual([])
    const before = [refund('a', { status: 'failed' }), refund('b')]
    const after = ['a', 'b', 'c'].map((id) => refund(id, { status: 'failed' }))
    const { alerts } = settleRefunds(paid(...before), paid(...after), cause)
    expect(alerts.map(({ subject }) => subject)).toEqual(['b', 'c'])
  })

  it('is the sum of those that were made, with one event for each change', () => {
    const amount = fc.constantFrom(0, 4_000, 25_000)
    const row = fc.record({ amount, status: fc.constantFrom('accepted', 'succeeded', 'failed') })
    const rows = fc.array(row, { maxLength: 4 })
    const status = fc.constantFrom(...PAYMENT_STATUSES)
    fc.assert(
      fc.property(status, fc.boolean(), amount, rows, (status, isLate, paid_amount, states) => {
        const isEnd = ['Failed', 'Cancelled', 'Expired'].includes(status)
        const late = isEnd && isLate ? { paid_at: NOW - 9 } : {}
        const before = paymentOf({ ...came(status), ...late, paid_amount }, { refunds: [] })
        const refunds = states.map((each, at) => refund(String(at), each))
        const { payment, events } = settleRefunds(before, { ...before, refunds }, cause)
        const { transaction: was } = before
        const is = payment.transaction
        if (was.paid_at === null) {
          expect([is, events]).toEqual([was, []])
          return
        }
        const made = refunds.filter((row) => row.status === 'succeeded')
        const sum = Math.min(
          paid_amount,
          made.reduce((all, row) => all + row.amount, 0),
        )
        const isAll = sum > 0 && sum === paid_amount
        const next = isAll
          ? 'Refunded'
          : sum > 0 && status === 'Paid'
            ? 'PartiallyRefunded'
            : status
        expect([is.refunded_amount, is.status]).toEqual([sum, isEnd ? status : next])
        const isChanged = sum !== was.refunded_amount || is.status !== status
        const type = is.status === status ? 'RefundAmountChanged' : 'PaymentRefunded'
        const previous = is.status === status && { previousRefundedAmount: was.refunded_amount }
        const event = { id: '01CAUSE', type, correlationId: 'c-9', createdAt: NOW, ...previous }
        expect(events).toEqual(isChanged ? [{ ...event, transaction: is }] : [])
        expect(is.refund_revision).toBe(events.length)
        expect(is.updated_at).toBe(isChanged ? NOW : was.updated_at)
      }),
    )
  })
})
