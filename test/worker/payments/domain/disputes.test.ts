// One dispute from its first event to its end: what is stored of it, what the books have, and what
// of its alert is told.

import { describe, expect, it } from 'vitest'
import {
  acknowledgeAlert,
  isRaisedOrSettled,
  withAlerts,
} from '../../../../worker/payments/domain/alerts.ts'
import { applyEvent } from '../../../../worker/payments/domain/apply-event.ts'
import { movementsOf } from '../../../../worker/payments/domain/books.ts'
import {
  areDisputesChanged,
  disputeIn,
  isDisputeNews,
  withDispute,
} from '../../../../worker/payments/domain/disputes.ts'
import type { Payment } from '../../../../worker/payments/domain/payment.ts'
import type { DisputeSet, ReportedDispute } from '../../../../worker/payments/domain/types.ts'
import {
  came,
  disputeRow,
  MINUTE,
  NOW,
  paymentOf,
  webhookEventRow,
} from '../../../support/payment-rows.ts'

/** A word, and what a driver makes of it. */
const READS: Record<string, Partial<ReportedDispute>> = {
  asks: { state: 'open', isInquiry: true, isOut: false },
  'asked enough': { state: 'ended', outcome: 'warning_closed', isInquiry: true, isOut: false },
  open: { state: 'open', isOut: true },
  'not taken yet': { state: 'open', isOut: false },
  lost: { state: 'ended', outcome: 'lost', isOut: true },
  won: { state: 'ended', outcome: 'won', isOut: false },
  'won but out': { state: 'ended', outcome: 'won', isOut: true },
  closed: { state: 'ended' },
  'a new word': { state: 'unknown' },
}
const DETAIL = { reference: 'order-1', eventId: 'event-1' }

interface Read {
  part?: string
  word: string
  amount?: number
}
const setOf = (reads: readonly Read[], more: Partial<DisputeSet> = {}): DisputeSet => ({
  id: 'dp-1',
  readAt: NOW,
  parts: reads.map(({ part = 'dp-1', word, amount = 900 }) => {
    const read = READS[word]
    if (!read) throw new Error(`a case has ${word}, which is nothing`)
    return { id: part, amount, currency: 'EUR', state: 'open', ...read }
  }),
  ...more,
})

/** `a: open 30, b: won`: by part. `seen`: a person has acknowledged its alert. */
function readIn(text: string): Read[] {
  return text.split(', ').map((each) => {
    const [, part, word = '', amount] = /^(?:(\w): )?(.*?)(?: (\d+))?$/.exec(each) ?? []
    return { word, ...(part && { part }), ...(amount && { amount: Number(amount) }) }
  })
}

function live(before: Payment, step: string, now: number): Payment {
  if (step !== 'seen') return withDispute(before, setOf(readIn(step)), { detail: DETAIL, now })
  return withAlerts(
    before,
    before.alerts.map((row) => acknowledgeAlert(row, 'ada', now)),
  )
}

/** What a step tells: raised or settled, with the alert as it then is, and what was booked. */
function toldOf(before: Payment, after: Payment): string {
  const [alert] = after.alerts
  if (!alert) return '-'
  const detail = JSON.parse(alert.detail ?? '') as Record<string, unknown>
  const settled = alert.acknowledged_by ? `settled by ${alert.acknowledged_by}` : 'raised'
  const moved = movementsOf(before, { payment: after, alerts: [] }, { now: NOW })
  return [
    isRaisedOrSettled(before.alerts[0], alert) ? settled : '-',
    detail.amount,
    ...(detail.inquiry ? ['inquiry'] : []),
    ...(detail.outcome ? [detail.outcome] : []),
    ...moved.map(({ amount }) => (amount > 0 ? `out ${amount}` : `back ${-amount}`)),
  ].join(' ')
}

