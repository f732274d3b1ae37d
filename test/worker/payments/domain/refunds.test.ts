// The refunds of a payment, as its gateway lists them, sums them up or reports that one has
// failed; and what follows for the payment.

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  differsFrom,
  FAILED,
  failedRefund,
  settleRefunds,
  withRefundSet,
  withRefundSum,
} from '../../../../worker/payments/domain/refunds.ts'
import type { RefundRow } from '../../../../worker/payments/domain/rows.ts'
import { PAYMENT_STATUSES } from '../../../../worker/payments/domain/status.ts'
import type { ReportedRefund } from '../../../../worker/payments/domain/types.ts'
import { came, casesIn, NOW, paymentOf, refundRow } from '../../../support/payment-rows.ts'

/** Asked for through us. */
const own = (id: string, more: Partial<RefundRow> = {}) => refundRow({ id, ...more })
/** Made at the gateway itself. */
const desk = (id: string, more: Partial<RefundRow> = {}) =>
  refundRow({ id, request_hash: null, status: 'succeeded', ...more })
const named = (gateway_refund_id: string) => ({ gateway_refund_id })
const paid = (...refunds: RefundRow[]) => paymentOf(came('Paid'), { refunds })
const reported = (more: Partial<ReportedRefund> = {}): ReportedRefund => ({
  amount: 4_000,
  status: 'succeeded',
  ...more,
})
const stored = (rows: RefundRow[], ...refunds: ReportedRefund[]) =>
  withRefundSet(paid(...rows), { readAt: NOW, refunds }, NOW).refunds
const WITHDRAWN = { code: 'refund_failed', message: expect.stringContaining('no longer has') }
const cancelled = { code: 'refund_cancelled', message: 'It was cancelled.' }

/** `desk a succeeded g`: row `a`, made at the gateway, with its id `g` there. */
const rowsIn = (text: string) =>
  text.split(', ').flatMap((each) => {
    const [id, status, name = null] = each.replace('desk ', '').split(' ')
    const more = { status: status as RefundRow['status'], gateway_refund_id: name }
    return id ? [each.startsWith('desk') ? desk(id, more) : own(id, more)] : []
  })
const textOf = (rows: readonly RefundRow[]) =>
  rows.map(({ id, status, gateway_refund_id: name, request_hash }) =>
    [request_hash ?? 'desk', id.length > 9 ? 'new' : id, status, name].join(' ').trim(),
  )
/** `g failed`; without an id `- failed`; with ours, too, `a/g failed`. */
const setIn = (text: string) =>
  text.split(', ').flatMap((each) => {
    const [ids = '', status] = each.split(' ')
    const [id = '', refundId] = ids.split('/').toReversed()
    const names = { ...(id !== '-' && { id }), ...(refundId && { refundId }) }
    return id ? [reported({ ...names, status: status as ReportedRefund['status'] })] : []
  })

// What is stored + what the gateway lists = what is stored then.
const LISTS = `
  ends one by our id
    a claimed + a/g succeeded = a succeeded g
  ends one by the gateway’s id
    a claimed, b claimed g + g succeeded = a claimed, b succeeded g
  names what was a part of the sum, at last
    desk a succeeded, desk b accepted g + h failed, g failed = desk a failed h, desk b failed g
  names none of ours by guess
    a claimed + g succeeded = a claimed, desk new succeeded g
  names none that has another name
    desk a succeeded h + g succeeded = desk a succeeded h, desk new succeeded g
  without ids ends each under way first
    a succeeded, b claimed, c accepted + - succeeded, - failed = a succeeded, b succeeded, c failed
  without ids fails one that was made
    z failed, a succeeded + - failed = z failed, a failed
  without ids adds one that is new
    + - accepted = desk new accepted
  without ids adds one beside another that failed
    desk a failed + - accepted = desk a failed, desk new accepted
  has one of ours accepted
    a claimed + a/g accepted = a accepted g
  without ids adds none that has failed
    + - failed =
  with ids adds also one that has failed
    + g failed = desk new failed g
  keeps the state of what it does not list
    a claimed, b accepted, desk c succeeded + = a claimed, b accepted, desk c succeeded
  fails what it began and lists no more
    desk a accepted, desk b accepted g + g accepted = desk a failed, desk b accepted g
  takes back what was made only if it fails
    a succeeded g, b succeeded h + g accepted, h failed = a succeeded g, b failed h
`

