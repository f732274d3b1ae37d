// A charge begins once, and conflicts with others for its key or its order.

import { describe, expect, it } from 'vitest'
import { externalReference } from '../../worker/payments/domain/begin-charge.ts'
import type { On } from './ledger.ts'
import { NOBODY } from './ledger-fakes.ts'
import { HOUR, iso, MINUTE, T0 } from './ledger-world.ts'

export function chargeContract(on: On): void {
  describe('a charge', () => {
    it(
      'is stored with its event before the gateway is called',
      on(async (w) => {
        const metadata = { table: 4, isGift: true, note: null }
        const start = w.start({ request: { metadata, customerPhone: '9647800000000' } })
        const begun = await w.caused(w.ledger.beginCharge(start))
        expect(begun).toMatchObject({
          state: 'begun',
          accessToken: 'token of redirect',
          transaction: {
            id: start.id,
            gateway: 'redirect',
            reference: 'order-1',
            attempt: 1,
            status: 'Pending',
            amount: 25_000,
            currency: 'IQD',
            refundedAmount: 0,
            description: 'Three books',
            metadata,
            correlationId: 'correlation-1',
            createdAt: iso(T0),
            updatedAt: iso(T0),
          },
          pending: [
            {
              outboxId: start.id,
              type: 'PaymentInitiated',
              correlationId: 'correlation-1',
              createdAt: T0,
              listeners: { attempts: 0 },
              delivery: { attempts: 0 },
            },
          ],
        })
        const { transaction, events } = await w.story(start.id)
        expect(begun).toMatchObject({ transaction })
        expect(transaction.externalReferenceId).toMatch(/^[0-9a-f-]{36}$/)
        expect(transaction).not.toHaveProperty('gatewayTransactionId')
        const { customerPhone: _, ...request } = start.request
        expect(events).toMatchObject([{ id: start.id, type: 'PaymentInitiated' }])
        expect(events[0]?.payload).toEqual({ gateway: 'redirect', request, transaction })
      }),
    )

    it(
      'does not store the payer’s phone number',
      on(async (w) => {
        const begun = await w.caused(w.begin({ request: { customerPhone: '9647800000000' } }))
        const checks = await w.ledger.claimChecks({ now: T0 + HOUR, until: T0 + HOUR, limit: 9 })
        if (begun.state !== 'begun') throw new Error(begun.state)
        const stored = [begun.pending, await w.story(begun.transaction), checks]
        expect(JSON.stringify(stored)).not.toContain('9647800000000')
      }),
    )

    it(
      'causes no dispatch if there are no subscribers',
      on(async (w) => {
        expect(await w.caused(w.begin())).toMatchObject({ state: 'begun', pending: [] })
      }, NOBODY),
    )

    it(
      'is answered as before while the circuit is open, or stays without an answer',
      on(async (w) => {
        const transaction = await w.charged({ idempotencyKey: 'key-1' })
        const open = await w.pending({ request: { reference: 'order-2' } })
        await w.finish(open, { kind: 'unknown', nextCheckAt: T0 + HOUR })
        w.guard.retryAfterMs = 12_000
        expect(await w.begin({ idempotencyKey: 'key-1' })).toEqual({
          state: 'answered',
          transaction,
          opened: w.answerOf(transaction),
        })
        const other = { idempotencyKey: 'key-1', requestHash: 'another' }
        expect(await w.begin(other)).toEqual({ state: 'conflict', over: 'key', fields: [] })
        expect(await w.begin({ idempotencyKey: 'key-2' })).toMatchObject({ state: 'answered' })
        expect(await w.begin({ request: { reference: 'order-2' } })).toMatchObject({
          state: 'unknown',
          transaction: { id: open.id, status: 'Pending' },
          nextCheckAt: T0 + HOUR,
        })
        w.guard.retryAfterMs = undefined
        await w.webhook(transaction)
        expect(await w.begin({ idempotencyKey: 'key-2' })).toMatchObject({ state: 'answered' })
        // It was not claimed in the meantime.
        const again = { request: { reference: 'order-2' }, now: T0 + MINUTE }
        expect(await w.begin(again)).toMatchObject({ state: 'begun' })
      }),
    )

    it(
      'is not stored while the gateway’s circuit is open',
      on(async (w) => {
        w.guard.retryAfterMs = 12_000
        expect(await w.begin()).toEqual({ state: 'circuit_open', retryAfterMs: 12_000 })
        expect(await w.queries.transactions({}, { limit: 9 })).toEqual([])
        expect(await w.outbox.claimPending({ now: T0 + HOUR, limit: 9 })).toEqual([])
      }),
    )

    it(
      'gets the same answer when its call is repeated',
      on(async (w) => {
        for (const idempotencyKey of [undefined, 'key-1']) {
          const reference = `order of ${idempotencyKey}`
          const key = idempotencyKey === undefined ? {} : { idempotencyKey }
          const start = w.start({ ...key, request: { reference } })
          const first = await w.ledger.beginCharge(start)
          expect(await w.ledger.beginCharge(start)).toEqual(first)
          expect(await w.queries.transactions({ reference }, { limit: 9 })).toHaveLength(1)
          expect((await w.story(start.id)).events).toHaveLength(1)
        }
      }),
    )

    it(
      'has a different external reference for each gateway, key and order',
      on(async (w) => {
        const wishes = [
          { request: { reference: 'order-1' } },
          { request: { reference: 'order-2' } },
          { idempotencyKey: 'key-1', request: { reference: 'order-3' } },
          { idempotencyKey: 'key-2', request: { reference: 'order-4' } },
          { idempotencyKey: 'key-2', request: { reference: 'order-4', gateway: 'fib' } },
          { request: { reference: 'order-1', gateway: 'fib' } },
        ]
        const first = await Promise.all(wishes.map((wish) => w.pending(wish)))
        const names = first.map(({ externalReferenceId }) => externalReferenceId)
        expect(new Set(names).size).toBe(wishes.length)
      }),
    )

    it(
      'has an external reference that depends on its attempt, also with a key',
      on(async (w) => {
        await w.reached('Failed', { idempotencyKey: 'key-1' })
        const { attempt, externalReferenceId, ...named } = await w.pending({
          idempotencyKey: 'key-2',
        })
        expect(attempt).toBe(2)
        const charge = { ...named, idempotencyKey: 'key-2' }
        expect(externalReferenceId).toBe(externalReference(charge, 2))
        expect(externalReference(charge, 1)).not.toBe(externalReferenceId)
      }),
    )

    it(
      'requested fifty times at once is one charge',
      on(async (w) => {
        const all = await Promise.all(Array.from({ length: 50 }, () => w.begin()))
        const states = all.map(({ state }) => state)
        expect(states.filter((state) => state === 'begun')).toHaveLength(1)
        expect(states.filter((state) => state === 'in_progress')).toHaveLength(49)
        expect(await w.queries.transactions({}, { limit: 99 })).toHaveLength(1)
        // Callers that did not call the gateway have reported that to the guard.
        expect(w.guard.reported).toEqual(Array(49).fill(['redirect', 'neutral']))
      }),
    )

    it(
      'at another gateway is another one, with the same order and key',
      on(async (w) => {
        const one = await w.pending({ idempotencyKey: 'key-1' })
        const other = await w.pending({ idempotencyKey: 'key-1', request: { gateway: 'fib' } })
        expect(other.id).not.toBe(one.id)
      }),
    )
  })

  describe('a charge that conflicts with another', () => {
    it(
      'is refused for its key if the request differs',
      on(async (w) => {
        await w.charged({ idempotencyKey: 'key-1' })
        const other = { idempotencyKey: 'key-1', request: { reference: 'order-2' } }
        const fields = ['reference']
        expect(await w.begin(other)).toEqual({ state: 'conflict', over: 'key', fields })
      }),
    )

    it(
      'is refused for its order while that has an open, paid or refunded charge',
      on(async (w) => {
        for (const status of ['Pending', 'Paid', 'PartiallyRefunded', 'Refunded'] as const) {
          const reference = `order ${status}`
          await w.reached(status, { request: { reference } })
          expect(await w.begin({ request: { reference, amount: 9 } })).toEqual({
            ...{ state: 'conflict', over: 'reference', fields: ['amount'] },
          })
        }
      }),
    )

    it(
      'is refused with another key once the order is paid, unless it is a repetition',
      on(async (w) => {
        const { id: transactionId } = await w.reached('Paid', { idempotencyKey: 'january' })
        const february = { idempotencyKey: 'february' }
        expect(await w.begin(february)).toEqual({ state: 'already_paid', transactionId })
        const start = w.start({ ...february, isRepeat: true })
        const begun = await w.ledger.beginCharge(start)
        expect(begun).toMatchObject({ state: 'begun', transaction: { attempt: 2 } })
        expect(await w.ledger.beginCharge(start)).toEqual(begun)
        expect(await w.begin(february)).toMatchObject({ state: 'in_progress' })
        expect(await w.queries.transactions({}, { limit: 9 })).toHaveLength(2)
      }),
    )

    it(
      'gives an open charge any number of keys, for ever, also at once',
      on(async (w) => {
        const charge = await w.charged({ idempotencyKey: 'key-0' })
        const keys = Array.from({ length: 20 }, (_, n) => ({ idempotencyKey: `key-${n}` }))
        const found = { state: 'answered', transaction: { id: charge.id, status: 'Pending' } }
        for (const answer of await Promise.all(keys.map((key) => w.begin(key)))) {
          expect(answer).toMatchObject(found)
        }
        await w.webhook(charge)
        const paid = { state: 'answered', transaction: { id: charge.id, status: 'Paid' } }
        for (const key of keys) expect(await w.begin(key)).toMatchObject(paid)
        const elsewhere = { ...keys[1], request: { gateway: 'fib' } }
        expect(await w.begin(elsewhere)).toMatchObject({ state: 'begun' })
        const other = { ...keys[1], request: { reference: 'order-2' } }
        expect(await w.begin(other)).toMatchObject({ state: 'conflict', over: 'key' })
      }),
    )

    it(
      'is a new attempt if the earlier ones have failed',
      on(async (w) => {
        let attempt = 1
        const names = new Set<string>()
        for (const status of ['Failed', 'Cancelled', 'Expired'] as const) {
          const transaction = await w.reached(status)
          expect(transaction.attempt).toBe(attempt++)
          names.add(transaction.externalReferenceId)
        }
        const last = await w.pending({ request: { amount: 9_000 } })
        expect(last.attempt).toBe(4)
        expect(names.add(last.externalReferenceId).size).toBe(4)
      }),
    )
  })
}
