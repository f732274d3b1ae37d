// Refunds: one at a time, and never more than was paid.

import { describe, expect, it } from 'vitest'
import type { On } from './ledger.ts'
import { HOUR, iso, MINUTE, T0 } from './ledger-world.ts'

const refused = { code: 'refused', rawCode: '7', message: 'Too old.' }

export function refundContract(on: On): void {
  describe('a refund', () => {
    it(
      'is claimed before the gateway is called, and changes its payment when it is done',
      on(async (w) => {
        const transaction = await w.reached('Paid')
        const start = w.refundStart(transaction, { amount: 4_000 })
        const begun = await w.ledger.beginRefund(start)
        expect(begun).toEqual({
          ...{ state: 'begun', transaction, amount: 4_000 },
          accessToken: 'token of redirect',
        })
        expect((await w.story(transaction)).refunds).toEqual([
          {
            id: start.id,
            amount: 4_000,
            reason: 'Returned',
            status: 'claimed',
            correlationId: 'correlation-3',
            createdAt: iso(start.now),
            updatedAt: iso(start.now),
          },
        ])
        const finished = await w.endRefund(start.id, { kind: 'done', gatewayRefundId: 'r-1' })
        expect(finished).toMatchObject({
          opened: false,
          transaction: { status: 'PartiallyRefunded', refundedAmount: 4_000 },
          pending: [
            { outboxId: start.id, type: 'PaymentRefunded', correlationId: 'correlation-3' },
          ],
        })
        const story = await w.story(transaction)
        expect(story.transaction).toEqual(finished.transaction)
        expect(story.refunds).toMatchObject([{ status: 'succeeded', gatewayRefundId: 'r-1' }])
        expect(story.events.at(-1)).toMatchObject({
          id: start.id,
          type: 'PaymentRefunded',
          payload: { transaction: finished.transaction },
        })
      }),
    )

    it(
      'is added to earlier ones, with events for the first and for Refunded',
      on(async (w) => {
        const transaction = await w.reached('Paid')
        const give = async (amount: number) =>
          w.endRefund(await w.claimed(transaction, { amount }), { kind: 'done' })
        expect((await give(5_000)).pending).toHaveLength(1)
        const second = await give(5_000)
        expect(second.pending).toEqual([])
        expect(second.transaction).toMatchObject({
          status: 'PartiallyRefunded',
          refundedAmount: 10_000,
        })
        expect((await give(15_000)).transaction).toMatchObject({
          status: 'Refunded',
          refundedAmount: 25_000,
        })
        expect((await w.eventsOf(transaction)).slice(2)).toEqual([
          'PaymentRefunded',
          'PaymentRefunded',
        ])
      }),
    )

    it(
      'finds its payment by the gateway’s id, at that gateway only',
      on(async (w) => {
        const transaction = await w.reached('Paid')
        const transactionId = transaction.gatewayTransactionId ?? ''
        expect(await w.refund(transaction, { transactionId, gateway: 'fib' })).toEqual({
          state: 'unknown_transaction',
        })
        expect(await w.refund(transaction, { gateway: 'fib' })).toEqual({
          state: 'unknown_transaction',
        })
        expect(await w.refund(transaction, { transactionId: 'nobody' })).toEqual({
          state: 'unknown_transaction',
        })
        expect(await w.refund(transaction, { transactionId })).toMatchObject({
          state: 'begun',
          transaction: { id: transaction.id },
        })
      }),
    )

    it(
      'is possible only for paid payments',
      on(async (w) => {
        for (const status of ['Pending', 'Failed', 'Cancelled', 'Expired', 'Refunded'] as const) {
          const transaction = await w.reached(status, { request: { reference: status } })
          expect(await w.refund(transaction)).toEqual({ state: 'not_refundable', status })
        }
        const all = await w.reached('PartiallyRefunded')
        await w.webhook(all, { status: 'PartiallyRefunded', amount: 25_000 })
        expect(await w.refund(all, { amount: 1 })).toEqual({
          state: 'not_refundable',
          status: 'PartiallyRefunded',
        })
      }),
    )

    it(
      'is never larger than the amount that is left',
      on(async (w) => {
        const paid = await w.reached('Paid', { request: { reference: 'order-1' } })
        expect(await w.refund(paid, { amount: 25_001 })).toEqual({
          state: 'too_much',
          left: 25_000,
          transaction: paid,
        })
        const part = await w.reached('PartiallyRefunded', { request: { reference: 'order-2' } })
        expect(await w.refund(part, { amount: 20_001 })).toMatchObject({
          state: 'too_much',
          left: 20_000,
        })
        expect((await w.story(part)).refunds).toEqual([])
        expect((await w.refund(part, { amount: 20_000 })).state).toBe('begun')
      }),
    )

    it(
      'must be the full amount at a gateway without partial refunds',
      on(async (w) => {
        const transaction = await w.reached('Paid')
        const fullOnly = true
        expect(await w.refund(transaction, { fullOnly, amount: 24_999 })).toEqual({
          state: 'not_full',
          transaction,
        })
        expect((await w.refund(transaction, { fullOnly, amount: 25_000 })).state).toBe('begun')
      }),
    )

    it(
      'is refused while another one is claimed or accepted',
      on(async (w) => {
        const transaction = await w.reached('Paid')
        const first = await w.claimed(transaction, { amount: 1_000 })
        const next = () => w.refund(transaction, { amount: 2_000, now: T0 + HOUR })
        expect(await next()).toMatchObject({ state: 'in_progress' })
        await w.endRefund(first, { kind: 'unknown', nextCheckAt: T0 + HOUR })
        expect(await next()).toMatchObject({ state: 'in_progress' })
        await w.endRefund(first, { kind: 'accepted', nextCheckAt: T0 + HOUR })
        expect(await next()).toMatchObject({ state: 'in_progress' })
        await w.endRefund(first, { kind: 'done' })
        expect((await next()).state).toBe('begun')
      }),
    )

    it(
      'that was refused is stored with its error, and changes no payment',
      on(async (w) => {
        const transaction = await w.reached('Paid')
        const refundId = await w.claimed(transaction, { idempotencyKey: 'key-1' })
        const finished = await w.endRefund(refundId, { kind: 'refused', error: refused })
        expect(finished).toMatchObject({ transaction: { status: 'Paid', refundedAmount: 0 } })
        expect(finished.pending).toEqual([])
        expect((await w.story(transaction)).refunds).toMatchObject([
          { status: 'failed', error: refused },
        ])
        expect(await w.refund(transaction, { idempotencyKey: 'key-1' })).toEqual({
          state: 'refused',
          error: refused,
        })
        expect((await w.refund(transaction, { idempotencyKey: 'key-2' })).state).toBe('begun')
      }),
    )
  })

  describe('a refund and its webhook', () => {
    for (const [status, amount] of [
      ['PartiallyRefunded', 4_000],
      ['Refunded', 25_000],
    ] as const) {
      it(
        `count once if the webhook (${status}) arrives first`,
        on(async (w) => {
          const transaction = await w.reached('Paid')
          const refundId = await w.claimed(transaction, { amount })
          const recorded = await w.webhook(transaction, { status, amount })
          expect(recorded.pending).toHaveLength(1)
          expect((await w.story(transaction)).refunds).toMatchObject([{ status: 'succeeded' }])
          const finished = await w.endRefund(refundId, { kind: 'done' })
          expect(finished.pending).toEqual([])
          expect(finished.transaction).toMatchObject({ status, refundedAmount: amount })
          expect((await w.eventsOf(transaction)).slice(2)).toEqual(['PaymentRefunded'])
        }),
      )

      it(
        `count once if the webhook (${status}) arrives later`,
        on(async (w) => {
          const transaction = await w.reached('Paid')
          await w.endRefund(await w.claimed(transaction, { amount }), { kind: 'done' })
          const recorded = await w.webhook(transaction, { status, amount })
          expect(recorded.pending).toEqual([])
          expect(await w.read(transaction)).toMatchObject({ status, refundedAmount: amount })
          expect((await w.eventsOf(transaction)).slice(2)).toEqual(['PaymentRefunded'])
        }),
      )
    }

    it(
      'leave it under way if the webhook reports a smaller amount',
      on(async (w) => {
        const transaction = await w.reached('PartiallyRefunded')
        const refundId = await w.claimed(transaction, { amount: 4_000 })
        await w.webhook(transaction, { status: 'PartiallyRefunded', amount: 5_000 })
        expect((await w.story(transaction)).refunds).toMatchObject([{ status: 'claimed' }])
        const finished = await w.endRefund(refundId, { kind: 'done' })
        expect(finished.transaction.refundedAmount).toBe(9_000)
      }),
    )

    it(
      'end an accepted one, which is then not checked any more',
      on(async (w) => {
        const transaction = await w.reached('Paid')
        const refundId = await w.claimed(transaction)
        await w.endRefund(refundId, { kind: 'accepted', nextCheckAt: T0 + MINUTE })
        await w.webhook(transaction, { status: 'Refunded' })
        expect((await w.story(transaction)).refunds).toMatchObject([{ status: 'succeeded' }])
        expect(await w.ledger.claimChecks({ now: T0 + HOUR, until: T0, limit: 9 })).toEqual([])
      }),
    )

    it(
      'keep the first time of its check when its call is repeated',
      on(async (w) => {
        const transaction = await w.reached('Paid')
        const refundId = await w.claimed(transaction)
        await w.endRefund(refundId, { kind: 'accepted', nextCheckAt: T0 + MINUTE })
        await w.endRefund(refundId, { kind: 'unknown', nextCheckAt: T0 + HOUR })
        await w.endRefund(refundId, { kind: 'accepted', nextCheckAt: T0 + HOUR })
        const claim = { now: T0 + MINUTE, until: T0 + HOUR, limit: 9 }
        expect(await w.ledger.claimChecks(claim)).toHaveLength(1)
      }),
    )
  })
}
