// Whatever its gateway reports, in any order: the money of a payment adds up.

import fc from 'fast-check'
import { expect, it } from 'vitest'
import { applyEvent } from '../../../../worker/payments/domain/apply-event.ts'
import { movementsOf } from '../../../../worker/payments/domain/movement.ts'
import {
  type Decision,
  type Payment,
  raiseAlert,
  unchanged,
  withAlerts,
} from '../../../../worker/payments/domain/payment.ts'
import { beginRefund, finishRefund } from '../../../../worker/payments/domain/refund.ts'
import type { WebhookEventRow } from '../../../../worker/payments/domain/rows.ts'
import { PAYMENT_STATUSES } from '../../../../worker/payments/domain/status.ts'
import { NOW, paymentOf, webhookEventRow } from '../../../support/payment-rows.ts'

const listed = fc.record({
  id: fc.constantFrom('g', 'h'),
  amount: fc.constantFrom(10_000, 25_000),
  status: fc.constantFrom('accepted', 'succeeded', 'failed'),
})
const step = fc.record({
  verb: fc.constantFrom('report', 'report', 'list', 'list', 'fail', 'dispute', 'ask', 'refund'),
  amount: fc.constantFrom(25_000, 24_000, 10_000, 0, -5),
  to_status: fc.constantFrom(...PAYMENT_STATUSES, 'Paid', 'Paid'),
  on_mismatch: fc.constantFrom('log', 'reject'),
  refunds: fc.uniqueArray(listed, { selector: ({ id }) => id }),
  refundId: fc.constantFrom(undefined, 'g', 'own-1'),
})
type Step = typeof step extends fc.Arbitrary<infer Each> ? Each : never

function take(
  before: Payment,
  { verb, amount, to_status, on_mismatch, refunds, refundId }: Step,
  now: number,
): Decision & { event?: WebhookEventRow } {
  if (verb === 'ask' || verb === 'refund') {
    const asked = { gateway: 'bank', transactionId: '01TX', reason: '', requestHash: '', amount }
    const how = { fullOnly: false, mayCall: true, now, until: now + 9 }
    const begun = beginRefund(before, { ...asked, ...how, id: `own-${before.refunds.length}` })
    if (begun.state !== 'begun') return unchanged(before)
    if (verb === 'ask') return unchanged(begun.payment)
    return finishRefund(begun.payment, begun.refund, { now, result: { kind: 'done' } })
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
    ...(verb !== 'report' &&
      verb !== 'fail' && {
        refunds: JSON.stringify({ readAt: now, refunds }),
      }),
  })
  return applyEvent(before, reported, { now, refundId })
}

const stepOf = (verb: Step['verb'], more: Pick<Step, 'to_status'> & Partial<Step>): Step => ({
  verb,
  amount: 24_000,
  on_mismatch: 'log',
  refunds: [],
  refundId: undefined,
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
      for (const [at, each] of steps.entries()) {
        const decision = take(before, each, NOW + at)
        const { payment, alerts, events, event } = decision
        const { transaction: is, refunds } = payment
        for (const { kind, amount } of movementsOf(before, decision, { now: NOW + at, event })) {
          if (kind !== 'disputed' && kind !== 'refused_paid') books += amount
        }
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
