// What the ledger keeps of a refund: one at a time, never more than was paid.

import { describe, expect, it } from 'vitest'
import type { On } from './ledger.ts'
import { HOUR, iso, MINUTE, T0 } from './ledger-world.ts'

const refused = { code: 'refused', rawCode: '7', message: 'Too old.' }

export function refundContract(on: On): void {
  describe('a refund', () => {
    it(
      'is claimed before the gateway is called, and moves its payment when it is done',
      on(async (w) => {
        const transaction = await w.came('Paid')
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
      'after another adds up, tells nothing while it is a part, and ends as Refunded',
      on(async (w) => {
        const transaction = await w.came('Paid')
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
      'is found by the gateway’s name of its payment, within that gateway',
      on(async (w) => {
        const transaction = await w.came('Paid')
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
      'is for what was paid alone',
      on(async (w) => {
        for (const status of ['Pending', 'Failed', 'Cancelled', 'Expired', 'Refunded'] as const) {
          const transaction = await w.came(status, { request: { reference: status } })
          expect(await w.refund(transaction)).toEqual({ state: 'not_refundable', status })
        }
        const all = await w.came('PartiallyRefunded')
        await w.tell(all, { status: 'PartiallyRefunded', amount: 25_000 })
        expect(await w.refund(all, { amount: 1 })).toEqual({
          state: 'not_refundable',
          status: 'PartiallyRefunded',
        })
      }),
    )

    it(
      'is never of more than is left',
      on(async (w) => {
        const paid = await w.came('Paid', { request: { reference: 'order-1' } })
        expect(await w.refund(paid, { amount: 25_001 })).toEqual({
          state: 'too_much',
          left: 25_000,
          transaction: paid,
        })
        const part = await w.came('PartiallyRefunded', { request: { reference: 'order-2' } })
        expect(await w.refund(part, { amount: 20_001 })).toMatchObject({
          state: 'too_much',
          left: 20_000,
        })
        expect((await w.story(part)).refunds).toEqual([])
        expect((await w.refund(part, { amount: 20_000 })).state).toBe('begun')
      }),
    )

    it(
      'is all of it where the gateway gives back no part',
      on(async (w) => {
        const transaction = await w.came('Paid')
        const fullOnly = true
        expect(await w.refund(transaction, { fullOnly, amount: 24_999 })).toEqual({
          state: 'not_full',
          transaction,
        })
        expect((await w.refund(transaction, { fullOnly, amount: 25_000 })).state).toBe('begun')
      }),
    )

    it(
      'waits for one that is under way, claimed or accepted',
      on(async (w) => {
        const transaction = await w.came('Paid')
        const first = await w.claimed(transaction, { amount: 1_000 })
        const next = () => w.refund(transaction, { amount: 2_000, now: T0 + HOUR })
        expect(await next()).toEqual({ state: 'in_progress' })
        await w.endRefund(first, { kind: 'unknown', nextCheckAt: T0 + HOUR })
        expect(await next()).toEqual({ state: 'in_progress' })
        await w.endRefund(first, { kind: 'accepted', nextCheckAt: T0 + HOUR })
        expect(await next()).toEqual({ state: 'in_progress' })
        await w.endRefund(first, { kind: 'done' })
        expect((await next()).state).toBe('begun')
      }),
    )

    it(
      'asked for fifty times at once is one refund',
      on(async (w) => {
        const transaction = await w.came('Paid')
        const all = await Promise.all(
          Array.from({ length: 50 }, () => w.refund(transaction, { amount: 100 })),
        )
        const states = all.map(({ state }) => state)
        expect(states.filter((state) => state === 'begun')).toHaveLength(1)
        expect(states.filter((state) => state === 'in_progress')).toHaveLength(49)
        expect((await w.story(transaction)).refunds).toHaveLength(1)
      }),
    )

    it(
      'begins again as the first time when the same call is repeated',
      on(async (w) => {
        const transaction = await w.came('Paid')
        const start = w.refundStart(transaction, { idempotencyKey: 'key-1' })
        const first = await w.ledger.beginRefund(start)
        expect(await w.ledger.beginRefund(start)).toEqual(first)
        expect((await w.story(transaction)).refunds).toHaveLength(1)
      }),
    )

    it(
      'is not begun anew by its own call, repeated late',
      on(async (w) => {
        const transaction = await w.came('Paid')
        const start = w.refundStart(transaction, { amount: 4_000 })
        await w.ledger.beginRefund(start)
        await w.endRefund(start.id, { kind: 'refused', error: refused })
        expect(await w.ledger.beginRefund(start)).toEqual({ state: 'refused', error: refused })
        expect((await w.story(transaction)).refunds).toMatchObject([{ status: 'failed' }])
      }),
    )

    it(
      'changes nothing when its end is told again',
      on(async (w) => {
        const transaction = await w.came('Paid')
        const refundId = await w.claimed(transaction, { amount: 4_000 })
        const first = await w.endRefund(refundId, { kind: 'done' })
        const before = await w.story(transaction)
        const again = await w.endRefund(refundId, { kind: 'done' })
        expect(again.transaction).toEqual(first.transaction)
        expect(await w.story(transaction)).toEqual(before)
      }),
    )

    it(
      'is not begun while the gateway’s circuit is open',
      on(async (w) => {
        const transaction = await w.came('Paid')
        w.guard.retryAfterMs = 7_000
        expect(await w.refund(transaction)).toEqual({ state: 'circuit_open', retryAfterMs: 7_000 })
        expect((await w.story(transaction)).refunds).toEqual([])
      }),
    )

    it(
      'that cannot be made is refused before the breaker is asked, and while its circuit is open',
      on(async (w) => {
        const transaction = await w.came('Paid')
        const given = await w.claimed(transaction, { amount: 4_000, idempotencyKey: 'key-1' })
        await w.endRefund(given, { kind: 'done' })
        const admitted = w.guard.admitted.length
        const wrong = [
          { wish: { amount: 99_999 }, state: 'too_much' },
          { wish: { amount: 4_000, fullOnly: true }, state: 'not_full' },
          { wish: { transactionId: 'nobody' }, state: 'unknown_transaction' },
          { wish: { amount: 4_000, idempotencyKey: 'key-1' }, state: 'answered' },
        ]
        for (const retryAfterMs of [undefined, 12_000]) {
          w.guard.retryAfterMs = retryAfterMs
          for (const { wish, state } of wrong) {
            expect(await w.refund(transaction, wish)).toMatchObject({ state })
          }
        }
        expect(w.guard.admitted).toHaveLength(admitted)
        expect(await w.refund(transaction, { amount: 1 })).toEqual({
          state: 'circuit_open',
          retryAfterMs: 12_000,
        })
      }),
    )

    it(
      'that calls no gateway after all gives its leave back',
      on(async (w) => {
        const transaction = await w.came('Paid')
        const calls = () => w.guard.admitted.length - w.guard.reported.length
        const before = calls()
        await w.refund(transaction, { amount: 99_999 })
        expect(calls()).toBe(before)
        await w.refund(transaction)
        expect(calls()).toBe(before + 1)
        await w.refund(transaction)
        expect(calls()).toBe(before + 1)
      }),
    )

    it(
      'that was refused has failed with its reason, and moves nothing',
      on(async (w) => {
        const transaction = await w.came('Paid')
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

  describe('a refund’s key', () => {
    it(
      'gives the same answer to the same request, and refuses another',
      on(async (w) => {
        const transaction = await w.came('Paid')
        const idempotencyKey = 'key-1'
        const ask = (amount: number) => w.refund(transaction, { idempotencyKey, amount })
        const refundId = await w.claimed(transaction, { idempotencyKey, amount: 4_000 })
        expect(await ask(4_000)).toEqual({ state: 'in_progress' })
        await w.endRefund(refundId, { kind: 'accepted', nextCheckAt: T0 + HOUR })
        const result = { success: true, refundId, refundedAmount: 4_000 }
        expect(await ask(4_000)).toEqual({ state: 'answered', result })
        await w.endRefund(refundId, { kind: 'done', gatewayRefundId: 'r-1' })
        expect(await ask(4_000)).toEqual({
          state: 'answered',
          result: { ...result, refundId: 'r-1' },
        })
        expect(await ask(5_000)).toEqual({ state: 'conflict' })
      }),
    )
  })

  describe('a refund and its webhook', () => {
    for (const [status, amount] of [
      ['PartiallyRefunded', 4_000],
      ['Refunded', 25_000],
    ] as const) {
      it(
        `count once when the webhook (${status}) comes first`,
        on(async (w) => {
          const transaction = await w.came('Paid')
          const refundId = await w.claimed(transaction, { amount })
          const told = await w.tell(transaction, { status, amount })
          expect(told.pending).toHaveLength(1)
          expect((await w.story(transaction)).refunds).toMatchObject([{ status: 'succeeded' }])
          const finished = await w.endRefund(refundId, { kind: 'done' })
          expect(finished.pending).toEqual([])
          expect(finished.transaction).toMatchObject({ status, refundedAmount: amount })
          expect((await w.eventsOf(transaction)).slice(2)).toEqual(['PaymentRefunded'])
        }),
      )

      it(
        `count once when the webhook (${status}) comes after`,
        on(async (w) => {
          const transaction = await w.came('Paid')
          await w.endRefund(await w.claimed(transaction, { amount }), { kind: 'done' })
          const told = await w.tell(transaction, { status, amount })
          expect(told.pending).toEqual([])
          expect(await w.read(transaction)).toMatchObject({ status, refundedAmount: amount })
          expect((await w.eventsOf(transaction)).slice(2)).toEqual(['PaymentRefunded'])
        }),
      )
    }

    it(
      'leave it under way while the webhook tells of less',
      on(async (w) => {
        const transaction = await w.came('PartiallyRefunded')
        const refundId = await w.claimed(transaction, { amount: 4_000 })
        await w.tell(transaction, { status: 'PartiallyRefunded', amount: 5_000 })
        expect((await w.story(transaction)).refunds).toMatchObject([{ status: 'claimed' }])
        const finished = await w.endRefund(refundId, { kind: 'done' })
        expect(finished.transaction.refundedAmount).toBe(9_000)
      }),
    )

    it(
      'end one that was accepted, and nothing is checked any more',
      on(async (w) => {
        const transaction = await w.came('Paid')
        const refundId = await w.claimed(transaction)
        await w.endRefund(refundId, { kind: 'accepted', nextCheckAt: T0 + MINUTE })
        await w.tell(transaction, { status: 'Refunded' })
        expect((await w.story(transaction)).refunds).toMatchObject([{ status: 'succeeded' }])
        expect(await w.ledger.claimChecks({ now: T0 + HOUR, until: T0, limit: 9 })).toEqual([])
      }),
    )

    it(
      'keeps the first time of its check, whatever its call comes to when it is made again',
      on(async (w) => {
        const transaction = await w.came('Paid')
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