/** A life a line: its steps, then what each of them tells. */
const LIVES = `
open                              | raised 900 out 900
open; open                        | raised 900 out 900; - 900
open; seen; open                  | raised 900 out 900; settled by ada 900; - 900
open; open 950                    | raised 900 out 900; raised 950 out 50
open; seen; open 950              | raised 900 out 900; settled by ada 900; raised 950 out 50
open; open 500                    | raised 900 out 900; - 500 back 400
open; seen; open 500              | raised 900 out 900; settled by ada 900; - 500 back 400
open; won                         | raised 900 out 900; settled by gateway 900 won back 900
open; won; won                    | raised 900 out 900; settled by gateway 900 won back 900; - 900 won
open; seen; lost                  | raised 900 out 900; settled by ada 900; settled by gateway 900 lost
open; lost; won                   | raised 900 out 900; settled by gateway 900 lost; settled by gateway 900 won back 900
open; won but out; won         | raised 900 out 900; settled by gateway 900 won; - 900 won back 900
open; lost; open                  | raised 900 out 900; settled by gateway 900 lost; raised 900
open; won; open                   | raised 900 out 900; settled by gateway 900 won back 900; raised 900 out 900
open; lost; a new word            | raised 900 out 900; settled by gateway 900 lost; - 900 lost
open; closed                      | raised 900 out 900; settled by gateway 900 closed
open; a new word                  | raised 900 out 900; - 900
lost                              | settled by gateway 900 lost out 900
not taken yet; open               | raised 900; - 900 out 900
asks                              | raised 900 inquiry
asks; asked enough                | raised 900 inquiry; settled by gateway 900 warning_closed
asks; seen; open                  | raised 900 inquiry; settled by ada 900 inquiry; raised 900 out 900
asks; open; open                  | raised 900 inquiry; raised 900 out 900; - 900
a: open 30; a: open 30, b: open 20 | raised 30 out 30; raised 50 out 20
a: open 30, b: open 20; a: won 30, b: open 20 | raised 50 out 30 out 20; - 20 back 30
a: open 30, b: open 20; seen; a: won 30, b: open 20 | raised 50 out 30 out 20; settled by ada 50; - 20 back 30
a: open 30, b: open 20; a: won 30, b: won 20 | raised 50 out 30 out 20; settled by gateway 50 won back 30 back 20
a: open 30; seen; b: open 20      | raised 30 out 30; settled by ada 30; raised 50 out 20
a: open 30; a: won 30, b: open 20 | raised 30 out 30; raised 20 back 30 out 20
a: open 30; a: won 30; a: won 30, b: open 20 | raised 30 out 30; settled by gateway 30 won back 30; raised 20 out 20
`

describe('a dispute', () => {
  const lives = LIVES.trim()
    .split('\n')
    .map((line) => line.split('|').map((half) => half.trim().split('; ')) as [string[], string[]])

  it.each(lives)('that is %j tells %j', (steps, expected) => {
    let payment = paymentOf(came('Paid'))
    const told = steps.map((step) => {
      const before = payment
      payment = live(before, step, NOW)
      expect(payment.alerts).toHaveLength(1)
      return toldOf(before, payment)
    })
    expect(told).toEqual(expected)
  })

  it('is an alert of its own beside another one', () => {
    const first = withDispute(paymentOf(), setOf([{ word: 'open' }]), { detail: DETAIL, now: NOW })
    const both = withDispute(
      first,
      setOf([{ word: 'open', part: 'dp-2', amount: 5 }], { id: 'dp-2' }),
      { detail: DETAIL, now: NOW },
    )
    expect(both.alerts.map(({ subject }) => subject)).toEqual(['01TX dp-1', '01TX dp-2'])
    expect(both.disputes.map(({ part }) => part)).toEqual(['dp-1', 'dp-2'])
    expect(both.transaction.alert).toBe(
      JSON.stringify({ id: first.alerts[0]?.id, kind: 'dispute' }),
    )
  })

  it('is stored as it was read, and its alert says what the event does', () => {
    const error = { code: 'dispute', message: 'The payer.' }
    const set = setOf([{ word: 'open' }], { error, readAt: NOW - 5 })
    const { disputes, alerts } = withDispute(paymentOf(), set, { detail: DETAIL, now: NOW })
    const row = { out_amount: 900, outcome: null, ended_at: null }
    expect(disputes).toEqual([
      disputeRow({
        ...row,
        id: expect.any(String),
        amount: 900,
        currency: 'EUR',
        read_at: NOW - 5,
        created_at: NOW,
        updated_at: NOW,
      }),
    ])
    expect(alerts).toEqual([
      {
        id: expect.any(String),
        kind: 'dispute',
        subject: '01TX dp-1',
        gateway: 'bank',
        transaction_id: '01TX',
        detail: expect.any(String),
        created_at: NOW,
        acknowledged_at: null,
        acknowledged_by: null,
        gateway_reference: null,
      },
    ])
    expect(JSON.parse(alerts[0]?.detail ?? '')).toEqual({
      ...DETAIL,
      amount: 900,
      currency: 'EUR',
      error,
    })
  })

  it('that has ended keeps when, and each end and new beginning has a later time', () => {
    const open = live(paymentOf(), 'open', NOW)
    const part = {
      id: 'dp-1',
      amount: 900,
      currency: 'EUR',
      state: 'ended',
      outcome: 'won',
    } as const
    const set = { ...setOf([]), parts: [{ ...part, endedAt: 7 }] }
    const ended = withDispute(open, set, { detail: DETAIL, now: NOW })
    expect(ended.disputes).toMatchObject([{ ended_at: 7, updated_at: NOW, out_amount: 900 }])
    expect(ended.alerts).toMatchObject([{ created_at: NOW, acknowledged_at: NOW + 1 }])
    const again = live(ended, 'open', NOW)
    expect(again.disputes).toMatchObject([{ ended_at: null, outcome: null }])
    expect(again.alerts).toMatchObject([
      { created_at: NOW + 2, acknowledged_at: null, acknowledged_by: null },
    ])
    expect(live(ended, 'open', NOW + MINUTE).alerts).toMatchObject([{ created_at: NOW + MINUTE }])
  })

  it('of before, of which only the sum was known, is not disputed anew when its parts are', () => {
    const sum = disputeRow({ part: null, amount: 50, out_amount: 50, currency: 'EUR' })
    const known = { ...live(paymentOf(), 'open 50', NOW), disputes: [sum] }
    const same = live(known, 'a: open 30, b: open 20', NOW)
    expect(toldOf(known, same)).toBe('- 50')
    expect(same.disputes.map(({ id, part, amount }) => [id === sum.id, part, amount])).toEqual([
      [true, 'a', 30],
      [false, 'b', 20],
    ])
    expect(toldOf(known, live(known, 'a: open 30, b: open 30', NOW))).toBe('raised 60 out 10')
  })
})

