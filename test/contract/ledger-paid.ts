// What the ledger keeps of the money that came in, where that is another amount than was asked for.

import { describe, expect, it } from 'vitest'
import type { Transaction } from '../../worker/payments/domain/transaction.ts'
import type { On } from './ledger.ts'
import { type EventWish, iso, MINUTE, T0, type World } from './ledger-world.ts'

const LESS = { amount: 20_000, currency: 'IQD' }

/** A charge of 25,000 IQD, and as it is when this was paid for it. */
async function paidWith(w: World, wish: EventWish = LESS): Promise<Transaction> {
  const transaction = await w.charged()
  await w.tell(transaction, wish)
  return w.read(transaction)
}

/** The details of the alerts of another amount, oldest first. */
async function mismatches(w: World) {
  const alerts = await w.queries.alerts({}, { limit: 9 })
  return alerts
    .filter(({ kind }) => kind === 'amount_mismatch')
    .map(({ detail: { reference: _, eventId: __, ...told } }) => told)
    .reverse()
}

export function paidContract(on: On): void {
  describe('what was paid', () => {
    for (const paid of [
      LESS,
      { amount: 30_000, currency: 'USD' },
      { amount: 0, currency: 'IQD' },
    ]) {
      it(
        `(${paid.amount} ${paid.currency}) is read and told with the payment from then on`,
        on(async (w) => {
          const transaction = await w.charged()
          expect(transaction.paid).toBeUndefined()
          const { pending } = await w.tell(transaction, paid)
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
      'stays as it was when its refund is told with another amount',
      on(async (w) => {
        const transaction = await paidWith(w)
        await w.tell(transaction, { status: 'Refunded', amount: 7 })
        expect(await w.read(transaction)).toMatchObject({ status: 'Refunded', paid: LESS })
      }),
    )

    it(
      'is nothing where it is rejected or came late',
      on(async (w) => {
        const rejected = await w.charged({ request: { reference: 'order-1' } })
        await w.tell(rejected, { ...LESS, onMismatch: 'reject' })
        expect((await w.read(rejected)).paid).toBeUndefined()
        const failed = await w.came('Failed', { request: { reference: 'order-2' } })
        expect((await w.tell(failed, LESS)).outcome).toBe('late_payment')
        expect((await w.read(failed)).paid).toBeUndefined()
      }),
    )

    it(
      'is kept too where its event came before its payment',
      on(async (w) => {
        const transaction = await w.pending()
        await w.tell(transaction, { reference: '', ...LESS })
        const finished = await w.answer(transaction, T0 + MINUTE)
        expect(finished.transaction).toMatchObject({ status: 'Paid', paid: LESS })
      }),
    )
  })

  describe('a payment that is told once more', () => {
    it(
      'is compared with what was paid, whatever was asked for',
      on(async (w) => {
        const transaction = await paidWith(w)
        const again = await w.tell(transaction, LESS)
        expect(again).toMatchObject({ outcome: 'unchanged', isMismatch: false })
        const other = await w.tell(transaction, { amount: 25_000 })
        expect(other).toMatchObject({ outcome: 'unchanged', isMismatch: true })
        expect(await w.read(transaction)).toMatchObject({ paid: LESS })
        expect(await mismatches(w)).toEqual([
          { ...LESS, expectedAmount: 25_000, expectedCurrency: 'IQD' },
          { amount: 25_000, currency: 'IQD', expectedAmount: 20_000, expectedCurrency: 'IQD' },
        ])
      }),
    )
  })

  describe('a refund of what was paid', () => {
    it(
      'is asked for by the charge’s amount where all goes back, and gives back what came in',
      on(async (w) => {
        const transaction = await paidWith(w)
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
      'in parts ends when all of it is back',
      on(async (w) => {
        const transaction = await paidWith(w)
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
      'may be more than was asked for, and there is none where nothing came in',
      on(async (w) => {
        const more = await paidWith(w, { amount: 30_000 })
        expect((await w.refund(more, { amount: 30_001 })).state).toBe('too_much')
        expect((await w.refund(more, { amount: 30_000 })).state).toBe('begun')
        for (const amount of [0, -5]) {
          const nothing = await w.charged({ request: { reference: `paid with ${amount}` } })
          await w.tell(nothing, { amount })
          expect((await w.refund(nothing, { amount: 1 })).state).toBe('not_refundable')
          const full = { fullOnly: true, amount: 25_000 }
          expect((await w.refund(nothing, full)).state).toBe('not_refundable')
        }
      }),
    )

    it(
      'told by the gateway counts up to it',
      on(async (w) => {
        const transaction = await paidWith(w)
        await w.tell(transaction, { status: 'PartiallyRefunded', amount: 24_000 })
        expect(await w.read(transaction)).toMatchObject({ refundedAmount: 20_000 })
        const negative = await w.charged({ request: { reference: 'order-2' } })
        await w.tell(negative, { amount: -5 })
        expect((await w.tell(negative, { status: 'Refunded' })).outcome).toBe('applied')
        expect(await w.read(negative)).toMatchObject({ status: 'Refunded', refundedAmount: 0 })
      }),
    )
  })

  describe('a refund that is told with another amount', () => {
    const said = 'Refunded'
    const expected = { expectedAmount: 20_000, expectedCurrency: 'IQD' }

    it(
      'before our own record of it is a mismatch, and moves the payment under both policies',
      on(async (w) => {
        for (const onMismatch of ['log', 'reject'] as const) {
          const transaction = await w.charged({ request: { reference: onMismatch } })
          await w.tell(transaction, LESS)
          const full = { fullOnly: true, amount: 25_000 }
          const refundId = await w.claimed(transaction, full)
          const wish = { status: said, amount: 25_000, onMismatch } as const
          expect(await w.tell(transaction, wish)).toMatchObject({
            outcome: 'applied',
            isMismatch: true,
          })
          const { transaction: refunded } = await w.endRefund(refundId, { kind: 'done' })
          expect(refunded).toMatchObject({ status: 'Refunded', refundedAmount: 20_000 })
        }
        const told = { amount: 25_000, currency: 'IQD', ...expected, said }
        expect((await mismatches(w)).filter((each) => each.said)).toEqual([told, told])
      }),
    )

    it(
      'after our own record of it is one too, though nothing changes',
      on(async (w) => {
        const transaction = await paidWith(w)
        const refundId = await w.claimed(transaction, { fullOnly: true, amount: 25_000 })
        await w.endRefund(refundId, { kind: 'done' })
        const before = await w.read(transaction)
        for (const wish of [{ amount: 25_000 }, { amount: 20_000, currency: 'USD' }]) {
          expect(await w.tell(transaction, { status: said, ...wish })).toMatchObject({
            outcome: 'unchanged',
            isMismatch: true,
          })
        }
        expect(await w.read(transaction)).toEqual(before)
        expect((await mismatches(w)).slice(1)).toEqual([
          { amount: 25_000, currency: 'IQD', ...expected, said },
          { amount: 20_000, currency: 'USD', ...expected, said },
        ])
      }),
    )

    it(
      'is none with what was paid, whatever was asked for',
      on(async (w) => {
        const transaction = await paidWith(w)
        const first = await w.tell(transaction, { status: said, amount: 20_000 })
        expect(first).toMatchObject({ outcome: 'applied', isMismatch: false })
        const again = await w.tell(transaction, { status: said, amount: 20_000 })
        expect(again).toMatchObject({ outcome: 'unchanged', isMismatch: false })
        expect(await mismatches(w)).toHaveLength(1)
      }),
    )

    it(
      'in parts is one beyond what was paid, and where our own refund passed over the sum',
      on(async (w) => {
        const transaction = await paidWith(w)
        const tell = (amount: number) =>
          w.tell(transaction, { status: 'PartiallyRefunded', amount })
        const refundId = await w.claimed(transaction, { amount: 8_000 })
        expect(await tell(7_999)).toMatchObject({ outcome: 'applied', isMismatch: true })
        await w.endRefund(refundId, { kind: 'done' })
        expect(await tell(7_998)).toMatchObject({ isMismatch: true })
        expect(await tell(20_001)).toMatchObject({ outcome: 'applied', isMismatch: true })
        const detail = { currency: 'IQD', expectedCurrency: 'IQD', said: 'PartiallyRefunded' }
        expect((await mismatches(w)).slice(1)).toEqual([
          { ...detail, amount: 7_999, expectedAmount: 8_000 },
          { ...detail, amount: 7_998, expectedAmount: 8_000 },
          { ...detail, amount: 20_001, expectedAmount: 20_000 },
        ])
      }),
    )

    it(
      'in parts is none when it was made by hand, comes late or out of order',
      on(async (w) => {
        const transaction = await w.came('Paid')
        const tell = (amount: number) =>
          w.tell(transaction, { status: 'PartiallyRefunded', amount })
        // By hand at the gateway: 9,000, and 3,000 of them before.
        for (const sum of [9_000, 3_000]) expect((await tell(sum)).isMismatch).toBe(false)
        const refundId = await w.claimed(transaction, { amount: 5_000 })
        await w.endRefund(refundId, { kind: 'done' })
        for (const sum of [3_000, 9_000, 14_000, 15_000, 14_000]) {
          expect((await tell(sum)).isMismatch).toBe(false)
        }
        const rest = await w.claimed(transaction, { amount: 10_000 })
        await w.endRefund(rest, { kind: 'done' })
        expect(await tell(15_000)).toMatchObject({ outcome: 'illegal', isMismatch: false })
        expect(await w.alerts()).toEqual([])
      }),
    )

    it(
      'is none where our own refund failed, nor where nothing was paid yet',
      on(async (w) => {
        const transaction = await w.came('Paid', { request: { reference: 'order-1' } })
        const refundId = await w.claimed(transaction, { amount: 8_000 })
        const error = { code: 'refused', message: 'No.' }
        await w.endRefund(refundId, { kind: 'refused', error })
        const wish = { status: 'PartiallyRefunded', amount: 4_000 } as const
        expect((await w.tell(transaction, wish)).isMismatch).toBe(false)
        for (const status of ['Pending', 'Failed'] as const) {
          const unpaid = await w.came(status, { request: { reference: status } })
          expect(await w.tell(unpaid, { status: said, amount: 1 })).toMatchObject({
            outcome: 'illegal',
            isMismatch: false,
          })
        }
        expect(await w.alerts()).toEqual([])
      }),
    )
  })

  describe('another amount in an event that was parked', () => {
    it(
      'is logged when its charge is answered',
      on(async (w) => {
        const transaction = await w.pending()
        const parked = { reference: '', ...LESS, eventId: 'event-1' }
        await w.tell(transaction, parked)
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
      'is looked at only where its status has an amount',
      on(async (w) => {
        const transaction = await w.pending()
        const at = (ms: number) => ({ reference: '', occurredAt: iso(ms) })
        await w.tell(transaction, { ...at(T0 + 300), status: 'Paid' })
        await w.tell(transaction, { ...at(T0 + 900), status: 'Failed', amount: 1 })
        const finished = await w.answer(transaction, T0 + MINUTE)
        expect(finished.transaction.status).toBe('Paid')
        const { webhookEvents } = await w.story(transaction)
        const told = webhookEvents.map(({ outcome, isMismatch }) => [outcome, isMismatch])
        expect(told).toEqual([
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
          const names = { reference, gatewayTransactionId: `gateway of ${reference}` }
          await w.tell(transaction, { ...names, ...LESS, onMismatch })
          await w.pending({ request: { reference } })
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
