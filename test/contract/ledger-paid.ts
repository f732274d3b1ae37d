// Payments whose paid amount is not the requested one.

import { describe, expect, it } from 'vitest'
import type { On } from './ledger.ts'
import { MINUTE, T0 } from './ledger-world.ts'

const LESS = { amount: 20_000, currency: 'IQD' }

export function paidContract(on: On): void {
  describe('the paid amount', () => {
    for (const paid of [
      LESS,
      { amount: 30_000, currency: 'USD' },
      { amount: 0, currency: 'IQD' },
    ]) {
      it(
        `(${paid.amount} ${paid.currency}) is stored, and in every event from then on`,
        on(async (w) => {
          const transaction = await w.charged()
          expect(transaction.paid).toBeUndefined()
          const { pending } = await w.webhook(transaction, paid)
          expect(pending).toMatchObject([{ payload: { transaction: { amount: 25_000, paid } } }])
          const { transaction: stored, events } = await w.story(transaction)
          expect(stored).toMatchObject({ status: 'Paid', amount: 25_000, currency: 'IQD', paid })
          expect(events.map(({ payload }) => payload.transaction.paid)).toEqual([undefined, paid])
          const [listed] = await w.queries.transactions({ status: 'Paid' }, { limit: 1 })
          expect(listed?.paid).toEqual(paid)
        }),
      )
    }

    it(
      'does not change when its refund has another amount',
      on(async (w) => {
        const transaction = await w.paidWith(LESS)
        await w.webhook(transaction, { status: 'Refunded', amount: 7 })
        expect(await w.read(transaction)).toMatchObject({ status: 'Refunded', paid: LESS })
      }),
    )

    it(
      'is not stored if it is rejected or late',
      on(async (w) => {
        const rejected = await w.charged({ request: { reference: 'order-1' } })
        await w.webhook(rejected, { ...LESS, onMismatch: 'reject' })
        expect((await w.read(rejected)).paid).toBeUndefined()
        const failed = await w.reached('Failed', { request: { reference: 'order-2' } })
        expect((await w.webhook(failed, LESS)).outcome).toBe('late_payment')
        expect((await w.read(failed)).paid).toBeUndefined()
      }),
    )

    it(
      'is stored, too, if its event arrived before its payment',
      on(async (w) => {
        const transaction = await w.pending()
        await w.webhook(transaction, { reference: '', ...LESS })
        const finished = await w.answer(transaction, T0 + MINUTE)
        expect(finished.transaction).toMatchObject({ status: 'Paid', paid: LESS })
      }),
    )
  })

  describe('a second event for a payment', () => {
    it(
      'is compared with the paid amount, not with the requested one',
      on(async (w) => {
        const transaction = await w.paidWith(LESS)
        const again = await w.webhook(transaction, LESS)
        expect(again).toMatchObject({ outcome: 'unchanged', isMismatch: false })
        const other = await w.webhook(transaction, { amount: 25_000 })
        expect(other).toMatchObject({ outcome: 'unchanged', isMismatch: true })
        expect(await w.read(transaction)).toMatchObject({ paid: LESS })
        expect(await w.mismatches()).toEqual([
          { ...LESS, expectedAmount: 25_000, expectedCurrency: 'IQD' },
          { amount: 25_000, currency: 'IQD', expectedAmount: 20_000, expectedCurrency: 'IQD' },
        ])
      }),
    )
  })

  describe('a refund of another paid amount', () => {
    it(
      'is requested with the amount of the charge if it is full, and refunds the paid amount',
      on(async (w) => {
        const transaction = await w.paidWith(LESS)
        const full = { fullOnly: true, idempotencyKey: 'key-1' }
        const other = await w.refund(transaction, { ...full, amount: 20_000 })
        expect(other.state).toBe('not_full')
        const start = w.refundStart(transaction, { ...full, amount: 25_000 })
        expect(await w.ledger.beginRefund(start)).toMatchObject({ state: 'begun', amount: 20_000 })
        const { transaction: refunded } = await w.endRefund(start.id, { kind: 'done' })
        expect(refunded).toMatchObject({ status: 'Refunded', refundedAmount: 20_000 })
        expect((await w.story(transaction)).refunds).toMatchObject([{ amount: 20_000 }])
        expect(await w.refund(transaction, { ...full, amount: 25_000 })).toEqual({
          state: 'answered',
          result: { success: true, refundId: start.id, refundedAmount: 20_000 },
        })
      }),
    )

    it(
      'in parts ends when the paid amount is refunded',
      on(async (w) => {
        const transaction = await w.paidWith(LESS)
        expect(await w.refund(transaction, { amount: 20_001 })).toMatchObject({
          state: 'too_much',
          left: 20_000,
        })
        const first = await w.claimed(transaction, { amount: 15_000 })
        await w.endRefund(first, { kind: 'done' })
        const second = await w.claimed(transaction, { amount: 5_000 })
        const { transaction: refunded } = await w.endRefund(second, { kind: 'done' })
        expect(refunded).toMatchObject({ status: 'Refunded', refundedAmount: 20_000 })
      }),
    )

    it(
      'may be larger than the charge, and is not possible if 0 was paid',
      on(async (w) => {
        const more = await w.paidWith({ amount: 30_000 })
        expect((await w.refund(more, { amount: 30_001 })).state).toBe('too_much')
        expect((await w.refund(more, { amount: 30_000 })).state).toBe('begun')
        for (const amount of [0, -5]) {
          const nothing = await w.charged({ request: { reference: `paid with ${amount}` } })
          await w.webhook(nothing, { amount })
          expect((await w.refund(nothing, { amount: 1 })).state).toBe('not_refundable')
          const full = { fullOnly: true, amount: 25_000 }
          expect((await w.refund(nothing, full)).state).toBe('not_refundable')
        }
      }),
    )

    it(
      'reported by the gateway counts up to the paid amount',
      on(async (w) => {
        const transaction = await w.paidWith(LESS)
        await w.webhook(transaction, { status: 'PartiallyRefunded', amount: 24_000 })
        expect(await w.read(transaction)).toMatchObject({ refundedAmount: 20_000 })
        const negative = await w.charged({ request: { reference: 'order-2' } })
        await w.webhook(negative, { amount: -5 })
        expect((await w.webhook(negative, { status: 'Refunded' })).outcome).toBe('applied')
        expect(await w.read(negative)).toMatchObject({ status: 'Refunded', refundedAmount: 0 })
      }),
    )
  })
}
