import { describe, expect, it } from 'vitest'
import { PAYMENT_STATUSES, type PaymentStatus } from '../../../../worker/payments/domain/status.ts'
import {
  isNews,
  type KnownStatus,
  missedBefore,
  payloadOf,
} from '../../../../worker/payments/reconciliation/verdict.ts'
import { transaction } from '../../../support/payments.ts'

const answer = (status: PaymentStatus, amount = 25_000): KnownStatus => ({
  known: true,
  status,
  amount,
  currency: 'IQD',
  raw: { status: 'SUCCESS' },
})

describe('what a gateway says of a payment', () => {
  const ends = ['Failed', 'Cancelled', 'Expired', 'Refunded', 'PartiallyRefunded'] as const
  const unlike = (...statuses: PaymentStatus[]) => ends.filter((end) => !statuses.includes(end))
  /** By the status we have: those that the ledger hears of. */
  const heard: Record<PaymentStatus, readonly PaymentStatus[]> = {
    Pending: ['Paid', ...ends],
    Paid: ends,
    Failed: ['Paid', ...unlike('Failed')],
    Cancelled: ['Paid', ...unlike('Cancelled')],
    Expired: ['Paid', ...unlike('Expired')],
    Refunded: unlike('Refunded'),
    PartiallyRefunded: ends,
  }

  it.each(PAYMENT_STATUSES)('is news for one that is %s when it differs', (from) => {
    const had = transaction({ status: from, refundedAmount: 10_000 })
    const news = PAYMENT_STATUSES.filter((to) => isNews(had, answer(to)))
    expect(new Set(news)).toEqual(new Set(heard[from]))
  })

  it('is no news when no more was given back than before', () => {
    const had = transaction({ status: 'PartiallyRefunded', refundedAmount: 10_000 })
    expect(isNews(had, answer('PartiallyRefunded', 10_000))).toBe(false)
    expect(isNews(had, answer('PartiallyRefunded', 10_001))).toBe(true)
  })

  it('tells of the payment that was missed before a refund, in the amount that came back', () => {
    const had = transaction({ status: 'Pending' })
    const missed = (status: PaymentStatus) => missedBefore(had, answer(status, 20_000))
    // Else an amount that the policy rejects would be taken for the right one.
    expect(missed('Refunded')).toMatchObject({ status: 'Paid', amount: 20_000, currency: 'IQD' })
    expect(missed('PartiallyRefunded')).toMatchObject({ status: 'Paid', amount: 25_000 })
    const part = { ...answer('PartiallyRefunded', 5_000), paidAmount: 20_000 }
    expect(missedBefore(had, part)).toMatchObject({ status: 'Paid', amount: 20_000 })
    expect(missed('Paid')).toBeUndefined()
    expect(missedBefore(transaction({ status: 'Paid' }), answer('Refunded'))).toBeUndefined()
  })

  it('is one event for one status and amount, whenever it is said', () => {
    const had = transaction({ gatewayTransactionId: 'g-1' })
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
