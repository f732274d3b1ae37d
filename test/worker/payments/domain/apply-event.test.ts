// What a gateway's event does, for every status against every status, under both policies, with the
// amounts that matter. Expectations are written out from the contract, not derived from the code.

import { describe, expect, it } from 'vitest'
import { applyEvent, judge, NEXT } from '../../../../worker/payments/domain/apply-event.ts'
import type { WebhookEventRow } from '../../../../worker/payments/domain/rows.ts'
import { PAYMENT_STATUSES, type PaymentStatus } from '../../../../worker/payments/domain/status.ts'
import {
  alertRow,
  came,
  MINUTE,
  NOW,
  paymentOf,
  refundRow,
  typesOf,
  webhookEventRow,
} from '../../../support/payment-rows.ts'

const apply = (
  from: PaymentStatus,
  reported: Partial<WebhookEventRow>,
  more: Parameters<typeof paymentOf>[1] = {},
) => applyEvent(paymentOf(came(from), more), webhookEventRow(reported), { now: NOW })

// A row is the status of a payment, a column the status of the event. `-` is illegal.
const GRAPH = `
                   Pending  Paid  Failed  Cancelled  Expired  Refunded  PartiallyRefunded
Pending            same     yes   yes     yes        yes      -         -
Paid               -        same  -       -          -        yes       yes
Failed             -        late  same    -          -        -         -
Cancelled          -        late  -       same       -        -         -
Expired            -        late  -       -          same     -         -
Refunded           -        -     -       -          -        same      -
PartiallyRefunded  -        -     -       -          -        yes       yes
`
const OUTCOMES = {
  yes: 'applied',
  same: 'unchanged',
  late: 'late_payment',
  '-': 'illegal',
} as const
const EVENTS: Record<PaymentStatus, string> = {
  Pending: 'none',
  Paid: 'PaymentSucceeded',
  Failed: 'PaymentFailed',
  Cancelled: 'PaymentCancelled',
  Expired: 'PaymentCancelled',
  Refunded: 'PaymentRefunded',
  PartiallyRefunded: 'PaymentRefunded',
}

const [head = [], ...rows] = GRAPH.trim()
  .split('\n')
  .map((line) => line.trim().split(/\s+/))
const cases = rows.flatMap(([from, ...words]) =>
  words.map((word, at) => ({ from, to: head[at], word })),
) as { from: PaymentStatus; to: PaymentStatus; word: keyof typeof OUTCOMES }[]

// The charge is 25,000 IQD, and all of it was paid. PartiallyRefunded: 5,000 were refunded.
const AMOUNTS = [
  { amount: 25_000, currency: 'IQD' },
  { amount: 24_999, currency: 'IQD' },
  { amount: 25_001, currency: 'IQD' },
  { amount: 6_000, currency: 'IQD' },
  { amount: 0, currency: 'IQD' },
  { amount: -5, currency: 'IQD' },
  { amount: 25_000, currency: 'USD' },
] as const

/** The amount of a Paid event is always compared, that of a refund after the payment was paid. */
function isOther(
  from: PaymentStatus,
  to: PaymentStatus,
  { amount, currency }: (typeof AMOUNTS)[number],
) {
  const wasPaid = ['Paid', 'Refunded', 'PartiallyRefunded'].includes(from)
  if (to === 'Paid') return amount !== 25_000 || currency !== 'IQD'
  if (to === 'Refunded' && wasPaid) return amount !== 25_000 || currency !== 'IQD'
  if (to === 'PartiallyRefunded' && wasPaid) return amount > 25_000 || currency !== 'IQD'
  return false
}

