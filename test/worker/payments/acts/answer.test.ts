// What a gateway's answer about a payment does to it, and whether it is an event.

import { describe, expect, it } from 'vitest'
import { recordAnswer } from '../../../../worker/payments/acts/answer.ts'
import type { Payment } from '../../../../worker/payments/domain/payment.ts'
import { PAYMENT_STATUSES, type PaymentStatus } from '../../../../worker/payments/domain/status.ts'
import { answerOf, decided, type Reported, RULES, rowsOf, tells } from '../../../support/acts.ts'
import { came, disputeRow, MINUTE, NOW, paymentOf } from '../../../support/payment-rows.ts'

function take(before: Payment, report: Reported) {
  const about = { asked: before.transaction, answer: answerOf(report), now: NOW }
  const { rows, answer } = decided(recordAnswer(about, RULES), rowsOf(before))
  const [event] = rows.changesOf('webhookEvents').inserted.toReversed()
  return { rows, row: rows.payment('01TX')?.transaction ?? before.transaction, event, answer }
}

const outcomeOf = (before: Payment, told: Reported) => take(before, told).answer.outcome
const nameOf = (before: Payment, told: Reported) => take(before, told).event?.event_id

describe('a gateway’s answer about a payment', () => {
  const ends = ['Failed', 'Cancelled', 'Expired', 'Refunded', 'PartiallyRefunded'] as const
  const unlike = (...statuses: PaymentStatus[]) => ends.filter((end) => !statuses.includes(end))
  /** By the stored status: the answers that become an event. */
  const heard: Record<PaymentStatus, readonly PaymentStatus[]> = {
    Pending: ['Paid', ...ends],
    Paid: ends,
    Failed: ['Paid', ...unlike('Failed')],
    Cancelled: ['Paid', ...unlike('Cancelled')],
    Expired: ['Paid', ...unlike('Expired')],
    Refunded: unlike('Refunded'),
    PartiallyRefunded: ends,
  }

  it.each(PAYMENT_STATUSES)('becomes an event of one that is %s when it differs', (from) => {
    const news = PAYMENT_STATUSES.filter((to) => outcomeOf(paymentOf(came(from)), tells(to)))
    expect(new Set(news)).toEqual(new Set(heard[from]))
  })

  it('is no event when it tells again of money that came late, each time it is asked', () => {
    const had = paymentOf({ ...came('Cancelled'), paid_at: NOW - MINUTE, paid_amount: 25_000 })
    const told = (amount: number): Reported => ({
      ...tells('Paid', amount),
      refunds: { readAt: NOW, refunds: [] },
    })
    expect([25_000, 24_000].map((amount) => outcomeOf(had, told(amount)))).toEqual([
      undefined,
      'late_payment',
    ])
  })

  it('is no event when no more was refunded than before', () => {
    const had = paymentOf(came('PartiallyRefunded'))
    expect(outcomeOf(had, tells('PartiallyRefunded', 5_000))).toBeUndefined()
    expect(outcomeOf(had, tells('PartiallyRefunded', 5_001))).toBe('applied')
    expect(outcomeOf(paymentOf(came('Paid')), tells('PartiallyRefunded', 0))).toBeUndefined()
  })

  it('is an event when more was captured, each time another', () => {
    const had = paymentOf({ ...came('Paid'), paid_amount: 10_000 })
    const captured = (amount: number): Reported => ({
      ...tells('Paid', amount),
      refunds: { readAt: 0, captured: amount, refunds: [] },
    })
    const outcomes = [9_000, 10_000, 10_001].map((sum) => outcomeOf(had, captured(sum)))
    expect(outcomes).toEqual([undefined, undefined, 'applied'])
    const refunded = tells('PartiallyRefunded', 5_000)
    const named = (sum: number) => nameOf(had, { ...captured(sum), ...refunded })
    expect(named(10_001)).not.toBe(named(10_002))
  })

  it('is applied to one whose status stayed when its refund failed, once for each refund', () => {
    const had = (refund_revision: number) =>
      paymentOf({ ...came('Refunded'), refunded_amount: 0, refund_revision })
    expect(outcomeOf(had(2), tells('Refunded'))).toBe('applied')
    expect(outcomeOf(had(2), tells('PartiallyRefunded', 10_000))).toBe('applied')
    const names = [0, 2, 2, 4].map((revision) => nameOf(had(revision), tells('Refunded')))
    expect(new Set(names).size).toBe(3)
  })

  it('of a refund tells what was paid before: what was refunded of all, or reported, or charged', () => {
    const paid = (told: Reported) => take(paymentOf(), told).row.paid_amount
    // Otherwise an amount that the policy rejects would count as the right one.
    expect(paid(tells('Refunded', 20_000))).toBe(20_000)
    expect(paid(tells('PartiallyRefunded', 5_000))).toBe(25_000)
    expect(paid({ ...tells('PartiallyRefunded', 5_000), paidAmount: 20_000 })).toBe(20_000)
    expect(take(paymentOf(), { ...tells('Paid'), paidAmount: 7 }).event?.paid_amount).toBeNull()
  })

  it('is applied, and is another event, for each step of a dispute', () => {
    const part = { id: 'dp-1', amount: 25_000, currency: 'IQD', isOut: true } as const
    const asked = (state: 'open' | 'ended', amount = 25_000): Reported => ({
      ...tells('Paid'),
      disputes: { id: 'dp-1', readAt: NOW, parts: [{ ...part, state, amount }] },
    })
    const had = paymentOf(came('Paid'))
    const stored = paymentOf(came('Paid'), { disputes: [disputeRow()] })
    expect(nameOf(had, asked('open'))).toBe('recheck:01TX:Paid:25000:dp-1=open25000')
    expect(outcomeOf(stored, asked('open'))).toBeUndefined()
    expect(outcomeOf(stored, asked('ended'))).toBe('unchanged')
    const names = [asked('open'), asked('open', 9), asked('ended')].map((told) => nameOf(had, told))
    expect(new Set(names).size).toBe(3)
    expect(JSON.parse(take(had, asked('open')).event?.disputes ?? '')).toEqual(
      asked('open').disputes,
    )
  })

  it('has one event id for one status and amount, and the payment’s ids where it has none', () => {
    const { event, answer } = take(paymentOf(), tells('Paid'))
    expect(event).toMatchObject({
      id: '01ANSWER',
      gateway: 'bank',
      gateway_transaction_id: 'gateway-1',
      reference: 'order-1',
      external_reference_id: 'external-1',
      to_status: 'Paid',
      amount: 25_000,
      event_id: 'recheck:01TX:Paid:25000',
      correlation_id: 'correlation-1',
      occurred_at: NOW - 9,
      received_at: NOW,
      raw: '{"status":"SUCCESS"}',
    })
    expect(answer).toEqual({ outcome: 'applied', eventId: 'recheck:01TX:Paid:25000' })
    expect(nameOf(paymentOf(), tells('Paid', 1))).toBe('recheck:01TX:Paid:1')
  })

  it('leaves the check due where somebody waits for it, and leaves no trace without news', () => {
    const wrong = take(paymentOf(), { ...tells('Paid'), gatewayTransactionId: 'gateway-2' })
    expect(wrong.answer).toMatchObject({ outcome: 'rejected' })
    expect(wrong.row.next_check_at).toBe(NOW + 60 * MINUTE)
    const { answer, rows } = take(paymentOf(), tells('Pending'))
    expect([answer, rows.isChanged]).toEqual([{}, false])
  })

  it('changes nothing in a copy: the installation that began the payment applies it', () => {
    const { answer, rows } = take(paymentOf({ installation: 'theirs' }), tells('Paid'))
    expect([answer, rows.isChanged]).toEqual([{}, false])
  })

  it.each([Number.NaN, 0.5])(
    'cannot be stored with the amount %s, and without news need not',
    (amount) => {
      expect(() => take(paymentOf(), tells('Paid', amount))).toThrow(RangeError)
      expect(take(paymentOf(), tells('Pending', amount)).answer.outcome).toBeUndefined()
    },
  )
})
