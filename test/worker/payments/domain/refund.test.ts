// Whether a refund may be made, and what its end makes of the payment.

import { describe, expect, it } from 'vitest'
import {
  beginRefund,
  finishRefund,
  type RefundOutcome,
  type RefundStart,
} from '../../../../worker/payments/domain/refund.ts'
import type { RefundRow } from '../../../../worker/payments/domain/rows.ts'
import { PAYMENT_STATUSES, type PaymentStatus } from '../../../../worker/payments/domain/status.ts'
import { came, MINUTE, NOW, paymentOf, refundRow, typesOf } from '../../../support/payment-rows.ts'

const start = (own: Partial<RefundStart> = {}): RefundStart => ({
  ...{ id: '02REFUND', gateway: 'bank', transactionId: '01TX', amount: 4_000, reason: 'Returned' },
  ...{ fullOnly: false, requestHash: 'hash-2', now: NOW, until: NOW + MINUTE },
  ...own,
})
const begin = (status: PaymentStatus, own: Partial<RefundStart> = {}, refunds: RefundRow[] = []) =>
  beginRefund(paymentOf(came(status), { refunds }), start(own))
const error = { code: 'refused', message: 'No.' }

describe('a refund that begins', () => {
  it('is claimed, with what went back before it, and due for a check', () => {
    const begun = begin('PartiallyRefunded')
    expect(begun).toMatchObject({
      state: 'begun',
      refund: { id: '02REFUND', status: 'claimed', amount: 4_000, refunded_before: 5_000 },
      payment: { transaction: { next_check_at: NOW + MINUTE }, refunds: [{ id: '02REFUND' }] },
    })
  })

  it.each(PAYMENT_STATUSES)(
    'of a payment that is %s is possible only where money is left',
    (status) => {
      const isPaid = status === 'Paid' || status === 'PartiallyRefunded'
      expect(begin(status).state).toBe(isPaid ? 'begun' : 'not_refundable')
      const nothing = paymentOf({ ...came(status), paid_amount: -5, refunded_amount: 0 })
      expect(beginRefund(nothing, start())).toEqual({ state: 'not_refundable', status })
    },
  )

  it('is of no more than is left', () => {
    for (const [status, left] of [
      ['Paid', 25_000],
      ['PartiallyRefunded', 20_000],
    ] as const) {
      expect(begin(status, { amount: left }).state).toBe('begun')
      expect(begin(status, { amount: left + 1 })).toMatchObject({ state: 'too_much', left })
    }
  })

  it('of a gateway that gives back all or nothing is asked for by the charge’s amount', () => {
    const paid = paymentOf({ ...came('Paid'), paid_amount: 20_000 })
    const full = (amount: number) => beginRefund(paid, start({ fullOnly: true, amount }))
    expect(full(25_000)).toMatchObject({ state: 'begun', refund: { amount: 20_000 } })
    expect(full(20_000).state).toBe('not_full')
  })

  it.each(['claimed', 'accepted', 'succeeded', 'failed'] as const)(
    'finds one of its key that is %s, and waits for one that is under way',
    (status) => {
      const refund = refundRow({ status, idempotency_key: 'key-1', error: JSON.stringify(error) })
      const same = begin('Paid', { idempotencyKey: 'key-1' }, [refund])
      const STATES = {
        claimed: { state: 'in_progress' },
        accepted: { state: 'answered', result: { success: true, refundedAmount: 4_000 } },
        succeeded: { state: 'answered', result: { refundId: '01REFUND' } },
        failed: { state: 'refused', error },
      }
      expect(same).toMatchObject(STATES[status])
      const other = { idempotencyKey: 'key-1', requestHash: 'hash-3' }
      expect(begin('Paid', other, [refund])).toEqual({ state: 'conflict' })
      const isUnderWay = status === 'claimed' || status === 'accepted'
      expect(begin('Paid', {}, [refund]).state).toBe(isUnderWay ? 'in_progress' : 'begun')
    },
  )

  it('is the same one when its own call comes again', () => {
    const mine = refundRow({ id: '02REFUND', amount: 3_000 })
    expect(begin('Paid', {}, [mine])).toMatchObject({ state: 'begun', refund: mine })
    const failed = { ...mine, status: 'failed', error: null } as const
    expect(begin('Paid', {}, [failed])).toMatchObject({ error: { code: 'refund_failed' } })
  })
})

