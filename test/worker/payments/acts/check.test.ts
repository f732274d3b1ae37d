// Which payments the sweeper checks, and when.

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isCheckDue } from '../../../../worker/payments/acts/check.ts'
import { checkSoon } from '../../../../worker/payments/acts/check-soon.ts'
import {
  checkedInMs,
  nextCheckAt,
  unknownCheckAt,
  withCheckBy,
} from '../../../../worker/payments/domain/check-times.ts'
import type { RefundRow } from '../../../../worker/payments/domain/rows.ts'
import { PAYMENT_STATUSES } from '../../../../worker/payments/domain/status.ts'
import {
  BEHIND_MS,
  DAY_MS as DAY,
  HOUR_MS as HOUR,
} from '../../../../worker/payments/domain/time.ts'
import { decided, RULES, rowsOf } from '../../../support/acts.ts'
import {
  came,
  MINUTE,
  NOW,
  paymentOf,
  refundRow,
  transactionRow,
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
    expect(nextCheckAt(0, 3 * DAY)).toBe(4 * DAY)
    expect(checks()).toEqual([5, 10, 20, 40, 80, 160, 320, 640, 1_280, ...days])
  })

  it('come once more, a minute after the payment expires', () => {
    expect(checks(15 * MINUTE).slice(0, 5)).toEqual([5, 10, 16, 32, 64])
  })

  it('do not wait for an expiry that is later than the next check', () => {
    expect(nextCheckAt(0, 0, HOUR)).toBe(5 * MINUTE)
  })

  it('ignore an expiry that is past', () => {
    expect(nextCheckAt(0, 2 * HOUR, HOUR)).toBe(4 * HOUR)
    expect(nextCheckAt(HOUR, 2 * HOUR, HOUR)).toBe(3 * HOUR)
  })

  it('begin half a minute after a charge without an answer, and are done a sweep later', () => {
    expect(unknownCheckAt(NOW)).toBe(NOW + 30_000)
    expect(checkedInMs(NOW + 9, NOW)).toBe(9 + MINUTE + 20_000)
    expect(checkedInMs(NOW - 9, NOW)).toBe(MINUTE + 20_000)
    expect(checkedInMs(undefined, NOW)).toBe(HOUR)
  })

  it('go on until a day after the expiry of a payment that can be paid for a week', () => {
    const last = checks(7 * DAY).at(-1) ?? 0
    expect(last).toBeGreaterThan((7 * DAY) / MINUTE)
    expect(last).toBeLessThanOrEqual((8 * DAY) / MINUTE)
  })

  it('are always in the future, at most a day ahead, and always end', () => {
    const times = fc.integer({ min: 0, max: 30 * DAY })
    fc.assert(
      fc.property(times, fc.option(times, { nil: undefined }), (now, expiresAt) => {
        const next = nextCheckAt(0, now, expiresAt)
        if (next === undefined) return
        expect(next).toBeGreaterThan(now)
        expect(next - now).toBeLessThanOrEqual(DAY)
        expect(now).toBeLessThan(Math.max(4 * DAY, (expiresAt ?? 0) + DAY))
      }),
    )
  })
})
