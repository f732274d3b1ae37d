// Repeated calls for refunds, and calls that the guard does not admit.

import { describe, expect, it } from 'vitest'
import type { On } from './ledger.ts'
import { HOUR, T0 } from './ledger-world.ts'

const refused = { code: 'refused', rawCode: '7', message: 'Too old.' }

export function refundCallContract(on: On): void {
  describe('a repeated refund', () => {
    it(
      'is made once for fifty calls at the same time',
      on(async (w) => {
        const transaction = await w.reached('Paid')
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
      'gets the same answer when its call is repeated',
      on(async (w) => {
        const transaction = await w.reached('Paid')
        const start = w.refundStart(transaction, { idempotencyKey: 'key-1' })
        const first = await w.ledger.beginRefund(start)
        expect(await w.ledger.beginRefund(start)).toEqual(first)
        expect((await w.story(transaction)).refunds).toHaveLength(1)
      }),
    )

    it(
      'is not begun again by its own call, repeated late',
      on(async (w) => {
        const transaction = await w.reached('Paid')
        const start = w.refundStart(transaction, { amount: 4_000 })
        await w.ledger.beginRefund(start)
        await w.endRefund(start.id, { kind: 'refused', error: refused })
        expect(await w.ledger.beginRefund(start)).toEqual({ state: 'refused', error: refused })
        expect((await w.story(transaction)).refunds).toMatchObject([{ status: 'failed' }])
      }),
    )

    it(
      'changes nothing when its result is stored again',
      on(async (w) => {
        const transaction = await w.reached('Paid')
        const refundId = await w.claimed(transaction, { amount: 4_000 })
        const first = await w.endRefund(refundId, { kind: 'done' })
        const before = await w.story(transaction)
        const again = await w.endRefund(refundId, { kind: 'done' })
        expect(again.transaction).toEqual(first.transaction)
        expect(await w.story(transaction)).toEqual(before)
      }),
    )
  })

  describe('a refund’s key', () => {
    it(
      'returns the same answer for the same request, and refuses another request',
      on(async (w) => {
        const transaction = await w.reached('Paid')
        const idempotencyKey = 'key-1'
        const ask = (amount: number) => w.refund(transaction, { idempotencyKey, amount })
        const refundId = await w.claimed(transaction, { idempotencyKey, amount: 4_000 })
        expect(await ask(4_000)).toMatchObject({ state: 'in_progress' })
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

  describe('a refund and the guard', () => {
    it(
      'is not begun while the gateway’s circuit is open',
      on(async (w) => {
        const transaction = await w.reached('Paid')
        w.guard.retryAfterMs = 7_000
        expect(await w.refund(transaction)).toEqual({ state: 'circuit_open', retryAfterMs: 7_000 })
        expect((await w.story(transaction)).refunds).toEqual([])
      }),
    )

    it(
      'that is not possible is refused also while the circuit is open, and calls nothing',
      on(async (w) => {
        const transaction = await w.reached('Paid')
        const given = await w.claimed(transaction, { amount: 4_000, idempotencyKey: 'key-1' })
        await w.endRefund(given, { kind: 'done' })
        w.guard.reported.length = 0
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
        expect(w.guard.reported).toEqual(wrong.map(() => expect.arrayContaining(['neutral'])))
        expect(await w.refund(transaction, { amount: 1 })).toEqual({
          state: 'circuit_open',
          retryAfterMs: 12_000,
        })
      }),
    )

    it(
      'that does not call its gateway reports that to the guard',
      on(async (w) => {
        const transaction = await w.reached('Paid')
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
  })
}
