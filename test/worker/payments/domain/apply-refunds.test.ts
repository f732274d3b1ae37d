// What the refunds in a gateway's event do: a list of them, their sum, or that one has failed.

import { describe, expect, it } from 'vitest'
import { applyEvent, type Receipt } from '../../../../worker/payments/domain/apply-event.ts'
import type {
  RefundRow,
  TransactionRow,
  WebhookEventRow,
} from '../../../../worker/payments/domain/rows.ts'
import type { ReportedRefund } from '../../../../worker/payments/domain/types.ts'
import {
  came,
  casesIn,
  MINUTE,
  NOW,
  paymentOf,
  refundRow,
  webhookEventRow,
} from '../../../support/payment-rows.ts'

const lists = (refund?: Partial<ReportedRefund>): Partial<WebhookEventRow> => ({
  refunds: JSON.stringify({
    readAt: NOW,
    refunds: [{ id: 'g', amount: 4_000, status: 'succeeded', ...refund }],
  }),
})
const PART = { to_status: 'PartiallyRefunded', amount: 4_000 } as const
const ALL = { to_status: 'Refunded' } as const
const LATE = { ...came('Paid'), status: 'Expired' } as const

/** What a case begins with. Its check is due at 7. */
const ROWS: Record<string, Partial<TransactionRow>> = {
  pending: {},
  paid: came('Paid'),
  failed: { status: 'Failed' },
  ahead: { ...came('Paid'), refunds_read_at: NOW + MINUTE, next_check_at: null },
  'part ahead': {
    ...came('PartiallyRefunded'),
    refunded_amount: 4_000,
    refunds_read_at: NOW + MINUTE,
  },
  'ahead sooner': { ...came('Paid'), refunds_read_at: NOW + MINUTE },
  'ended ahead': { status: 'Expired', refunds_read_at: NOW + MINUTE, next_check_at: null },
  late: LATE,
  ended: { status: 'Expired' },
  unchecked: { ...came('Paid'), next_check_at: null },
  read: { ...came('Paid'), refunds_read_at: NOW },
  part: { ...came('PartiallyRefunded'), refunded_amount: 4_000 },
  // Only a part of what was asked for was paid.
  'paid back': { ...came('PartiallyRefunded'), refunded_amount: 4_000, paid_amount: 4_000 },
  all: came('Refunded'),
  // All of it was refunded, and that has failed.
  back: { ...came('Refunded'), refunded_amount: 0 },
  'read back': { ...came('Refunded'), refunded_amount: 0, refunds_read_at: NOW },
}
const OURS = refundRow({ amount: 25_000 })
const REFUNDS: Record<string, RefundRow> = {
  ours: OURS,
  'ours made': { ...OURS, status: 'succeeded' },
  'ours failed': { ...OURS, status: 'failed' },
  theirs: refundRow({ gateway_refund_id: 'g', status: 'succeeded', request_hash: null }),
}
const EVENTS: Record<string, Partial<WebhookEventRow> & Pick<Receipt, 'refundId'>> = {
  'a part': PART,
  everything: ALL,
  payment: {},
  'list of a made one': { ...PART, ...lists() },
  'list of a begun one': { ...PART, ...lists({ status: 'accepted' }) },
  'list of a failed one': { ...PART, ...lists({ status: 'failed' }) },
  'payment with a list': lists(),
  'open with a list': { to_status: 'Pending', ...lists() },
  'dispute with a list': { alert: 'dispute', ...lists() },
  failure: { alert: 'refund_failed' },
  'failure of ours': { alert: 'refund_failed', refundId: '01REFUND' },
  'failure of theirs': { alert: 'refund_failed', refundId: 'g' },
  'failure of another': { alert: 'refund_failed', refundId: 'z' },
}
const CHECKS = new Map<number | null, string>([
  [null, '-'],
  [7, 'at 7'],
  [NOW, 'now'],
  [NOW + MINUTE, 'then'],
  [NOW + 5 * MINUTE, 'soon'],
])
function named<Value>(values: Record<string, Value>, name: string): Value {
  const value = values[name]
  if (value === undefined) throw new Error(`a case has ${name}, which is nothing`)
  return value
}