describe('a list of refunds', () => {
  it.each(casesIn(LISTS))('%s', (_, rows, set, after) => {
    expect(textOf(stored(rowsIn(rows), ...setIn(set)))).toEqual(textOf(rowsIn(after)))
  })

  it('has for a failure its own error, or the first that is known', () => {
    const errorIn = (row: RefundRow, more: Partial<ReportedRefund>) =>
      JSON.parse(stored([row], reported({ refundId: row.id, ...more }))[0]?.error ?? 'null')
    const refused = { status: 'failed', error: JSON.stringify({ code: 'x' }) } as const
    expect(errorIn(own('a'), { status: 'failed', error: cancelled })).toEqual(cancelled)
    expect(errorIn(own('a'), { status: 'failed' })).toEqual(FAILED)
    expect(errorIn(own('a', { error: '{}' }), { status: 'failed' })).toEqual(FAILED)
    expect(errorIn(own('a', refused), { status: 'failed', amount: 9 })).toEqual({ code: 'x' })
    const bare = own('a', { ...refused, error: null })
    expect(errorIn(bare, { status: 'failed', amount: 9 })).toEqual(FAILED)
    expect(errorIn(own('a', refused), {})).toBeNull()
    const [withdrawn] = stored([desk('a', { status: 'accepted' })])
    expect(JSON.parse(withdrawn?.error ?? '')).toEqual(WITHDRAWN)
    expect(withdrawn?.updated_at).toBe(NOW)
  })

  it('stores what the gateway itself made as a row without who asked for it', () => {
    const [row, failed] = stored(
      [],
      reported({ id: 'g' }),
      reported({ id: 'h', status: 'failed', error: cancelled }),
    )
    expect(row).toEqual({
      id: expect.any(String),
      transaction_id: '01TX',
      amount: 4_000,
      status: 'succeeded',
      reason: 'Made at the gateway.',
      gateway_refund_id: 'g',
      idempotency_key: null,
      request_hash: null,
      asked_by: null,
      correlation_id: null,
      error: null,
      created_at: NOW,
      updated_at: NOW,
    })
    expect(JSON.parse(failed?.error ?? '')).toEqual(cancelled)
  })

  it('is older than what is stored only by the clock of now', () => {
    const isRead = (refunds_read_at: number | null, readAt: number) => {
      const payment = paymentOf({ ...came('Paid'), refunds_read_at })
      const read = withRefundSet(payment, { readAt, refunds: [] }, NOW)
      if (read !== payment) expect(read.transaction.refunds_read_at).toBe(readAt)
      return read !== payment
    }
    expect([isRead(null, NOW), isRead(NOW, NOW), isRead(NOW, NOW - 1)]).toEqual([true, true, false])
    expect([isRead(NOW + 60_000, NOW), isRead(NOW + 60_001, NOW)]).toEqual([false, true])
  })

  it('is stored with each of its refunds once, and read again it changes nothing', () => {
    const name = fc.constantFrom('g', 'h', 'i', 'j')
    const rows = fc.uniqueArray(
      fc.record({
        name: fc.option(name),
        status: fc.constantFrom('claimed', 'accepted', 'succeeded', 'failed'),
        request_hash: fc.constantFrom(null, 'hash'),
      }),
      { selector: ({ name }) => name ?? {}, maxLength: 5 },
    )
    const set = fc.uniqueArray(
      fc.record({ id: name, status: fc.constantFrom('accepted', 'succeeded', 'failed') }),
      { selector: ({ id }) => id },
    )
    fc.assert(
      fc.property(rows, set, (before, listed) => {
        const known = before.map(({ name, ...row }, at) =>
          refundRow({ ...row, id: String(at), gateway_refund_id: name }),
        )
        const refunds = listed.map((each) => reported(each))
        const after = stored(known, ...refunds)
        expect(after.slice(0, known.length).map(({ id }) => id)).toEqual(known.map(({ id }) => id))
        for (const { id } of refunds) {
          expect(after.filter((row) => row.gateway_refund_id === id)).toHaveLength(1)
        }
        expect(differsFrom(after, { readAt: NOW, refunds })).toBe(false)
        const isSame = known.length === after.length && after.every((row, at) => row === known[at])
        expect(differsFrom(known, { readAt: NOW, refunds })).toBe(!isSame)
      }),
    )
  })
})

