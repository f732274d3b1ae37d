// Whether a refund is possible, and how its result changes the payment.

import { describe, expect, it } from 'vitest'
import {
  beginRefund,
  finishRefund,
  type RefundOutcome,
  type RefundStart,
} from '../../../../worker/payments/acts/refund.ts'
import type { Payment } from '../../../../worker/payments/domain/payment.ts'
import type { AlertRow, RefundRow } from '../../../../worker/payments/domain/rows.ts'
import { PAYMENT_STATUSES, type PaymentStatus } from '../../../../worker/payments/domain/status.ts'
import { decided, RULES, rowsOf } from '../../../support/acts.ts'
import { alertRow, came, MINUTE, NOW, paymentOf, refundRow } from '../../../support/payment-rows.ts'

const start = (own: Partial<RefundStart> = {}): RefundStart => ({
  id: '02REFUND',
  gateway: 'bank',
  transactionId: '01TX',
  amount: 4_000,
  reason: 'Returned',
  fullOnly: false,
  requestHash: 'hash-2',
  mayCall: true,
  now: NOW,
  until: NOW + MINUTE,
  ...own,
})
const begun = (payment: Payment, own: RefundStart) => {
  const { answer, rows } = decided(beginRefund(own), rowsOf(payment))
  return { ...answer, refund: rows.get('refunds', own.id), payment: rows.payment('01TX') }
}
const asked = (payment: Payment, own: RefundStart) =>
  decided(beginRefund(own), rowsOf(payment)).answer
const of = (status: PaymentStatus, refunds: RefundRow[] = []) =>
  paymentOf(came(status), refunds.length > 0 ? { refunds } : {})
const begin = (status: PaymentStatus, own: Partial<RefundStart> = {}, refunds: RefundRow[] = []) =>
  asked(of(status, refunds), start(own))
const error = { code: 'refused', message: 'No.' }

describe('a new refund', () => {
  it('is claimed, with a check, and has who asked for it', () => {
    const who = { by: 'clerk', idempotencyKey: 'key-1', correlationId: 'c-1' }
    const refund = {
      id: '02REFUND',
      transaction_id: '01TX',
      amount: 4_000,
      reason: 'Returned',
      status: 'claimed',
      gateway_refund_id: null,
      idempotency_key: 'key-1',
      request_hash: 'hash-2',
      asked_by: 'clerk',
      correlation_id: 'c-1',
      error: null,
      created_at: NOW,
      updated_at: NOW,
    }
    const before = paymentOf(came('PartiallyRefunded'))
    expect(begun(before, start(who))).toMatchObject({
      state: 'begun',
      amount: 4_000,
      refund,
      payment: {
        ...before,
        transaction: { ...before.transaction, next_check_at: NOW + MINUTE },
        refunds: [...before.refunds, refund],
      },
    })
    const bare = { idempotency_key: null, correlation_id: null, asked_by: null }
    expect(begun(of('Paid'), start())).toMatchObject({ refund: bare })
  })

  it('is not claimed where the gateway may not be called, nor of an unknown payment', () => {
    expect(begin('Paid', { mayCall: false })).toEqual({ state: 'not_admitted' })
    expect(begin('Pending', { mayCall: false }).state).toBe('not_refundable')
    expect(decided(beginRefund(start()), {}).answer).toEqual({ state: 'unknown_transaction' })
  })

  it('of money that came late is possible while its alert is open', () => {
    const late = { ...came('Paid'), status: 'Expired' } as const
    const stateOf = (...alerts: AlertRow[]) => asked(paymentOf(late, { alerts }), start()).state
    expect(stateOf(alertRow())).toBe('begun')
    expect(stateOf(alertRow({ acknowledged_at: NOW }))).toBe('not_refundable')
  })

  it('waits for one that is claimed, until its check if it has one', () => {
    const waiting = (next_check_at: number | null) =>
      asked(paymentOf({ ...came('Paid'), next_check_at }, { refunds: [refundRow()] }), start())
    expect(waiting(NOW)).toStrictEqual({ state: 'in_progress', nextCheckAt: NOW })
    expect(waiting(null)).toStrictEqual({ state: 'in_progress' })
  })

  it.each(PAYMENT_STATUSES)(
    'of a payment that is %s is possible only if money is left',
    (status) => {
      const isPaid = status === 'Paid' || status === 'PartiallyRefunded'
      expect(begin(status).state).toBe(isPaid ? 'begun' : 'not_refundable')
      const nothing = paymentOf({ ...came(status), paid_amount: -5, refunded_amount: 0 })
      expect(asked(nothing, start())).toEqual({ state: 'not_refundable', status })
    },
  )

  it('is at most what is left', () => {
    for (const [status, left] of [
      ['Paid', 25_000],
      ['PartiallyRefunded', 20_000],
    ] as const) {
      expect(begin(status, { amount: left }).state).toBe('begun')
      expect(begin(status, { amount: left + 1 })).toMatchObject({ state: 'too_much', left })
    }
    // More was paid than requested.
    const more = paymentOf({ ...came('Paid'), paid_amount: 30_000 })
    expect(asked(more, start({ amount: 30_000 })).state).toBe('begun')
  })

  it('at a gateway with full refunds only is requested with the amount of the charge', () => {
    const paid = paymentOf({ ...came('Paid'), paid_amount: 20_000 })
    const full = (amount: number) => begun(paid, start({ fullOnly: true, amount }))
    expect(full(25_000)).toMatchObject({ state: 'begun', refund: { amount: 20_000 } })
    expect(full(20_000).state).toBe('not_full')
  })

  it('is at most what is left beside those that were accepted', () => {
    const accepted = refundRow({ status: 'accepted', amount: 20_000 })
    expect(begin('Paid', { amount: 5_000 }, [accepted]).state).toBe('begun')
    expect(begin('Paid', { amount: 5_001 }, [accepted])).toMatchObject({ left: 5_000 })
    const all = refundRow({ status: 'accepted', amount: 25_000 })
    expect(begin('Paid', { amount: 1 }, [all]).state).toBe('in_progress')
  })

  it.each(['claimed', 'accepted', 'succeeded', 'failed'] as const)(
    'finds one with its key that is %s, and another key waits for one whose outcome is unknown',
    (status) => {
      const refund = refundRow({ status, idempotency_key: 'key-1', error: JSON.stringify(error) })
      const same = begin('Paid', { idempotencyKey: 'key-1' }, [refund])
      const STATES = {
        claimed: { state: 'in_progress', nextCheckAt: expect.any(Number) },
        accepted: { state: 'answered', result: { success: true, refundedAmount: 4_000 } },
        succeeded: { state: 'answered', result: { refundId: '01REFUND' } },
        failed: { state: 'refused', error },
      }
      expect(same).toMatchObject(STATES[status])
      const other = { idempotencyKey: 'key-1', requestHash: 'hash-3' }
      expect(begin('Paid', other, [refund])).toEqual({ state: 'conflict' })
      const next = status === 'claimed' ? 'in_progress' : 'begun'
      expect(begin('Paid', {}, [refund]).state).toBe(next)
    },
  )

  it('is the same one if its own call is repeated', () => {
    const mine = refundRow({ id: '02REFUND', amount: 3_000 })
    expect(begun(of('Paid', [mine]), start())).toMatchObject({ state: 'begun', refund: mine })
    const failed = { ...mine, status: 'failed', error: null } as const
    expect(begin('Paid', {}, [failed])).toMatchObject({ error: { code: 'refund_failed' } })
  })
})