describe('an event', () => {
  it('is tested for every pair of statuses', () => {
    expect(head).toEqual([...PAYMENT_STATUSES])
    expect(cases).toHaveLength(49)
  })

  for (const { from, to, word } of cases) {
    it(`with ${to} for a payment that is ${from} is ${OUTCOMES[word]}, with any amount`, () => {
      expect(judge(from, to)).toBe(OUTCOMES[word])
      expect(NEXT[from].includes(to)).toBe(word === 'yes')
      for (const reported of AMOUNTS) {
        for (const on_mismatch of ['log', 'reject'] as const) {
          const before = paymentOf(came(from))
          const row = webhookEventRow({ to_status: to, on_mismatch, ...reported })
          const { event, payment, events, alerts } = applyEvent(before, row, { now: NOW })
          const isMismatch = isOther(from, to, reported)
          const isRejected =
            word === 'yes' && to === 'Paid' && isMismatch && on_mismatch === 'reject'
          const outcome = isRejected ? 'rejected' : OUTCOMES[word]
          expect(event).toMatchObject({ outcome, mismatch: isMismatch ? 1 : 0, from_status: from })
          const isChange = outcome === 'applied' && from !== to
          expect(payment.transaction.status).toBe(isChange ? to : from)
          const back = payment.transaction.refunded_amount
          const isMore = !isChange && back !== before.transaction.refunded_amount
          const told = isMore ? ['RefundAmountChanged'] : []
          expect(typesOf(events)).toEqual(isChange ? [EVENTS[to]] : told)
          if (isRejected) expect(payment.transaction).toEqual(before.transaction)
          const raised = [
            ...(word === 'late' ? ['late_payment'] : []),
            ...(isMismatch ? ['amount_mismatch'] : []),
          ]
          expect(alerts.map(({ kind }) => kind)).toEqual(raised)
        }
      }
    })
  }
})

describe('a payment', () => {
  it.each(['Paid', 'Failed', 'Cancelled', 'Expired'] as const)(
    'that is %s then has nothing else changed, and is checked at once if a refund came before, or a day after an end',
    (to_status) => {
      const before = paymentOf({ refunds_read_at: 0 })
      const { payment } = applyEvent(before, webhookEventRow({ to_status }), { now: NOW })
      const paid = { paid_at: NOW - 1_000, paid_amount: 25_000, paid_currency: 'IQD' }
      expect(payment.transaction).toEqual({
        ...before.transaction,
        status: to_status,
        next_check_at: to_status === 'Paid' ? NOW : NOW + 24 * 60 * MINUTE,
        updated_at: NOW,
        ...(to_status === 'Paid' && paid),
      })
    },
  )

  it.each<[PaymentStatus, string, string | null, string | undefined]>([
    ['Cancelled', 'cancel 02', null, 'cancelled'],
    ['Expired', 'replace 02', null, 'replaced'],
    ['Failed', 'cancel 02', '{"code":"declined"}', 'declined'],
    ['Cancelled', '01TX', null, undefined],
    ['Paid', 'cancel 02', null, undefined],
  ])(
    'that is %s while its call is `%s` has that error, and no call',
    (to, called_by, error, code) => {
      const row = { called_by, called_until: NOW + 1 }
      const changed = applyEvent(paymentOf(row), webhookEventRow({ to_status: to, error }), {
        now: NOW,
      })
      const { error: stored, ...after } = changed.payment.transaction
      expect(JSON.parse(stored ?? '{}').code).toBe(code)
      const isCharging = called_by === '01TX'
      expect(after).toMatchObject(isCharging ? row : { called_by: null, called_until: null })
    },
  )

  it('is the same row after an event that changes nothing, or that is refused', () => {
    const before = paymentOf({ gateway_transaction_id: null })
    for (const own of [
      { to_status: 'Pending', gateway_transaction_id: null },
      { to_status: 'Paid', amount: 9, on_mismatch: 'reject' },
    ] as const) {
      expect(applyEvent(before, webhookEventRow(own), { now: NOW }).payment).toBe(before)
    }
  })

  it('is compared with what was paid when that is reported again, not with what was requested', () => {
    const paid = { ...came('Paid'), paid_amount: 20_000, paid_currency: 'USD' }
    const again = (amount: number, currency = 'USD') =>
      applyEvent(paymentOf(paid), webhookEventRow({ amount, currency }), { now: NOW }).event
        .mismatch
    expect([again(20_000), again(25_000), again(20_000, 'IQD')]).toEqual([0, 1, 1])
  })

  it('takes the gateway’s id if it has none, and otherwise keeps its own', () => {
    const nameless = paymentOf({ gateway_transaction_id: null })
    const named = applyEvent(nameless, webhookEventRow({ gateway_transaction_id: 'new' }), {
      now: NOW,
    })
    expect(named.payment.transaction.gateway_transaction_id).toBe('new')
    const kept = apply('Pending', { gateway_transaction_id: 'new' })
    expect(kept.payment.transaction.gateway_transaction_id).toBe('gateway-1')
  })

  it('is checked at once if a refund arrives before it is paid', () => {
    const early = apply('Pending', { to_status: 'Refunded' })
    expect(early.event.outcome).toBe('illegal')
    expect(early.payment.transaction.next_check_at).toBe(NOW)
    const paid = applyEvent(early.payment, webhookEventRow({ id: '02EVENT' }), { now: NOW + 9 })
    expect(paid.payment.transaction).toMatchObject({ status: 'Paid', next_check_at: NOW + 9 })
  })
})

