// Which payments the sweeper checks, when, and what its answer makes of the next check.

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  type CheckSettled,
  isCheckDue,
  settleCheck,
} from '../../../../worker/payments/acts/check.ts'
import { checkSoon } from '../../../../worker/payments/acts/check-soon.ts'
import {
  checkedInMs,
  nextCheckAt,
  unknownCheckAt,
} from '../../../../worker/payments/domain/check-times.ts'
import { type Payment, withCheckBy } from '../../../../worker/payments/domain/payment.ts'
import type { RefundRow, TransactionRow } from '../../../../worker/payments/domain/rows.ts'
import { PAYMENT_STATUSES } from '../../../../worker/payments/domain/status.ts'
import { BEHIND_MS, DAY_MS, HOUR_MS } from '../../../../worker/payments/domain/time.ts'
import { answerOf, decided, type Reported, RULES, rowsOf, tells } from '../../../support/acts.ts'
import {
  alertRow,
  came,
  MINUTE,
  NOW,
  paymentOf,
  refundRow,
  transactionRow,
  webhookEventRow,
} from '../../../support/payment-rows.ts'

describe('a check', () => {
  it('is due at its time and after it', () => {
    const due = (next_check_at: number | null) => isCheckDue(paymentOf({ next_check_at }), NOW)
    expect([null, NOW + 1, NOW, NOW - 1].map(due)).toEqual([false, false, true, true])
  })

  it('is due now once a clock is right again that ran hours ahead, and then waits as a new one', () => {
    const HOURS = 180 * MINUTE
    const isDue = (own: object, refunds: RefundRow[] = [], ahead = HOURS + 5 * MINUTE) =>
      isCheckDue(paymentOf({ next_check_at: NOW + ahead, ...own }, { refunds }), NOW)
    expect(isDue({})).toBe(false)
    const [later, nearly] = [NOW + BEHIND_MS + 1, NOW + BEHIND_MS]
    for (const name of ['created_at', 'updated_at', 'last_check_at']) {
      expect([isDue({ [name]: later }), isDue({ [name]: nearly })]).toEqual([true, false])
      // Claimed, or settled since: it is not asked about at each sweep.
      expect(isDue({ [name]: later }, [], 5 * MINUTE)).toBe(false)
    }
    expect(isDue({}, [refundRow({ updated_at: later })])).toBe(true)
    expect(isDue({ created_at: later, next_check_at: null })).toBe(false)
  })

  it.each(PAYMENT_STATUSES)(
    'of a payment that is %s can be made due now: a refund may still fail',
    (status) => {
      const due = (next_check_at: number | null) =>
        withCheckBy(transactionRow({ ...came(status), next_check_at }), NOW).next_check_at
      expect([null, NOW + 9, NOW - 9].map(due)).toEqual([NOW, NOW, NOW - 9])
    },
  )

  it('comes soon after a webhook that cannot be read; only another one raises an alert', () => {
    const read = (before = paymentOf(), id = 'first', more = {}) => {
      const unreadable = { id, why: 'amount', ...more }
      const ids = { gatewayTransactionId: 'gateway-1' }
      const asked = checkSoon({ gateway: 'bank', ids, now: NOW, unreadable }, RULES)
      const { rows, ...caused } = decided(asked, rowsOf(before))
      return { ...caused, payment: rows.payment('01TX') ?? before }
    }
    const first = read()
    expect(first.payment.transaction).toMatchObject({
      next_check_at: NOW,
      unreadable_event: 'first',
    })
    // The ledger decides again if the answer of a save was lost.
    expect([first, read(first.payment)].flatMap(({ alerts }) => alerts)).toEqual([])
    const alert = {
      kind: 'unreadable',
      subject: '01TX event',
      gateway: 'bank',
      transaction_id: '01TX',
      detail: { reference: 'order-1', error: 'Its webhooks cannot be read: amount.' },
      created_at: NOW,
    }
    expect(read(first.payment, 'second').alerts).toMatchObject([alert])
    expect(read(paymentOf(), 'first', { isFinal: true }).alerts).toMatchObject([alert])
    expect(read(paymentOf()).events).toEqual([])
  })

  it('cannot come for a webhook whose payment is not known: its alert names what it is about', () => {
    const raised = (gatewayTransactionId?: string) => {
      const unreadable = { id: 'event-1', why: 'amount', isFinal: true } as const
      const ids = gatewayTransactionId === undefined ? {} : { gatewayTransactionId }
      return decided(checkSoon({ gateway: 'bank', ids, now: NOW, unreadable }, RULES), {}).alerts
    }
    const detail = { error: 'A webhook cannot be read: amount.' }
    const alert = { kind: 'unreadable', gateway: 'bank', transaction_id: null, created_at: NOW }
    expect(raised()).toMatchObject([{ ...alert, subject: 'event-1', detail }])
    const named = { ...detail, gatewayTransactionId: 'pay-1' }
    expect(raised('pay-1')).toMatchObject([{ ...alert, subject: 'bank pay-1', detail: named }])
  })
})

