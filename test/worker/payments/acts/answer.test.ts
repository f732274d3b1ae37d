// What a gateway's answer about a payment does to it, and when the next check is due.

import { describe, expect, it } from 'vitest'
import {
  type Answer,
  type CheckSettled,
  recordAnswer,
  settleCheck,
} from '../../../../worker/payments/acts/answer.ts'
import type { Payment } from '../../../../worker/payments/domain/payment.ts'
import type { TransactionRow } from '../../../../worker/payments/domain/rows.ts'
import { PAYMENT_STATUSES, type PaymentStatus } from '../../../../worker/payments/domain/status.ts'
import { DAY_MS, HOUR_MS } from '../../../../worker/payments/domain/time.ts'
import { decided, RULES, rowsOf } from '../../../support/acts.ts'
import {
  alertRow,
  came,
  disputeRow,
  MINUTE,
  NOW,
  paymentOf,
  refundRow,
  webhookEventRow,
} from '../../../support/payment-rows.ts'

type Told = Answer['report']

const tells = (status: PaymentStatus, amount = 25_000): Told => ({
  status,
  amount,
  currency: 'IQD',
  raw: { status: 'SUCCESS' },
})
const answerOf = (report: Told): Answer => ({
  id: '01ANSWER',
  report,
  askedAt: NOW - 9,
  onMismatch: 'log',
})

/** `asked`: as the payment was when it was asked about. */
function settle(
  before: Payment,
  how: Partial<CheckSettled> | Told = {},
  more: Parameters<typeof rowsOf>[0] | object = {},
) {
  const told = 'status' in how ? { answer: answerOf(how) } : how
  const settled = { asked: before.transaction, now: NOW, ...told }
  const { rows, answer, ...caused } = decided(settleCheck(settled, RULES), {
    ...rowsOf(before),
    ...more,
  })
  const payment = rows.payment('01TX') ?? before
  const [event] = rows.changesOf('webhookEvents').inserted.toReversed()
  return { ...caused, payment, row: payment.transaction, event, answer }
}

