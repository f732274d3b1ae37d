// What gateways report in their events: other amounts, refunds, failures.

import { describe, expect, it } from 'vitest'
import type { On } from './ledger.ts'
import { HOUR, MINUTE, T0 } from './ledger-world.ts'

export function reportContract(on: On): void {
  describe('an event’s amount', () => {
    for (const wish of [{ amount: 24_999 }, { amount: 0 }, { currency: 'USD' }] as const) {
      const name = JSON.stringify(wish)
      it(
        `that differs (${name}) is applied if the policy is to log, and raises an alert`,
        on(async (w) => {
          const transaction = await w.charged()
          const recorded = await w.webhook(transaction, wish)
          expect(recorded).toMatchObject({ outcome: 'applied', isMismatch: true })
          expect(recorded.pending).toHaveLength(1)
          expect(await w.read(transaction)).toMatchObject({ status: 'Paid', amount: 25_000 })
          expect(await w.alerts()).toEqual(['amount_mismatch'])
          const [alert] = await w.queries.alerts({}, { limit: 9 })
          expect(alert?.detail).toEqual({
            reference: 'order-1',
            eventId: expect.any(String),
            ...{ amount: 25_000, currency: 'IQD', ...wish },
            ...{ expectedAmount: 25_000, expectedCurrency: 'IQD' },
          })
        }),
      )

      it(
        `that differs (${name}) changes nothing if the policy is to reject, and raises an alert`,
        on(async (w) => {
          const transaction = await w.charged()
          const arrival = w.arrival(transaction, { ...wish, onMismatch: 'reject' })
          const recorded = await w.caused(w.ledger.webhook(arrival))
          expect(recorded).toMatchObject({ outcome: 'rejected', isMismatch: true, pending: [] })
          const { alert, ...rest } = await w.read(transaction)
          expect([rest, alert?.kind]).toEqual([transaction, 'amount_mismatch'])
          expect(await w.alerts()).toEqual(['amount_mismatch'])
          const again = { ...arrival, id: w.id() }
          expect((await w.ledger.webhook(again)).outcome).toBe('duplicate')
        }),
      )
    }

    it(
      'is compared only for Paid',
      on(async (w) => {
        const transaction = await w.charged()
        const wish = { status: 'Failed', amount: 0, onMismatch: 'reject' } as const
        expect(await w.webhook(transaction, wish)).toMatchObject({
          outcome: 'applied',
          isMismatch: false,
        })
        expect(await w.alerts()).toEqual([])
      }),
    )

    it(
      'that is the requested one is applied if the policy is to reject',
      on(async (w) => {
        const transaction = await w.charged()
        const recorded = await w.webhook(transaction, { onMismatch: 'reject' })
        expect(recorded).toMatchObject({ outcome: 'applied', isMismatch: false })
        expect(await w.alerts()).toEqual([])
      }),
    )
  })

  describe('a refund reported by the gateway', () => {
    it(
      'grows by parts, with an event for the first only, and never beyond the amount',
      on(async (w) => {
        const transaction = await w.reached('Paid')
        const report = (amount: number) =>
          w.webhook(transaction, { status: 'PartiallyRefunded', amount })
        const refunded = async () => (await w.read(transaction)).refundedAmount
        expect((await report(1_000)).pending).toHaveLength(1)
        expect(await refunded()).toBe(1_000)
        expect(await report(3_000)).toMatchObject({ outcome: 'applied', pending: [] })
        expect(await refunded()).toBe(3_000)
        await report(2_000)
        expect(await refunded()).toBe(3_000)
        await report(99_000)
        expect(await refunded()).toBe(25_000)
        await report(-5)
        expect(await refunded()).toBe(25_000)
        expect((await w.eventsOf(transaction)).slice(2)).toEqual(['PaymentRefunded'])
      }),
    )

    it(
      'as Refunded is the full amount, whatever amount it has',
      on(async (w) => {
        const transaction = await w.reached('PartiallyRefunded')
        expect(transaction.refundedAmount).toBe(5_000)
        await w.webhook(transaction, { status: 'Refunded', amount: 0 })
        expect(await w.read(transaction)).toMatchObject({
          status: 'Refunded',
          refundedAmount: 25_000,
        })
      }),
    )

    it(
      'as failed changes nothing, raises an alert, and ends the refund under way',
      on(async (w) => {
        const transaction = await w.reached('Paid')
        const refundId = await w.claimed(transaction, { amount: 4_000 })
        await w.endRefund(refundId, { kind: 'accepted', nextCheckAt: T0 + MINUTE })
        const before = await w.read(transaction)
        const error = { code: 'refund_failed', rawCode: '51', message: 'The bank said no.' }
        const wish = { status: 'Paid', alert: 'refund_failed', refundId, error } as const
        expect(await w.webhook(transaction, wish)).toMatchObject({
          outcome: 'unchanged',
          transactionId: transaction.id,
          pending: [],
        })
        expect(await w.alerts()).toEqual(['refund_failed'])
        const { refunds, alerts, transaction: after } = await w.story(transaction)
        expect(refunds).toMatchObject([{ id: refundId, status: 'failed' }])
        const detail = { reference: 'order-1', refundId, error }
        expect(alerts).toMatchObject([
          { kind: 'refund_failed', transactionId: transaction.id, detail },
        ])
        expect([after.status, after.refundedAmount]).toEqual([before.status, before.refundedAmount])
        expect((await w.refund(transaction, { amount: 4_000 })).state).toBe('begun')
      }),
    )
  })

  describe('a dispute', () => {
    const dispute = { status: 'Paid', alert: 'dispute', amount: 900 } as const

    it(
      'is one alert while it is open, moves nothing and ends no refund under way',
      on(async (w) => {
        const transaction = await w.reached('Paid')
        const refundId = await w.claimed(transaction, { amount: 4_000 })
        await w.endRefund(refundId, { kind: 'accepted', nextCheckAt: T0 + MINUTE })
        const before = await w.read(transaction)
        for (const step of ['needs_response', 'under_review']) {
          const error = { code: 'dispute', message: step }
          const wish = { ...dispute, error, eventId: `dp-1:${step}` }
          expect(await w.webhook(transaction, wish)).toMatchObject({ outcome: 'unchanged' })
        }
        const { refunds, alerts, transaction: after } = await w.story(transaction)
        expect(refunds).toMatchObject([{ status: 'accepted' }])
        expect(after).toMatchObject({ ...before, alert: { kind: 'dispute' } })
        const detail = { amount: 900, error: { message: 'needs_response' } }
        expect(alerts).toMatchObject([{ kind: 'dispute', detail }])
      }),
    )

    it(
      'is another alert than another dispute of its payment',
      on(async (w) => {
        const transaction = await w.reached('Paid')
        for (const id of ['dp-1', 'dp-2'])
          await w.webhook(transaction, { ...dispute, eventId: `${id}:needs_response` })
        expect(await w.alerts()).toEqual(['dispute', 'dispute'])
      }),
    )

    it(
      'that was acknowledged is an alert again at its next step',
      on(async (w) => {
        const transaction = await w.reached('Paid')
        await w.webhook(transaction, { ...dispute, eventId: 'dp-1:needs_response' })
        const [alert] = (await w.story(transaction)).alerts
        await w.ledger.acknowledge(alert?.id ?? '', 'ann', T0 + MINUTE)
        await w.webhook(transaction, { ...dispute, eventId: 'dp-1:lost' })
        expect((await w.read(transaction)).alert).toMatchObject({ kind: 'dispute' })
      }),
    )
  })

  describe('a refund that failed', () => {
    const failed = { status: 'Paid', alert: 'refund_failed' } as const

    it(
      'with an id does not end another one that is under way',
      on(async (w) => {
        const transaction = await w.reached('Paid')
        const earlier = await w.claimed(transaction, { amount: 4_000 })
        await w.endRefund(earlier, { kind: 'done', gatewayRefundId: 're-1' })
        const later = await w.claimed(transaction, { amount: 5_000, now: T0 + 30_000 })
        await w.endRefund(later, { kind: 'accepted', nextCheckAt: T0 + HOUR })
        await w.webhook(transaction, { ...failed, refundId: 're-1' })
        await w.webhook(transaction, { ...failed, refundId: 'made-by-hand' })
        const { refunds } = await w.story(transaction)
        expect(refunds.map(({ status }) => status)).toEqual(['succeeded', 'accepted'])
        expect(await w.alerts()).toEqual(['refund_failed', 'refund_failed'])
        const claim = { now: T0 + HOUR, until: T0 + 2 * HOUR, limit: 9 }
        expect(await w.ledger.claimChecks(claim)).toMatchObject([{ refund: { id: later } }])
      }),
    )

    it(
      'keeps the check of a refund that was reported before its payment',
      on(async (w) => {
        const transaction = await w.charged()
        await w.webhook(transaction, { status: 'Refunded' })
        await w.webhook(transaction, { status: 'Paid' })
        await w.webhook(transaction, failed)
        const claim = { now: T0 + HOUR, until: T0 + 2 * HOUR, limit: 9 }
        expect(await w.ledger.claimChecks(claim)).toMatchObject([
          { transaction: { id: transaction.id } },
        ])
      }),
    )

    it(
      'is found by our id and by the gateway’s',
      on(async (w) => {
        const transaction = await w.reached('Paid')
        const first = await w.claimed(transaction, { amount: 4_000 })
        await w.webhook(transaction, { ...failed, refundId: first })
        const second = await w.claimed(transaction, { amount: 4_000 })
        const accepted = { kind: 'accepted', gatewayRefundId: 're-2', nextCheckAt: T0 } as const
        await w.endRefund(second, accepted)
        await w.webhook(transaction, { ...failed, refundId: 're-2' })
        const { refunds } = await w.story(transaction)
        expect(refunds.map(({ status }) => status)).toEqual(['failed', 'failed'])
      }),
    )
  })

  describe('a failure', () => {
    it(
      'stores its error, with the payment and with its event',
      on(async (w) => {
        const transaction = await w.charged()
        const error = { code: 'declined', rawCode: 'E51', message: 'Not enough money.' }
        await w.webhook(transaction, { status: 'Failed', error })
        const story = await w.story(transaction)
        expect(story.transaction).toMatchObject({ status: 'Failed', error })
        expect(story.webhookEvents).toMatchObject([{ error }])
        expect(story.events[1]).toMatchObject({
          type: 'PaymentFailed',
          payload: { transaction: { error } },
        })
        expect(story.transaction.paidAt).toBeUndefined()
      }),
    )

    for (const end of ['Failed', 'Cancelled', 'Expired'] as const) {
      it(
        `as ${end} before a late payment stays, and the late payment raises an alert`,
        on(async (w) => {
          const transaction = await w.reached(end)
          const recorded = await w.webhook(transaction, { status: 'Paid' })
          expect(recorded).toMatchObject({
            outcome: 'late_payment',
            transactionId: transaction.id,
            pending: [],
          })
          const { alert, ...rest } = await w.read(transaction)
          expect([rest, alert?.kind]).toEqual([transaction, 'late_payment'])
          expect(await w.alerts()).toEqual(['late_payment'])
          const late = await w.queries.webhookEvents({ outcome: 'late_payment' }, { limit: 9 })
          expect(late).toMatchObject([{ transactionId: transaction.id, fromStatus: end }])
        }),
      )
    }
  })
}