describe('a late payment', () => {
  it.each(['Failed', 'Cancelled', 'Expired'] as const)(
    'after %s is one alert, however often it is reported',
    (status) => {
      const first = apply(status, {})
      const alerts = [alertRow({ kind: 'late_payment' })]
      const again = applyEvent({ ...first.payment, alerts }, webhookEventRow({ id: '02EVENT' }), {
        now: NOW + 9,
      })
      expect([first, again].map(({ event }) => event.outcome)).toEqual([
        'late_payment',
        'late_payment',
      ])
      expect([first, again].map(({ alerts }) => alerts.length)).toEqual([1, 0])
      const other = applyEvent(first.payment, webhookEventRow({ amount: 9 }), { now: NOW })
      expect(other.payment.transaction.paid_amount).toBe(25_000)
    },
  )
})

describe('a reported refund that failed', () => {
  const fail = (refundId?: string, own = refundRow({ gateway_refund_id: 'back-1' })) =>
    applyEvent(
      paymentOf(came('Paid'), { refunds: [own] }),
      webhookEventRow({ alert: 'refund_failed', error: '{"code":"x","message":"y"}' }),
      { now: NOW, refundId },
    )

  it('does not change the payment, fails the refund under way, and raises an alert', () => {
    const { event, payment, events, alerts } = fail()
    expect(event).toMatchObject({ outcome: 'unchanged', mismatch: 0 })
    expect(payment.transaction).toMatchObject({ status: 'Paid', next_check_at: null })
    expect(payment.refunds).toMatchObject([{ status: 'failed', error: event.error }])
    expect(events).toEqual([])
    expect(alerts).toMatchObject([
      { kind: 'refund_failed', detail: { error: { code: 'x', message: 'y' } } },
    ])
  })

  it('is read although what is stored was read with a clock that ran an hour ahead', () => {
    const reportedAfter = (aheadMs: number) =>
      applyEvent(
        paymentOf({ ...came('Paid'), refunds_read_at: NOW + aheadMs }, { refunds: [refundRow()] }),
        webhookEventRow({ alert: 'refund_failed', occurred_at: NOW }),
        { now: NOW },
      ).payment.refunds[0]?.status
    expect([reportedAfter(3_600_000), reportedAfter(1)]).toEqual(['failed', 'claimed'])
  })

  it('is told once, also where its event is forgotten and comes again', () => {
    const { payment, alerts } = fail()
    const known = alertRow({ kind: 'refund_failed', detail: JSON.stringify(alerts[0]?.detail) })
    const again = (event_id?: string) =>
      applyEvent(
        { ...payment, alerts: [known] },
        webhookEventRow({ alert: 'refund_failed', ...(event_id && { event_id }) }),
        { now: NOW },
      )
    expect(again().alerts).toEqual([])
    expect(again().payment.transaction.next_check_at).toBe(NOW)
    expect(again('of another failure').alerts).toHaveLength(1)
  })
})