const outcomeOf = (before: Payment, told: Told) => settle(before, told).answer.outcome
const nameOf = (before: Payment, told: Told) => settle(before, told).event?.event_id

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
    const told = (amount: number): Told => ({
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
    const captured = (amount: number): Told => ({
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
    const paid = (told: Told) => settle(paymentOf(), told).row.paid_amount
    // Otherwise an amount that the policy rejects would count as the right one.
    expect(paid(tells('Refunded', 20_000))).toBe(20_000)
    expect(paid(tells('PartiallyRefunded', 5_000))).toBe(25_000)
    expect(paid({ ...tells('PartiallyRefunded', 5_000), paidAmount: 20_000 })).toBe(20_000)
    expect(settle(paymentOf(), { ...tells('Paid'), paidAmount: 7 }).event?.paid_amount).toBeNull()
  })

  it('is applied, and is another event, for each step of a dispute', () => {
    const part = { id: 'dp-1', amount: 25_000, currency: 'IQD', isOut: true } as const
    const asked = (state: 'open' | 'ended', amount = 25_000): Told => ({
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
    expect(JSON.parse(settle(had, asked('open')).event?.disputes ?? '')).toEqual(
      asked('open').disputes,
    )
  })

  it('has one event id for one status and amount, and the payment’s ids where it has none', () => {
    const { event, answer } = settle(paymentOf(), tells('Paid'))
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

  it('about another payment is rejected with an alert, changes nothing, and is asked for again', () => {
    const other = { ...tells('Paid'), gatewayTransactionId: 'gateway-2' }
    const { row, event, alerts, answer } = settle(paymentOf(), other)
    expect(event).toMatchObject({
      outcome: 'rejected',
      event_id: 'recheck:01TX:Paid:25000:gateway-2:external-1',
    })
    expect(alerts).toMatchObject([{ kind: 'id_mismatch' }])
    expect(row.status).toBe('Pending')
    expect(answer).toMatchObject({ outcome: 'rejected', nextCheckAt: NOW + 5 * MINUTE })
  })

  it('that was recorded before is a duplicate, and its check is settled all the same', () => {
    const had = paymentOf(came('Expired'))
    const before = webhookEventRow({ event_id: 'recheck:01TX:Cancelled:25000' })
    const { answer, event, row } = settle(had, tells('Cancelled'), { webhookEvents: [before] })
    expect(answer).toMatchObject({ outcome: 'duplicate' })
    expect(event).toBeUndefined()
    expect(row).toMatchObject({ last_check_status: 'Cancelled', next_check_at: null })
  })

  it('leaves the check due where somebody waits for it, and leaves no trace without news', () => {
    const recorded = (told: Told) => {
      const { transaction: asked } = paymentOf()
      const act = recordAnswer({ asked, answer: answerOf(told), now: NOW }, RULES)
      return decided(act, rowsOf(paymentOf()))
    }
    const wrong = recorded({ ...tells('Paid'), gatewayTransactionId: 'gateway-2' })
    expect(wrong.answer).toMatchObject({ outcome: 'rejected' })
    expect(wrong.rows.payment('01TX')?.transaction.next_check_at).toBe(NOW + 60 * MINUTE)
    const { answer, rows } = recorded(tells('Pending'))
    expect([answer, rows.isChanged]).toEqual([{}, false])
  })

  it('changes nothing in a copy: the installation that began the payment applies it', () => {
    const theirs = paymentOf({ installation: 'theirs' })
    const about = { asked: theirs.transaction, answer: answerOf(tells('Paid')), now: NOW }
    const { answer, rows } = decided(recordAnswer(about, RULES), rowsOf(theirs))
    expect([answer, rows.isChanged]).toEqual([{}, false])
  })

  it.each([Number.NaN, 0.5])(
    'cannot be stored with the amount %s, and without news need not',
    (amount) => {
      expect(() => settle(paymentOf(), tells('Paid', amount))).toThrow(RangeError)
      expect(settle(paymentOf(), tells('Pending', amount)).answer.outcome).toBeUndefined()
    },
  )
})

describe('the next check', () => {
  const next = (before: Payment, how: Partial<CheckSettled> | Told = {}) =>
    settle(before, how).row.next_check_at

  it.each(PAYMENT_STATUSES)('of one that is %s comes only while something is open', (status) => {
    const open = status === 'Pending' ? NOW + 5 * MINUTE : null
    expect(next(paymentOf(came(status)))).toBe(open)
    const refunds = [refundRow()]
    expect(next(paymentOf(came(status), { refunds }))).toBe(NOW + 5 * MINUTE)
    const failed = [refundRow({ status: 'failed' })]
    expect(next(paymentOf(came(status), { refunds: failed }))).toBe(open)
    const early = paymentOf({ ...came(status), refunds_read_at: 0 }, { refunds: [] })
    expect(next(early)).toBe(status === 'Paid' ? NOW + HOUR_MS : open)
  })

  it('comes for one that could not be asked about, unless it has changed in between', () => {
    const had = paymentOf(came('Expired'))
    expect(next(had, { isUnanswered: true })).toBe(NOW + HOUR_MS)
    const asked = paymentOf().transaction
    expect(next(had, { isUnanswered: true, asked })).toBeNull()
  })

  it('that was made due since the claim stays due', () => {
    const asked = paymentOf({ next_check_at: NOW + 5 }).transaction
    const at = (next_check_at: number | null, refunds = [refundRow({ status: 'accepted' })]) =>
      next(paymentOf({ ...came('Paid'), next_check_at }, { refunds }), { asked })
    expect([at(NOW + 5), at(NOW + 7), at(null)]).toEqual([
      NOW + 5 * MINUTE,
      NOW + 7,
      NOW + 5 * MINUTE,
    ])
    expect([at(NOW + 5, []), at(NOW + 7, [])]).toEqual([null, NOW + 7])
  })

  it('is the last when days have passed: a person should look, and is told what there is', () => {
    const old = { created_at: NOW - 5 * DAY_MS }
    const { alerts, row, answer } = settle(paymentOf(old), tells('Pending'))
    const since = new Date(NOW - 5 * DAY_MS).toISOString()
    const detail = { reference: 'order-1', amount: 25_000, currency: 'IQD', since }
    expect(alerts).toMatchObject([
      { kind: 'unsettled', subject: '01TX', detail: { ...detail, gatewayStatus: 'Pending' } },
    ])
    expect([row.next_check_at, answer]).toEqual([null, { alert: 'unsettled' }])
    expect(settle(paymentOf(old)).alerts).toMatchObject([{ detail: { gatewayStatus: 'none' } }])
    const later = { ...tells('Pending'), payableUntil: NOW + DAY_MS }
    expect(settle(paymentOf(old), later).alerts).toEqual([])
  })

  it('is seen with what the gateway said, and a closed page is not offered any more', () => {
    const page = { redirectUrl: 'https://pay.example', expiresAt: 'soon', qrCode: 'q' }
    const codes = { readableCode: 'r', deepLink: 'd', transactionId: '01TX' }
    const charge_answer = JSON.stringify({ ...page, ...codes })
    const row = { charge_answer, redirect_url: page.redirectUrl, expires_at: NOW + MINUTE }
    const checked = (own: Partial<TransactionRow>, how: Partial<CheckSettled> | Told) =>
      settle(paymentOf({ ...row, ...own }), how).row
    const seen = { last_check_at: NOW, last_check_status: 'unknown' }
    expect(checked({}, { noAnswer: 'unknown' })).toMatchObject({ ...row, ...seen })
    expect(checked({}, {})).toMatchObject({ ...row, last_check_at: null })
    const closes = { ...tells('Pending'), isPageClosed: true }
    const closed = checked({}, closes)
    expect(closed).toMatchObject({ redirect_url: null, expires_at: null })
    expect(JSON.parse(closed.charge_answer ?? '')).toEqual({ transactionId: '01TX' })
    expect(checked(came('Paid'), closes)).toMatchObject(row)
    expect(checked({ charge_answer: null }, closes).expires_at).toBe(NOW + MINUTE)
  })

  it('remembers an answer that cannot be read; only another one raises an alert', () => {
    const answered = (payment: Payment, id: string) =>
      settle(payment, {
        isUnanswered: true,
        noAnswer: 'unreachable',
        unreadable: { id, why: 'amount' },
      })
    const first = answered(paymentOf(), 'first')
    expect(first.alerts).toEqual([])
    expect(first.row).toMatchObject({
      next_check_at: NOW + 5 * MINUTE,
      unreadable_event: 'first',
      last_check_status: 'unreachable',
    })
    const detail = { reference: 'order-1', error: 'Its status cannot be read: amount.' }
    expect(answered(first.payment, 'second').alerts).toMatchObject([
      { kind: 'unreadable', subject: '01TX event', detail },
    ])
  })

  it.each([
    ['claimed', 'outcome_unknown'],
    ['accepted', 'refund_cancelled'],
  ] as const)('gives up a refund that is %s and not listed after a day: %s', (status, code) => {
    const old = refundRow({ status, created_at: NOW - DAY_MS })
    const earlier = refundRow({ id: '00REFUND', status: 'failed' })
    const told = { ...tells('Paid'), refunds: { readAt: NOW, refunds: [] } }
    const { payment, alerts, row } = settle(
      paymentOf(came('Paid'), { refunds: [earlier, old] }),
      told,
    )
    expect(payment.refunds[0]).toEqual(earlier)
    expect(payment.refunds[1]).toMatchObject({ status: 'failed' })
    expect(JSON.parse(payment.refunds[1]?.error ?? '')).toMatchObject({ code })
    expect(alerts).toMatchObject([{ kind: 'refund_unsettled', detail: { refundId: '01REFUND' } }])
    expect(row.next_check_at).toBeNull()
  })

  it.each([
    ['began after it was claimed for its check', { next_check_at: NOW + 5 }, NOW],
    ['may be in a list that was read later', { refunds_read_at: NOW - 1 }, NOW - 2],
  ])('of a refund that %s does not give that up', (_, own, readAt) => {
    // By a clock that was a day behind.
    const refunds = [refundRow({ created_at: NOW - DAY_MS })]
    const { transaction: asked } = paymentOf(came('Paid'))
    const answer = answerOf({ ...tells('Paid'), refunds: { readAt, refunds: [] } })
    const had = paymentOf({ ...came('Paid'), ...own }, { refunds })
    const { payment, alerts, row } = settle(had, { asked, answer })
    expect([payment.refunds, alerts]).toEqual([refunds, []])
    expect(row.next_check_at).not.toBeNull()
  })

  it('of a charge that got its id when it was to be given up comes at once', () => {
    const { transaction: asked } = paymentOf({ gateway_transaction_id: null })
    const { row, event, alerts } = settle(paymentOf(), {
      asked,
      answer: answerOf(tells('Expired')),
    })
    expect(row).toMatchObject({ status: 'Pending', next_check_at: NOW })
    expect([event, alerts]).toEqual([undefined, []])
  })

  it('of a charge without an id that is given up ends it, with an alert if it was sent', () => {
    const lost = { gateway_transaction_id: null }
    const sent = settle(paymentOf(lost), tells('Expired'))
    expect(sent.row).toMatchObject({ status: 'Expired', last_check_at: null })
    expect(sent.alerts).toMatchObject([{ kind: 'unsettled', detail: { gatewayStatus: 'none' } }])
    expect(sent.answer).toMatchObject({ outcome: 'applied', alert: 'unsettled' })
    const unsent = settle(paymentOf({ ...lost, called_until: 0 }), tells('Expired'))
    expect([unsent.row.status, unsent.alerts]).toEqual(['Expired', []])
    // A webhook came first.
    const paid = settle(paymentOf({ ...came('Paid'), ...lost }), tells('Expired'))
    expect([paid.row.status, paid.alerts]).toEqual(['Paid', []])
  })

  it('ends the alert of one that is settled after all', () => {
    const open = alertRow({ kind: 'unsettled', subject: '01TX' })
    const { payment } = settle(paymentOf({}, { alerts: [open] }), tells('Paid'))
    expect(payment.alerts).toMatchObject([{ acknowledged_by: 'gateway' }])
  })
})