describe('a read of a dispute', () => {
  const stored = (own: Parameters<typeof disputeRow>[0] = {}) =>
    paymentOf(came('Paid'), {
      disputes: [disputeRow({ amount: 900, out_amount: 900, currency: 'EUR', ...own })],
    })
  const rowAfter = (payment: Payment, word: string, more: Partial<DisputeSet>) =>
    withDispute(payment, setOf([{ word }], more), { detail: DETAIL, now: NOW }).disputes[0]
  const outcome = (...of: Parameters<typeof rowAfter>) => rowAfter(...of)?.outcome

  it('never overwrites a later one, unless that has a time which is far ahead', () => {
    const at = (read_at: number, readAt: number) => outcome(stored({ read_at }), 'lost', { readAt })
    expect(at(NOW - 5, NOW - 6)).toBeNull()
    expect(at(NOW - 5, NOW - 5)).toBe('lost')
    expect(at(NOW + MINUTE, NOW)).toBeNull()
    expect(at(NOW + MINUTE + 1, NOW)).toBe('lost')
  })

  it('that says nothing new is stored as the last one, and changes nothing else', () => {
    const payment = stored({ read_at: NOW - 9 })
    const read = withDispute(payment, setOf([{ word: 'open' }]), { detail: DETAIL, now: NOW })
    expect(read.disputes).toEqual([{ ...payment.disputes[0], read_at: NOW }])
    expect(read.alerts).toBe(payment.alerts)
    expect(areDisputesChanged(payment.disputes, read.disputes)).toBe(false)
    const older = setOf([{ word: 'open' }], { readAt: NOW - 9 })
    expect(withDispute(payment, older, { detail: DETAIL, now: NOW })).toBe(payment)
  })

  it('has a time that is not ahead of ours', () => {
    expect(rowAfter(stored(), 'lost', { readAt: NOW + 5 })?.read_at).toBe(NOW)
  })

  it('that is an own copy is as old as its second, in which an end leads', () => {
    const second = NOW - 5_000
    const copy = { readAt: second, isCopy: true }
    expect(outcome(stored({ read_at: second + 999 }), 'lost', copy)).toBe('lost')
    expect(outcome(stored({ read_at: second + 1_000 }), 'lost', copy)).toBeNull()
    expect(outcome(stored({ read_at: second + 1, outcome: 'lost' }), 'open', copy)).toBe('lost')
    expect(outcome(stored({ read_at: second - 1, outcome: 'lost' }), 'open', copy)).toBeNull()
    expect(outcome(stored({ read_at: second, outcome: 'lost' }), 'won', copy)).toBe('won')
    expect(rowAfter(stored({ read_at: second + 1 }), 'not taken yet', copy)?.out_amount).toBe(0)
  })

  it('is news if anything of it is not stored', () => {
    const { disputes } = stored()
    const isNews = (word: string, own: Partial<DisputeSet> = {}, amount = 900) =>
      isDisputeNews(disputes, setOf([{ word, amount }], own))
    expect([isNews('open'), isNews('lost'), isNews('open', {}, 5)]).toEqual([false, true, true])
    expect(isNews('open', { id: 'dp-2' })).toBe(true)
    expect(isDisputeNews(disputes, setOf([{ word: 'open', part: 'other' }]))).toBe(true)
  })
})

