// Whatever its gateway reports, in any order: the money of a payment adds up.

import fc from 'fast-check'
import { expect, it } from 'vitest'
import { beginRefund, finishRefund } from '../../../../worker/payments/acts/refund.ts'
import { missedPayment } from '../../../../worker/payments/acts/webhook.ts'
import { raiseAlert, withAlerts } from '../../../../worker/payments/domain/alerts.ts'
import { applyEvent } from '../../../../worker/payments/domain/apply-event.ts'
import { movementsOf } from '../../../../worker/payments/domain/books.ts'
import {
  type Decision,
  type Payment,
  unchanged,
} from '../../../../worker/payments/domain/payment.ts'
import type { MovementRow, WebhookEventRow } from '../../../../worker/payments/domain/rows.ts'
import { BESIDE_SUMS, PAYMENT_STATUSES } from '../../../../worker/payments/domain/status.ts'
import { decided, RULES, rowsOf } from '../../../support/acts.ts'
import { NOW, paymentOf, webhookEventRow } from '../../../support/payment-rows.ts'

const listed = fc.record({
  id: fc.constantFrom('g', 'h'),
  amount: fc.constantFrom(10_000, 25_000),
  status: fc.constantFrom('accepted', 'succeeded', 'failed'),
})
const part = fc.record({
  id: fc.constantFrom('a', 'b'),
  amount: fc.constantFrom(10_000, 25_000),
  currency: fc.constant('IQD'),
  state: fc.constantFrom('open', 'ended', 'unknown'),
  isOut: fc.boolean(),
})
const step = fc.record({
  // biome-ignore format: several names a line.
  verb: fc.constantFrom(
    'report', 'report', 'list', 'list', 'fail', 'dispute', 'chargeback', 'told late', 'ask', 'refund',
  ),
  parts: fc.uniqueArray(part, { selector: ({ id }) => id, minLength: 1 }),
  /** How far back the clock stands that a report was read by. */
  behind: fc.constantFrom(0, 0, 0, 1, 3, 60_000),
  amount: fc.constantFrom(25_000, 24_000, 10_000, 0, -5),
  to_status: fc.constantFrom(...PAYMENT_STATUSES, 'Paid', 'Paid'),
  on_mismatch: fc.constantFrom('log', 'reject'),
  refunds: fc.uniqueArray(listed, { selector: ({ id }) => id }),
  refundId: fc.constantFrom(undefined, 'g', 'own-1'),
})
type Step = typeof step extends fc.Arbitrary<infer Each> ? Each : never

function take(
  before: Payment,
  { verb, amount, to_status, on_mismatch, refunds, refundId, parts, behind }: Step,
  now: number,
): Decision & { event?: WebhookEventRow; moved?: readonly MovementRow[] } {
  if (verb === 'ask' || verb === 'refund') {
    const asked = { gateway: 'bank', transactionId: '01TX', reason: '', requestHash: '', amount }
    const how = { fullOnly: false, mayCall: true, now, until: now + 9 }
    const refundId = `own-${before.refunds.length}`
    const begun = beginRefund({ ...asked, ...how, id: refundId })
    const { answer, rows } = decided(begun, rowsOf(before))
    if (answer.state === 'begun' && verb === 'refund') {
      finishRefund({ refundId, now, result: { kind: 'done' } }, RULES).decide(rows)
    }
    const moved = rows.changesOf('movements').inserted
    return { ...unchanged(rows.payment('01TX') ?? before), moved }
  }
  const reported = webhookEventRow({
    id: `event-${now}`,
    event_id: `event-${now}`,
    to_status,
    amount,
    on_mismatch,
    occurred_at: now,
    ...(verb === 'fail' && { alert: 'refund_failed' }),
    ...(verb === 'dispute' && { alert: 'dispute' }),
    ...(verb === 'chargeback' && {
      disputes: JSON.stringify({ id: 'dp', readAt: now - behind, parts }),
    }),
    ...(verb !== 'report' &&
      verb !== 'fail' && {
        refunds: JSON.stringify({ readAt: now - behind, refunds }),
      }),
  })
  return applyEvent(before, reported, { now, refundId })
}

/** It was paid and given back before any of it was read: both come in one reading. */
function missed(before: Payment, each: Step, now: number) {
  const to_status = each.amount === 10_000 ? 'PartiallyRefunded' : 'Refunded'
  const told = webhookEventRow({ id: `paid-${now}`, to_status, paid_amount: 25_000 })
  const paid = missedPayment(before, told)
  return paid && applyEvent(before, { ...paid, id: told.id }, { now })
}

const stepOf = (verb: Step['verb'], more: Pick<Step, 'to_status'> & Partial<Step>): Step => ({
  verb,
  amount: 24_000,
  on_mismatch: 'log',
  refunds: [],
  refundId: undefined,
  parts: [],
  behind: 0,
  ...more,
})
/** The refund that fails is more than was paid, and the rest was all of it. */
const ALL_BUT_ONE = [
  stepOf('report', { to_status: 'Paid' }),
  stepOf('list', {
    to_status: 'Pending',
    refunds: [{ id: 'g', amount: 25_000, status: 'accepted' }],
  }),
  stepOf('report', { to_status: 'PartiallyRefunded' }),
  stepOf('fail', { to_status: 'Pending' }),
]

it('a payment and its books add up after each step', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 12 }), (steps) => {
      let before = paymentOf({ gateway_transaction_id: null })
      let books = 0
      let out = 0
      for (const [at, each] of steps.entries()) {
        const late: ReturnType<typeof take> | undefined =
          each.verb === 'told late' ? missed(before, each, NOW + at) : undefined
        const decision = late ?? take(before, each, NOW + at)
        const { payment, alerts, events, event, moved } = decision
        const { transaction: is, refunds } = payment
        const booked = moved ?? movementsOf(before, decision, { now: NOW + at, event })
        for (const { kind, amount } of booked) {
          if (!BESIDE_SUMS.includes(kind)) books += amount
          else if (kind !== 'refused_paid') out += amount
        }
        expect(out).toBe(payment.disputes.reduce((sum, row) => sum + row.out_amount, 0))
        const disputes = payment.alerts.filter(({ kind }) => kind === 'dispute')
        expect(disputes.length).toBe(new Set(payment.disputes.map((row) => row.dispute)).size)
        const paid = is.paid_at === null ? 0 : Math.max(0, is.paid_amount ?? 0)
        const made = refunds.filter(({ status }) => status === 'succeeded')
        const back = made.reduce((total, { amount }) => total + amount, 0)
        expect(is.refunded_amount).toBe(Math.min(paid, back))
        expect(books).toBe(paid - is.refunded_amount)
        if (each.verb === 'report' && event?.outcome === 'illegal') expect(events).toEqual([])
        if (event && event.outcome !== 'applied') expect(is.status).toBe(before.transaction.status)
        const rows = alerts.map((alert) => {
          const isIt = (row: typeof alert | (typeof before.alerts)[number]) =>
            row.kind === alert.kind && row.subject === alert.subject
          return raiseAlert(alert, payment.alerts.find(isIt), () => `${at} ${alert.kind}`)
        })
        before = withAlerts(
          payment,
          rows.filter((row) => row !== undefined),
        )
      }
    }),
    { numRuns: 500, examples: [[ALL_BUT_ONE]] },
  )
})