// The payment (and a refund of it) + the event = its outcome, the payment, when it is checked, and
// what is told.
const CASES = `
a list with one that was made refunds a part
  paid + list of a made one = applied PartiallyRefunded 4000, check -, Refunded
a list with one that was begun there has a first check: it may be dropped silently
  unchecked + list of a begun one = applied Paid 0, check soon
a list with one that was begun there keeps a check
  paid + list of a begun one = applied Paid 0, check at 7
a list that is stored changes nothing
  part, theirs + list of a made one = unchanged PartiallyRefunded 4000, check at 7
a list that is stored moves the status if it is of everything
  paid back, theirs + list of a made one = applied Refunded 4000, check at 7, Refunded
an event without refunds moves none
  paid back, theirs + payment = illegal PartiallyRefunded 4000, check at 7
a list with one that has failed since lowers the sum, and no status
  part, theirs + list of a failed one = applied PartiallyRefunded 0, check -, RefundAmountChanged
a list keeps the check of one of ours under way
  paid, ours + list of a made one = applied PartiallyRefunded 4000, check at 7, Refunded
a list before the payment waits for it, and asks for its status
  pending + list of a made one = illegal Pending 0, check now
a list before the payment asks for its status each time
  pending, theirs + list of a made one = illegal Pending 0, check now
a list with an open payment asks for nothing
  pending + open with a list = unchanged Pending 0, check -
a list with the payment follows it
  pending + payment with a list = applied PartiallyRefunded 4000, check -, Succeeded, Refunded
a list of money that came late leaves the status
  late + list of a made one = unchanged Expired 4000, check -, RefundAmountChanged
a list that a dispute has read is applied, too
  paid + dispute with a list = applied PartiallyRefunded 4000, check -, Refunded
refunds that are stored count once the payment is paid
  pending, theirs + payment = applied PartiallyRefunded 4000, check -, Succeeded, Refunded
refunds that are stored count also if it is paid after its end
  ended, theirs + payment = late_payment Expired 4000, check at 7, RefundAmountChanged
a sum moves a payment
  paid + a part = applied PartiallyRefunded 4000, check -, Refunded
a sum before the payment asks for its status
  pending + a part = illegal Pending 0, check now
a sum of an end without money asks for its status, which may be that it was paid
  failed + everything = illegal Failed 0, check now
a list of an end without money waits for it, and asks for its status
  ended + list of a made one = illegal Expired 0, check now
a list that was read before what is stored changes nothing, and is asked for again at that time
  ahead + list of a made one = unchanged Paid 0, check then
a list that was read before and says nothing else asks for nothing
  part ahead, theirs + list of a made one = unchanged PartiallyRefunded 4000, check at 7
a list that was read before keeps a sooner check
  ahead sooner + list of a made one = unchanged Paid 0, check at 7
a list of an end that was read before asks at once
  ended ahead + list of a made one = illegal Expired 0, check now
a sum of money that came late leaves the status
  late + everything = unchanged Expired 25000, check -, RefundAmountChanged
a sum counts where the graph allows no step
  back + a part = applied Refunded 4000, check -, RefundAmountChanged
a sum that is older than what is stored moves no status, and asks
  read + a part = unchanged Paid 0, check now
a sum that is older and illegal stays illegal
  read back + a part = illegal Refunded 0, check now
a sum that is known changes nothing
  all, ours made + everything = unchanged Refunded 25000, check at 7
a failure of one under way ends its check
  paid, ours + failure = unchanged Paid 0, check -
a failure of one that was made asks for what was made since
  all, ours made + failure = unchanged Refunded 0, check now, RefundAmountChanged
a failure that is known changes nothing
  paid, ours failed + failure of ours = unchanged Paid 0, check at 7
a failure of one that is not known asks
  paid, ours + failure of another = unchanged Paid 0, check now
a failure before the payment keeps its check
  pending, theirs + failure of theirs = unchanged Pending 0, check at 7
`

describe('an event with refunds', () => {
  it.each(casesIn(CASES))('%s', (_, before, what, expected) => {
    const [row = '', refund] = before.split(', ')
    const { refundId, ...event } = named(EVENTS, what)
    const refunds = refund === undefined ? [] : [named(REFUNDS, refund)]
    const payment = paymentOf({ next_check_at: 7, ...named(ROWS, row) }, { refunds })
    const made = applyEvent(payment, webhookEventRow(event), { now: NOW, refundId })
    const { status, refunded_amount, next_check_at } = made.payment.transaction
    const after = [made.event.outcome, status, refunded_amount].join(' ')
    const told = made.events.map(({ type }) => type.replace('Payment', ''))
    expect([after, `check ${CHECKS.get(next_check_at)}`, ...told].join(', ')).toBe(expected)
    const [first, ...more] = made.events.map(({ id }) => id)
    expect(first).toBe(told.length > 0 ? '01EVENT' : undefined)
    expect(more).not.toContain(first)
  })

  it('has the time of its sum, never ahead of ours; an answer to a check has none', () => {
    const readAt = (row: Partial<TransactionRow>, occurred_at: number, isAnswer = false) =>
      applyEvent(paymentOf(row), webhookEventRow({ ...PART, occurred_at }), { now: NOW, isAnswer })
        .payment.transaction.refunds_read_at
    for (const row of [{}, came('Paid')]) {
      expect(readAt(row, NOW - 9)).toBe(NOW - 9)
      expect(readAt(row, NOW + 9)).toBe(NOW)
      expect(readAt(row, NOW - 9, true)).toBeNull()
    }
  })

  it('has the time of its failure', () => {
    const event = webhookEventRow({ alert: 'refund_failed', occurred_at: NOW - 9 })
    const { payment } = applyEvent(paymentOf(came('Paid'), { refunds: [OURS] }), event, {
      now: NOW,
    })
    expect(payment.transaction.refunds_read_at).toBe(NOW - 9)
  })
})