/** `asked`: as the payment was when it was asked about. */
function settle(
  before: Payment,
  how: Partial<CheckSettled> | Reported = {},
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

describe('a check that is settled by an answer', () => {
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
})

describe('the next check', () => {
  const next = (before: Payment, how: Partial<CheckSettled> | Reported = {}) =>
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
    const checked = (own: Partial<TransactionRow>, how: Partial<CheckSettled> | Reported) =>
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

/** Minutes after creation at which a payment that never settles is checked. */
function checks(expiresAt?: number): number[] {
  const times: number[] = []
  let next: number | undefined = nextCheckAt(0, 0, expiresAt)
  while (next !== undefined) {
    times.push(next / MINUTE)
    next = nextCheckAt(0, next, expiresAt)
  }
  return times
}

describe('the times of checks', () => {
  it('double from five minutes to a day, and end after about four days', () => {
    const days = [2_560, 4_000, 5_440]
    expect(nextCheckAt(0, 3 * DAY_MS)).toBe(4 * DAY_MS)
    expect(checks()).toEqual([5, 10, 20, 40, 80, 160, 320, 640, 1_280, ...days])
  })

  it('come once more, a minute after the payment expires', () => {
    expect(checks(15 * MINUTE).slice(0, 5)).toEqual([5, 10, 16, 32, 64])
  })

  it('do not wait for an expiry that is later than the next check', () => {
    expect(nextCheckAt(0, 0, HOUR_MS)).toBe(5 * MINUTE)
  })

  it('ignore an expiry that is past', () => {
    expect(nextCheckAt(0, 2 * HOUR_MS, HOUR_MS)).toBe(4 * HOUR_MS)
    expect(nextCheckAt(HOUR_MS, 2 * HOUR_MS, HOUR_MS)).toBe(3 * HOUR_MS)
  })

  it('begin half a minute after a charge without an answer, and are done a sweep later', () => {
    expect(unknownCheckAt(NOW)).toBe(NOW + 30_000)
    expect(checkedInMs(NOW + 9, NOW)).toBe(9 + MINUTE + 20_000)
    expect(checkedInMs(NOW - 9, NOW)).toBe(MINUTE + 20_000)
    expect(checkedInMs(undefined, NOW)).toBe(HOUR_MS)
  })

  it('go on until a day after the expiry of a payment that can be paid for a week', () => {
    const last = checks(7 * DAY_MS).at(-1) ?? 0
    expect(last).toBeGreaterThan((7 * DAY_MS) / MINUTE)
    expect(last).toBeLessThanOrEqual((8 * DAY_MS) / MINUTE)
  })

  it('are always in the future, at most a day ahead, and always end', () => {
    const times = fc.integer({ min: 0, max: 30 * DAY_MS })
    fc.assert(
      fc.property(times, fc.option(times, { nil: undefined }), (now, expiresAt) => {
        const next = nextCheckAt(0, now, expiresAt)
        if (next === undefined) return
        expect(next).toBeGreaterThan(now)
        expect(next - now).toBeLessThanOrEqual(DAY_MS)
        expect(now).toBeLessThan(Math.max(4 * DAY_MS, (expiresAt ?? 0) + DAY_MS))
      }),
    )
  })
})