describe('the sum of the refunds', () => {
  const summed = (rows: RefundRow[], sum: number, at = NOW, read: number | null = null) => {
    const before = paymentOf({ ...came('Paid'), refunds_read_at: read }, { refunds: rows })
    const { payment, isAsked } = withRefundSum(before, sum, at, NOW)
    if (isAsked) expect(payment).toBe(before)
    const amounts = payment.refunds.map(({ status, amount }) => `${status} ${amount}`)
    return isAsked ? 'asked' : amounts.join(', ')
  }

  // Each of these is of 4,000.
  it.each([
    ['is known', 'desk a succeeded, b claimed', 4_000, 'succeeded 4000, claimed 4000'],
    ['is lower than what is known', 'desk a succeeded', 3_999, 'asked'],
    ['has one of ours', 'a claimed, b accepted', 4_000, 'succeeded 4000, accepted 4000'],
    [
      'has one of ours and more',
      'a claimed, b claimed',
      7_999,
      'succeeded 4000, claimed 4000, succeeded 3999',
    ],
    [
      'has more of the gateway itself',
      'a failed, desk b succeeded',
      4_001,
      'failed 4000, succeeded 4001',
    ],
    ['has more than one with a name', 'desk a succeeded g', 4_001, 'succeeded 4000, succeeded 1'],
    ['has more than one that failed', 'desk a failed', 1, 'failed 4000, succeeded 1'],
    ['has more than ours', 'a succeeded', 4_001, 'succeeded 4000, succeeded 1'],
  ])('that %s settles what is in it, and adds the rest', (_, rows, sum, expected) => {
    expect(summed(rowsIn(rows), sum)).toBe(expected)
  })
})

describe('a refund that failed', () => {
  const found = (rows: RefundRow[], refundId?: string, at = NOW) => {
    const payment = paymentOf({ ...came('Paid'), refunds_read_at: NOW }, { refunds: rows })
    return failedRefund(payment, refundId, at, NOW)?.id
  }
  const whole = desk('whole', { amount: 25_000 })

  it.each<[string, RefundRow[], string | undefined, string | undefined]>([
    ['is that with its id here', [own('a'), own('b')], 'b', 'b'],
    ['is that with its id at the gateway', [own('a'), own('b', named('g'))], 'g', 'b'],
    ['is none, if another is named', [own('a'), whole], 'z', undefined],
    [
      'without a name is the one under way',
      [whole, own('b', { status: 'accepted' })],
      undefined,
      'b',
    ],
    ['without a name is the one of everything', [desk('a'), whole], undefined, 'whole'],
    ['without a name is none of a part', [desk('a')], undefined, undefined],
    ['without a name is none that failed', [{ ...whole, status: 'failed' }], undefined, undefined],
  ])('%s', (_, rows, refundId, expected) => {
    expect(found(rows, refundId)).toBe(expected)
    expect(found(rows, refundId, NOW - 1)).toBeUndefined()
  })
})

