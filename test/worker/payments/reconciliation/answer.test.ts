import { describe, expect, it } from 'vitest'
import { PAYMENT_STATUSES, type PaymentStatus } from '../../../../worker/payments/domain/status.ts'
import {
  type KnownStatus,
  mustApply,
  payloadOf,
} from '../../../../worker/payments/reconciliation/answer.ts'
import { came, disputeRow, transactionRow } from '../../../support/payment-rows.ts'

const answer = (status: PaymentStatus, amount = 25_000): KnownStatus => ({
  known: true,
  status,
  amount,
  currency: 'IQD',
  raw: { status: 'SUCCESS' },
})

describe('a gateway’s answer about a payment', () => {
  const ends = ['Failed', 'Cancelled', 'Expired', 'Refunded', 'PartiallyRefunded'] as const
  const unlike = (...statuses: PaymentStatus[]) => ends.filter((end) => !statuses.includes(end))
  /** By the stored status: the answers that the ledger must apply. */
  const heard: Record<PaymentStatus, readonly PaymentStatus[]> = {
    Pending: ['Paid', ...ends],
    Paid: ends,
    Failed: ['Paid', ...unlike('Failed')],
    Cancelled: ['Paid', ...unlike('Cancelled')],
    Expired: ['Paid', ...unlike('Expired')],
    Refunded: unlike('Refunded'),
    PartiallyRefunded: ends,
  }

  it.each(PAYMENT_STATUSES)('is applied to one that is %s when it differs', (from) => {
    const refunded_amount = from === 'Refunded' ? 25_000 : 10_000
    const had = transactionRow({ status: from, refunded_amount })
    const news = PAYMENT_STATUSES.filter((to) => mustApply(had, answer(to)))
    expect(new Set(news)).toEqual(new Set(heard[from]))
  })

  it('is not applied when no more was refunded than before', () => {
    const had = transactionRow({ status: 'PartiallyRefunded', refunded_amount: 10_000 })
    expect(mustApply(had, answer('PartiallyRefunded', 10_000))).toBe(false)
    expect(mustApply(had, answer('PartiallyRefunded', 10_001))).toBe(true)
  })

  it('is applied when more was captured, each time as another event', () => {
    const had = transactionRow({ ...came('Paid'), paid_amount: 10_000 })
    const captured = (amount: number): KnownStatus => ({
      ...answer('Paid', amount),
      refunds: { readAt: 0, captured: amount, refunds: [] },
    })
    expect([9_000, 10_000, 10_001].map((sum) => mustApply(had, captured(sum)))).toEqual([
      false,
      false,
      true,
    ])
    const refunded = answer('PartiallyRefunded', 5_000)
    const idOf = (sum: number) => payloadOf(had, { ...captured(sum), ...refunded }, 0).eventId
    expect(idOf(10_001)).not.toBe(idOf(10_002))
  })

  it('is applied to one whose status stayed when its refund failed, once for each refund', () => {
    const had = transactionRow({ status: 'Refunded', refunded_amount: 0, refund_revision: 2 })
    expect(mustApply(had, answer('Refunded'))).toBe(true)
    expect(mustApply(had, answer('PartiallyRefunded', 10_000))).toBe(true)
    const idAt = (refund_revision: number) =>
      payloadOf({ ...had, refund_revision }, answer('Refunded'), 0).eventId
    expect(new Set([idAt(0), idAt(2), idAt(2), idAt(4)]).size).toBe(3)
  })

  it('of a refund tells what was paid before: what was refunded of all, or reported, or charged', () => {
    const had = transactionRow(came('Pending'))
    const paid = (given: KnownStatus) => payloadOf(had, given, 0).paidAmount
    // Otherwise an amount that the policy rejects would count as the right one.
    expect(paid(answer('Refunded', 20_000))).toBe(20_000)
    expect(paid(answer('PartiallyRefunded', 5_000))).toBe(25_000)
    expect(paid({ ...answer('PartiallyRefunded', 5_000), paidAmount: 20_000 })).toBe(20_000)
    expect(paid(answer('Paid'))).toBeUndefined()
  })

  it('is applied, and is another event, for each step of a dispute', () => {
    const had = transactionRow(came('Paid'))
    const part = { id: 'dp-1', amount: 25_000, currency: 'IQD', isOut: true } as const
    const asked = (state: 'open' | 'ended', amount = 25_000): KnownStatus => ({
      ...answer('Paid'),
      disputes: { id: 'dp-1', readAt: 7, parts: [{ ...part, state, amount }] },
    })
    const stored = { disputes: [disputeRow()] }
    expect(mustApply(had, asked('open'))).toBe(true)
    expect(mustApply(had, asked('open'), stored)).toBe(false)
    expect(mustApply(had, asked('ended'), stored)).toBe(true)
    const ids = [asked('open'), asked('open', 9), asked('ended')].map(
      (given) => payloadOf(had, given, 0).eventId,
    )
    expect(ids).toContain('recheck:01TX:Paid:25000:dp-1=open25000')
    expect(new Set(ids).size).toBe(3)
    expect(payloadOf(had, asked('open'), 0)).toMatchObject({ disputes: asked('open').disputes })
  })

  it('has one event id for one status and amount, at any time', () => {
    const had = transactionRow({ gateway_transaction_id: 'g-1' })
    const [first, later] = [payloadOf(had, answer('Paid'), 1), payloadOf(had, answer('Paid'), 2)]
    expect(first).toEqual({
      gateway: 'bank',
      gatewayTransactionId: 'g-1',
      reference: 'order-1',
      externalReferenceId: 'external-1',
      status: 'Paid',
      amount: 25_000,
      currency: 'IQD',
      eventId: 'recheck:01TX:Paid:25000',
      occurredAt: 1,
      raw: { status: 'SUCCESS' },
    })
    expect(later.eventId).toBe(first.eventId)
    expect(payloadOf(had, answer('Paid', 1), 1).eventId).not.toBe(first.eventId)
  })
})
