// Which payment an event belongs to, and what happens to an event without one.

import { describe, expect, it } from 'vitest'
import type { On } from './ledger.ts'
import { iso, MINUTE, T0 } from './ledger-world.ts'

export function matchingContract(on: On): void {
  describe('a webhook’s payment', () => {
    it(
      'is found by the gateway’s id before any other id',
      on(async (w) => {
        const one = await w.charged({ request: { reference: 'order-1' } })
        const other = await w.charged({ request: { reference: 'order-2' } })
        const recorded = await w.webhook(other, {
          reference: 'order-1',
          externalReferenceId: one.externalReferenceId,
        })
        expect(recorded.transactionId).toBe(other.id)
      }),
    )

    it(
      'is found by the external reference before the order, and gets the gateway’s id',
      on(async (w) => {
        const one = await w.pending({ request: { reference: 'order-1' } })
        const other = await w.pending({ request: { reference: 'order-2' } })
        const recorded = await w.webhook(other, {
          gatewayTransactionId: 'gateway-9',
          reference: 'order-1',
          externalReferenceId: other.externalReferenceId,
        })
        expect(recorded.transactionId).toBe(other.id)
        expect((await w.read(other)).gatewayTransactionId).toBe('gateway-9')
        expect((await w.read(one)).status).toBe('Pending')
      }),
    )

    it(
      'is found by its order as the newest without a gateway’s id',
      on(async (w) => {
        const first = await w.pending()
        await w.finish(first, { kind: 'refused', error: { code: 'declined', message: 'No.' } })
        const second = await w.pending()
        const recorded = await w.webhook(second, { gatewayTransactionId: 'gateway-9' })
        expect(recorded).toMatchObject({ outcome: 'applied', transactionId: second.id })
      }),
    )

    it(
      'is not found by its order if it has another gateway’s id',
      on(async (w) => {
        const transaction = await w.charged()
        const recorded = await w.webhook(transaction, { gatewayTransactionId: 'gateway-9' })
        expect(recorded).toMatchObject({ outcome: 'parked', pending: [] })
        expect(recorded.transactionId).toBeUndefined()
      }),
    )

    it(
      'is not found at another gateway',
      on(async (w) => {
        const transaction = await w.charged()
        const { externalReferenceId } = transaction
        const recorded = await w.webhook(transaction, { gateway: 'fib', externalReferenceId })
        expect(recorded.outcome).toBe('parked')
        expect((await w.read(transaction)).status).toBe('Pending')
      }),
    )

    it(
      'is not found by an empty reference',
      on(async (w) => {
        const transaction = await w.pending()
        const nameless = { gatewayTransactionId: 'gateway-9', reference: '' }
        expect((await w.webhook(transaction, nameless)).outcome).toBe('parked')
        expect((await w.read(transaction)).status).toBe('Pending')
      }),
    )
  })

  describe('an event without a payment', () => {
    it(
      'is parked, and applied when the charge is answered',
      on(async (w) => {
        const transaction = await w.pending()
        const arrival = w.arrival(transaction, { reference: '', receivedAt: T0 + 500 })
        const parking = await w.ledger.webhook(arrival)
        expect(parking).toEqual({ outcome: 'parked', isMismatch: false })
        expect(w.dispatcher.take()).toEqual([])
        const parked = await w.queries.webhookEvents({ outcome: 'parked' }, { limit: 9 })
        expect(parked.map(({ id }) => id)).toEqual([arrival.id])
        expect(parked[0]?.transactionId).toBeUndefined()
        const finished = await w.answer(transaction, T0 + MINUTE)
        expect(finished.transaction.status).toBe('Paid')
        expect(finished.pending).toMatchObject([{ outboxId: arrival.id, type: 'PaymentSucceeded' }])
        const story = await w.story(transaction)
        expect(story.webhookEvents).toMatchObject([
          { id: arrival.id, outcome: 'applied', fromStatus: 'Pending' },
        ])
        expect(await w.eventsOf(transaction)).toEqual(['PaymentInitiated', 'PaymentSucceeded'])
      }),
    )

    it(
      'is applied with others in the order of their times',
      on(async (w) => {
        const transaction = await w.pending()
        const at = (ms: number) => ({ reference: '', occurredAt: iso(ms) })
        await w.webhook(transaction, { ...at(T0 + 900), status: 'Refunded' })
        await w.webhook(transaction, { ...at(T0 + 300), status: 'Paid' })
        const { transaction: after } = await w.answer(transaction, T0 + MINUTE)
        expect(after).toMatchObject({ status: 'Refunded', refundedAmount: 25_000 })
        const types = new Set(await w.eventsOf(transaction))
        expect(types).toEqual(new Set(['PaymentInitiated', 'PaymentSucceeded', 'PaymentRefunded']))
      }),
    )

    it(
      'is applied with the policy for amounts that it arrived with',
      on(async (w) => {
        const transaction = await w.pending()
        await w.webhook(transaction, { reference: '', amount: 1, onMismatch: 'reject' })
        const finished = await w.answer(transaction, T0 + MINUTE)
        expect(finished.transaction.status).toBe('Pending')
        expect(finished.pending).toEqual([])
        expect((await w.story(transaction)).webhookEvents).toMatchObject([
          { outcome: 'rejected', isMismatch: true },
        ])
        expect(await w.alerts()).toEqual(['amount_mismatch'])
      }),
    )

    it(
      'is applied by its order when the result of the charge is unknown',
      on(async (w) => {
        const before = await w.pending({ request: { reference: 'order-0' } })
        const names = { reference: 'order-7', gatewayTransactionId: 'gateway-7' }
        await w.webhook(before, names)
        const transaction = await w.pending({ request: { reference: 'order-7' } })
        const finished = await w.finish(transaction, { kind: 'unknown', nextCheckAt: T0 + MINUTE })
        expect(finished.transaction).toMatchObject({
          status: 'Paid',
          gatewayTransactionId: 'gateway-7',
        })
        expect(finished.pending).toHaveLength(1)
      }),
    )

    it(
      'is applied by the sweeper when its payment exists and its charge has no answer',
      on(async (w) => {
        const transaction = await w.pending({ request: { reference: 'order-0' } })
        const arrival = w.arrival(transaction, {
          reference: 'order-7',
          gatewayTransactionId: 'gateway-7',
        })
        await w.ledger.webhook(arrival)
        const apply = async () => {
          await w.ledger.applyParked({ now: T0 + MINUTE, limit: 10 })
          return w.dispatcher.take()
        }
        expect(await apply()).toEqual([])
        const late = await w.pending({ request: { reference: 'order-7' } })
        expect(await apply()).toMatchObject([{ outboxId: arrival.id, type: 'PaymentSucceeded' }])
        expect(await w.read(late)).toMatchObject({
          status: 'Paid',
          gatewayTransactionId: 'gateway-7',
        })
        expect(await apply()).toEqual([])
      }),
    )

    it(
      'is refused, and not stored, if its time or its amount is impossible',
      on(async (w) => {
        const transaction = await w.charged()
        const none = ['', 'yesterday', '1969-12-31T23:59:59Z', '+010000-01-01T00:00:00Z']
        for (const occurredAt of none) {
          await expect(w.webhook(transaction, { occurredAt })).rejects.toThrow(/not a time/)
        }
        for (const amount of [Number.NaN, 2 ** 60, 0.5]) {
          await expect(w.webhook(transaction, { amount })).rejects.toThrow(/not an amount/)
        }
        expect((await w.story(transaction)).webhookEvents).toEqual([])
      }),
    )

    it(
      'stays parked without a match, and is a duplicate when it comes again',
      on(async (w) => {
        const transaction = await w.charged()
        const nameless = { gatewayTransactionId: 'nobody', reference: 'nothing', eventId: 'e-1' }
        await w.webhook(transaction, nameless)
        expect((await w.webhook(transaction, nameless)).outcome).toBe('duplicate')
        const parked = await w.queries.webhookEvents({ outcome: 'parked' }, { limit: 9 })
        expect(parked).toHaveLength(1)
      }),
    )
  })
}