describe('what follows from changed refunds', () => {
  const inDollars = (...refunds: RefundRow[]) =>
    paymentOf({ ...came('Paid'), paid_currency: 'USD' }, { refunds })
  const cause = { id: '01CAUSE', correlationId: 'c-9', now: NOW }
  const failing = (row: RefundRow, before = row, more = {}) =>
    settleRefunds(inDollars(before), inDollars({ ...row, status: 'failed' }), { ...cause, ...more })
      .alerts

  it('is an alert for each that has failed since, with who asked for it', () => {
    const row = own('a', { gateway_refund_id: 'g', asked_by: 'ada', error: '{"code":"x"}' })
    const detail = { reference: 'order-1', amount: 4_000, currency: 'USD' }
    const ofOurs = { refundId: 'a', gatewayRefundId: 'g', askedBy: 'ada', error: { code: 'x' } }
    expect(failing(row, row, { eventId: 'event-1' })).toEqual([
      {
        kind: 'refund_failed',
        subject: 'a',
        gateway: 'bank',
        transactionId: '01TX',
        createdAt: NOW,
        detail: { ...detail, eventId: 'event-1', ...ofOurs },
      },
    ])
    // Made at the gateway, its id there is the one that people know.
    const theirs = { request_hash: null, gateway_refund_id: 'g' }
    for (const [row, refundId] of [
      [own('a'), 'a'],
      [own('a', { request_hash: null }), 'a'],
      [own('a', theirs), 'g'],
    ] as const) {
      expect(failing(row)[0]?.detail).toStrictEqual({ ...detail, refundId })
    }
    expect(failing({ ...row, status: 'failed' })).toEqual([])
    const before = [own('a', { status: 'failed' }), own('b')]
    const after = ['a', 'b', 'c'].map((id) => own(id, { status: 'failed' }))
    const { alerts } = settleRefunds(inDollars(...before), inDollars(...after), cause)
    expect(alerts.map(({ subject }) => subject)).toEqual(['b', 'c'])
  })

  it('is the sum of those that were made, with one event for each change', () => {
    const amount = fc.constantFrom(0, 4_000, 25_000)
    const row = fc.record({ amount, status: fc.constantFrom('accepted', 'succeeded', 'failed') })
    const rows = fc.array(row, { maxLength: 4 })
    const status = fc.constantFrom(...PAYMENT_STATUSES)
    fc.assert(
      fc.property(status, fc.boolean(), amount, rows, (status, isLate, paid_amount, states) => {
        const isEnd = ['Failed', 'Cancelled', 'Expired'].includes(status)
        const late = isEnd && isLate ? { paid_at: NOW - 9 } : {}
        const before = paymentOf({ ...came(status), ...late, paid_amount }, { refunds: [] })
        const refunds = states.map((each, at) => own(String(at), each))
        const { payment, events } = settleRefunds(before, { ...before, refunds }, cause)
        const { transaction: was } = before
        const is = payment.transaction
        if (was.paid_at === null) {
          expect([is, events]).toEqual([was, []])
          return
        }
        const made = refunds.filter((row) => row.status === 'succeeded')
        const sum = Math.min(
          paid_amount,
          made.reduce((all, row) => all + row.amount, 0),
        )
        const isAll = sum > 0 && sum === paid_amount
        const next = isAll
          ? 'Refunded'
          : sum > 0 && status === 'Paid'
            ? 'PartiallyRefunded'
            : status
        expect([is.refunded_amount, is.status]).toEqual([sum, isEnd ? status : next])
        const isChanged = sum !== was.refunded_amount || is.status !== status
        const type = is.status === status ? 'RefundAmountChanged' : 'PaymentRefunded'
        const more = { previousRefundedAmount: was.refunded_amount }
        const further = is.status === status && { more }
        const event = { id: '01CAUSE', type, correlationId: 'c-9', createdAt: NOW, ...further }
        expect(events).toEqual(isChanged ? [{ ...event, transaction: is }] : [])
        expect(is.refund_revision).toBe(events.length)
        expect(is.updated_at).toBe(isChanged ? NOW : was.updated_at)
      }),
    )
  })
})