describe('a finished refund', () => {
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
    const earlier = paymentOf({ ...came(status), ...more })
    return finished({ ...earlier, refunds: [...earlier.refunds, refund] }, RESULTS[kind])
  }
  const finished = (payment: Payment, result: RefundOutcome) => {
    const end = { refundId: '01REFUND', now: NOW, result }
    const { rows, events } = decided(finishRefund(end, RULES), rowsOf(payment))
    return { payment: rows.payment('01TX') ?? payment, events }
  }

  it('that is done adds its amount, and fires an event', () => {
    const part = end('Paid', refundRow(), 'done')
    expect(part.payment).toMatchObject({
      transaction: { status: 'PartiallyRefunded', refunded_amount: 4_000, next_check_at: null },
      refunds: [{ status: 'succeeded', gateway_refund_id: 'back-1' }],
    })
    expect(part.payment.transaction.refund_revision).toBe(1)
    expect(part.events).toMatchObject([{ id: '01REFUND', type: 'PaymentRefunded' }])
    const all = end('Paid', refundRow({ amount: 25_000 }), 'done')
    expect(all.payment.transaction).toMatchObject({ status: 'Refunded', refunded_amount: 25_000 })
    const less = end('Paid', refundRow({ amount: 20_000 }), 'done', { paid_amount: 20_000 })
    expect(less.payment.transaction).toMatchObject({ status: 'Refunded' })
  })

  it.each(['succeeded', 'failed'] as const)('changes nothing if it %s before', (status) => {
    for (const kind of ['done', 'accepted', 'refused', 'unknown', 'unsent'] as const) {
      const refund = refundRow({ status, gateway_refund_id: 'back-1' })
      const { payment, events } = end('Paid', refund, kind)
      expect(payment).toEqual(paymentOf(came('Paid'), { refunds: [refund] }))
      expect(events).toEqual([])
    }
  })

  it('that was not sent has failed without its key, so that the same request can be sent', () => {
    const { payment } = end('Paid', refundRow({ idempotency_key: 'key-1' }), 'unsent')
    expect(payment.refunds).toMatchObject([{ status: 'failed', idempotency_key: null }])
    expect(payment.transaction.next_check_at).toBeNull()
    expect(asked(payment, start({ idempotencyKey: 'key-1' })).state).toBe('begun')
  })

  it('keeps the first id that the gateway gave it, and has none if none is given', () => {
    const idAfter = (refund: RefundRow, gatewayRefundId?: string) =>
      finished(paymentOf(came('Paid'), { refunds: [refund] }), {
        kind: 'done',
        ...(gatewayRefundId !== undefined && { gatewayRefundId }),
      }).payment.refunds[0]?.gateway_refund_id
    const named = refundRow({ gateway_refund_id: 'back-1' })
    expect([idAfter(named, 'back-2'), idAfter(named), idAfter(refundRow())]).toEqual([
      'back-1',
      'back-1',
      null,
    ])
  })

  it('keeps the check while another one is under way, and an unknown one gets its own', () => {
    const other = refundRow({ id: 'other', status: 'accepted' })
    const payment = paymentOf(
      { ...came('Paid'), next_check_at: 7 },
      { refunds: [other, refundRow()] },
    )
    const done = finished(payment, { kind: 'done' })
    expect(done.payment.transaction.next_check_at).toBe(7)
    const unknown = end('Paid', refundRow(), 'unknown', { next_check_at: 7 })
    expect(unknown.payment.transaction.next_check_at).toBe(NOW + 5)
  })

  it('that is accepted is checked later, that is refused at once: others may be unknown here', () => {
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
    expect(refused.transaction).toMatchObject({ status: 'Paid', next_check_at: NOW })
    expect(refused.refunds).toMatchObject([{ status: 'failed', error: JSON.stringify(error) }])
  })
})