describe('a refund that ends', () => {
  const RESULTS: Record<RefundOutcome['kind'], RefundOutcome> = {
    done: { kind: 'done', gatewayRefundId: 'back-1' },
    accepted: { kind: 'accepted', gatewayRefundId: 'back-1', nextCheckAt: NOW + 5 },
    refused: { kind: 'refused', error },
    unknown: { kind: 'unknown', nextCheckAt: NOW + 5 },
    unsent: { kind: 'unsent' },
  }
  const end = (
    status: PaymentStatus,
    refund: RefundRow,
    kind: RefundOutcome['kind'],
    more = {},
  ) => {
    const payment = paymentOf({ ...came(status), ...more }, { refunds: [refund] })
    return finishRefund(payment, refund, { now: NOW, result: RESULTS[kind] })
  }

  it('as done moves its payment by what went back before it and by its amount', () => {
    const part = end('Paid', refundRow(), 'done')
    expect(part.payment).toMatchObject({
      transaction: { status: 'PartiallyRefunded', refunded_amount: 4_000, next_check_at: null },
      refunds: [{ status: 'succeeded', gateway_refund_id: 'back-1' }],
    })
    expect(part.events).toMatchObject([{ id: '01REFUND', type: 'PaymentRefunded' }])
    const all = end('Paid', refundRow({ amount: 25_000 }), 'done')
    expect(all.payment.transaction).toMatchObject({ status: 'Refunded', refunded_amount: 25_000 })
  })

  it('as done after another part adds up, without an event until all of it is back', () => {
    const more = end('PartiallyRefunded', refundRow({ refunded_before: 5_000 }), 'done')
    expect(more.payment.transaction).toMatchObject({ refunded_amount: 9_000 })
    expect(more.events).toEqual([])
    const rest = refundRow({ refunded_before: 5_000, amount: 20_000 })
    expect(typesOf(end('PartiallyRefunded', rest, 'done').events)).toEqual(['PaymentRefunded'])
  })

  it('counts once when a webhook has told of it before', () => {
    const refund = refundRow({ refunded_before: 1_000 })
    const told = end('PartiallyRefunded', refund, 'done')
    expect(told.payment.transaction.refunded_amount).toBe(5_000)
    const settled = end('PartiallyRefunded', { ...refund, status: 'succeeded' }, 'done')
    expect(settled.payment.transaction).toMatchObject({ refunded_amount: 5_000 })
    expect(settled.events).toEqual([])
  })

  it.each(['succeeded', 'failed'] as const)('changes nothing where it %s before', (status) => {
    for (const kind of ['done', 'accepted', 'refused', 'unknown', 'unsent'] as const) {
      const refund = refundRow({ status, gateway_refund_id: 'back-1' })
      const { payment, events } = end('Paid', refund, kind)
      expect(payment).toEqual(paymentOf(came('Paid'), { refunds: [refund] }))
      expect(events).toEqual([])
    }
  })

  it('as unsent has failed and gives up its key, so that the same request may be sent', () => {
    const { payment } = end('Paid', refundRow({ idempotency_key: 'key-1' }), 'unsent')
    expect(payment.refunds).toMatchObject([{ status: 'failed', idempotency_key: null }])
    expect(payment.transaction.next_check_at).toBeNull()
    expect(beginRefund(payment, start({ idempotencyKey: 'key-1' })).state).toBe('begun')
  })

  it('as accepted is checked when its first answer said, and as refused no more', () => {
    const accepted = end('Paid', refundRow(), 'accepted').payment
    expect(accepted).toMatchObject({
      transaction: { status: 'Paid', next_check_at: NOW + 5 },
      refunds: [{ status: 'accepted', gateway_refund_id: 'back-1' }],
    })
    for (const kind of ['accepted', 'unknown'] as const) {
      const again = end('Paid', refundRow({ status: 'accepted' }), kind, { next_check_at: 7 })
      expect(again.payment.transaction.next_check_at).toBe(7)
    }
    const refused = end('Paid', refundRow({ status: 'accepted' }), 'refused').payment
    expect(refused.transaction).toMatchObject({ status: 'Paid', next_check_at: null })
    expect(refused.refunds).toMatchObject([{ status: 'failed', error: JSON.stringify(error) }])
  })
})
