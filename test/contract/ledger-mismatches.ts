// Refunds and parked events with other amounts than expected.

import { describe, expect, it } from 'vitest'
import type { On } from './ledger.ts'
import { iso, MINUTE, T0 } from './ledger-world.ts'

const LESS = { amount: 20_000, currency: 'IQD' }

export function mismatchContract(on: On): void {
  describe('a refund that is reported with another amount', () => {
    const gatewayStatus = 'Refunded'
    const expected = { expectedAmount: 20_000, expectedCurrency: 'IQD' }

    it(
      'before our own result is a mismatch, and changes the payment with both policies',
      on(async (w) => {
        for (const onMismatch of ['log', 'reject'] as const) {
          const transaction = await w.charged({ request: { reference: onMismatch } })
          await w.webhook(transaction, LESS)
          const full = { fullOnly: true, amount: 25_000 }
          const refundId = await w.claimed(transaction, full)
          const wish = { status: gatewayStatus, amount: 25_000, onMismatch } as const
          expect(await w.webhook(transaction, wish)).toMatchObject({
            outcome: 'applied',
            isMismatch: true,
          })
          const { transaction: refunded } = await w.endRefund(refundId, { kind: 'done' })
          expect(refunded).toMatchObject({ status: 'Refunded', refundedAmount: 20_000 })
        }
        const detail = { amount: 25_000, currency: 'IQD', ...expected, gatewayStatus }
        expect((await w.mismatches()).filter((each) => each.gatewayStatus)).toEqual([
          detail,
          detail,
        ])
      }),
    )

    it(
      'after our own result is a mismatch, too, and changes nothing',
      on(async (w) => {
        const transaction = await w.paidWith(LESS)
        const refundId = await w.claimed(transaction, { fullOnly: true, amount: 25_000 })
        await w.endRefund(refundId, { kind: 'done' })
        const before = await w.read(transaction)
        for (const wish of [{ amount: 25_000 }, { amount: 20_000, currency: 'USD' }]) {
          expect(await w.webhook(transaction, { status: gatewayStatus, ...wish })).toMatchObject({
            outcome: 'unchanged',
            isMismatch: true,
          })
        }
        expect(await w.read(transaction)).toEqual(before)
        expect((await w.mismatches()).slice(1)).toEqual([
          { amount: 25_000, currency: 'IQD', ...expected, gatewayStatus },
          { amount: 20_000, currency: 'USD', ...expected, gatewayStatus },
        ])
      }),
    )

    it(
      'is no mismatch if it is the paid amount',
      on(async (w) => {
        const transaction = await w.paidWith(LESS)
        const first = await w.webhook(transaction, { status: gatewayStatus, amount: 20_000 })
        expect(first).toMatchObject({ outcome: 'applied', isMismatch: false })
        const again = await w.webhook(transaction, { status: gatewayStatus, amount: 20_000 })
        expect(again).toMatchObject({ outcome: 'unchanged', isMismatch: false })
        expect(await w.mismatches()).toHaveLength(1)
      }),
    )

    it(
      'in parts is a mismatch if it is more than was paid, or does not contain our own refund',
      on(async (w) => {
        const transaction = await w.paidWith(LESS)
        const report = (amount: number) =>
          w.webhook(transaction, { status: 'PartiallyRefunded', amount })
        const refundId = await w.claimed(transaction, { amount: 8_000 })
        expect(await report(7_999)).toMatchObject({ outcome: 'applied', isMismatch: true })
        await w.endRefund(refundId, { kind: 'done' })
        expect(await report(7_998)).toMatchObject({ isMismatch: true })
        expect(await report(20_001)).toMatchObject({ outcome: 'applied', isMismatch: true })
        const detail = {
          currency: 'IQD',
          expectedCurrency: 'IQD',
          gatewayStatus: 'PartiallyRefunded',
        }
        expect((await w.mismatches()).slice(1)).toEqual([
          { ...detail, amount: 7_999, expectedAmount: 8_000 },
          { ...detail, amount: 7_998, expectedAmount: 8_000 },
          { ...detail, amount: 20_001, expectedAmount: 20_000 },
        ])
      }),
    )

    it(
      'in parts is no mismatch if it was made at the gateway, is late or out of order',
      on(async (w) => {
        const transaction = await w.reached('Paid')
        const report = (amount: number) =>
          w.webhook(transaction, { status: 'PartiallyRefunded', amount })
        // Made at the gateway: 3,000 first, then 6,000 more.
        for (const sum of [9_000, 3_000]) expect((await report(sum)).isMismatch).toBe(false)
        const refundId = await w.claimed(transaction, { amount: 5_000 })
        await w.endRefund(refundId, { kind: 'done' })
        for (const sum of [3_000, 9_000, 14_000, 15_000, 14_000]) {
          expect((await report(sum)).isMismatch).toBe(false)
        }
        const rest = await w.claimed(transaction, { amount: 10_000 })
        await w.endRefund(rest, { kind: 'done' })
        expect(await report(15_000)).toMatchObject({ outcome: 'illegal', isMismatch: false })
        expect(await w.alerts()).toEqual([])
      }),
    )

    it(
      'is no mismatch if our own refund failed, or nothing is paid yet',
      on(async (w) => {
        const transaction = await w.reached('Paid', { request: { reference: 'order-1' } })
        const refundId = await w.claimed(transaction, { amount: 8_000 })
        const error = { code: 'refused', message: 'No.' }
        await w.endRefund(refundId, { kind: 'refused', error })
        const wish = { status: 'PartiallyRefunded', amount: 4_000 } as const
        expect((await w.webhook(transaction, wish)).isMismatch).toBe(false)
        for (const status of ['Pending', 'Failed'] as const) {
          const unpaid = await w.reached(status, { request: { reference: status } })
          expect(await w.webhook(unpaid, { status: gatewayStatus, amount: 1 })).toMatchObject({
            outcome: 'illegal',
            isMismatch: false,
          })
        }
        expect(await w.alerts()).toEqual([])
      }),
    )
  })

  describe('another amount in a parked event', () => {
    it(
      'is logged when its charge is answered',
      on(async (w) => {
        const transaction = await w.pending()
        const parked = { reference: '', ...LESS, eventId: 'event-1' }
        await w.webhook(transaction, parked)
        expect(w.logged).toEqual([])
        await w.answer(transaction, T0 + MINUTE)
        const fields = {
          gateway: 'redirect',
          correlationId: 'correlation-2',
          eventId: 'event-1',
          status: 'Paid',
          transactionId: transaction.id,
          outcome: 'applied',
          ...LESS,
        }
        expect(w.logged).toEqual([['payments.webhook.amount_mismatch', fields]])
      }),
    )

    it(
      'is compared only for a status with an amount',
      on(async (w) => {
        const transaction = await w.pending()
        const at = (ms: number) => ({ reference: '', occurredAt: iso(ms) })
        await w.webhook(transaction, { ...at(T0 + 300), status: 'Paid' })
        await w.webhook(transaction, { ...at(T0 + 900), status: 'Failed', amount: 1 })
        const finished = await w.answer(transaction, T0 + MINUTE)
        expect(finished.transaction.status).toBe('Paid')
        const { webhookEvents } = await w.story(transaction)
        const outcomes = webhookEvents.map(({ outcome, isMismatch }) => [outcome, isMismatch])
        expect(outcomes).toEqual([
          ['applied', false],
          ['illegal', false],
        ])
        expect(w.logged).toEqual([])
      }),
    )

    it(
      'is logged when the sweeper applies it, whether it is applied or rejected',
      on(async (w) => {
        const transaction = await w.pending({ request: { reference: 'order-0' } })
        for (const [reference, onMismatch] of [
          ['order-7', 'log'],
          ['order-8', 'reject'],
        ] as const) {
          const gatewayTransactionId = `gateway of ${reference}`
          await w.webhook(transaction, { reference, gatewayTransactionId, ...LESS, onMismatch })
          const other = await w.pending({ request: { reference } })
          await w.finish(other, { kind: 'unknown', gatewayTransactionId, nextCheckAt: T0 + MINUTE })
        }
        await w.ledger.applyParked({ now: T0 + MINUTE, limit: 10 })
        expect(w.logged.map(([event, { outcome }]) => [event, outcome])).toEqual([
          ['payments.webhook.amount_mismatch', 'applied'],
          ['payments.webhook.amount_mismatch', 'rejected'],
        ])
        await w.ledger.applyParked({ now: T0 + MINUTE, limit: 10 })
        expect(w.logged).toHaveLength(2)
      }),
    )
  })
}