describe('an event with a dispute', () => {
  const told = (own: Parameters<typeof webhookEventRow>[0], word = 'open', readAt = NOW) =>
    webhookEventRow({
      alert: 'dispute',
      disputes: JSON.stringify(setOf([{ word }], { readAt })),
      ...own,
    })
  const apply = (payment: Payment, event = told({})) => applyEvent(payment, event, { now: NOW })

  it.each([
    ['Pending', 'applied', 'Paid'],
    ['Failed', 'late_payment', 'Failed'],
    ['Cancelled', 'late_payment', 'Cancelled'],
    ['Expired', 'late_payment', 'Expired'],
  ] as const)(
    'of a payment that is %s pays it first, and asks what was refunded',
    (status, outcome, then) => {
      const { payment, event, alerts } = apply(paymentOf({ status, next_check_at: null }))
      expect(event.outcome).toBe(outcome)
      expect(payment.transaction).toMatchObject({ status: then, paid_amount: 25_000 })
      expect(payment.transaction.next_check_at).toBe(NOW)
      expect(payment.disputes).toHaveLength(1)
      expect(alerts.map(({ kind }) => kind)).toEqual(then === 'Paid' ? [] : ['late_payment'])
    },
  )

  it.each(['Paid', 'PartiallyRefunded', 'Refunded'] as const)(
    'of a payment that is %s changes nothing else of it',
    (status) => {
      const before = paymentOf(came(status))
      const { payment, event, events, alerts } = apply(before)
      expect([event.outcome, event.mismatch, events, alerts]).toEqual(['unchanged', 0, [], []])
      const { alert: _, ...rest } = payment.transaction
      const { alert: _alert, ...was } = before.transaction
      expect(rest).toEqual(was)
      expect(JSON.parse(payment.alerts[0]?.detail ?? '')).toEqual({
        reference: 'order-1',
        eventId: 'event-1',
        expectedAmount: 25_000,
        expectedCurrency: 'IQD',
        amount: 900,
        currency: 'EUR',
      })
    },
  )

  it('asks for nothing of a payment whose refunds came with it', () => {
    const refunds = JSON.stringify({ readAt: NOW, refunds: [] })
    const { payment } = apply(paymentOf({ next_check_at: null }), told({ refunds }))
    expect(payment.transaction.next_check_at).toBeNull()
  })

  it('that was overtaken asks the gateway again', () => {
    const disputes = [disputeRow({ read_at: NOW })]
    const payment = paymentOf({ ...came('Paid'), next_check_at: null }, { disputes })
    const made = apply(payment, told({}, 'lost', NOW - 1)).payment
    expect([made.disputes[0]?.outcome, made.transaction.next_check_at]).toEqual([null, NOW])
  })

  it('of a driver that reads none has its id before the last word, and the money as taken', () => {
    const error = JSON.stringify({ code: 'x', message: 'y' })
    const own = { alert: 'dispute', event_id: 'dp:2:lost', amount: 900, error } as const
    expect(disputeIn(webhookEventRow(own))).toEqual({
      id: 'dp:2',
      readAt: NOW - 1_000,
      parts: [{ id: 'dp:2', amount: 900, currency: 'IQD', state: 'open', isOut: true }],
      error: { code: 'x', message: 'y' },
    })
    expect(disputeIn(webhookEventRow({ ...own, event_id: 'dp', error: null }))).toMatchObject({
      id: 'dp',
    })
    expect(disputeIn(webhookEventRow({ alert: 'refund_failed' }))).toBeUndefined()
    expect(disputeIn(webhookEventRow())).toBeUndefined()
    const before = paymentOf({ next_check_at: 7 })
    const { payment, event } = apply(before, webhookEventRow({ ...own, to_status: 'Refunded' }))
    expect(event).toMatchObject({ outcome: 'unchanged', mismatch: 0 })
    expect(payment.transaction).toMatchObject({ status: 'Pending', next_check_at: 7 })
    expect(payment.disputes).toMatchObject([{ part: 'dp:2', out_amount: 900 }])
  })
})
