// What the ledger keeps of a charge: begun once, answered the same, never made twice.

import { describe, expect, it } from 'vitest'
import { externalReference } from '../../worker/payments/domain/begin-charge.ts'
import { read } from '../support/readable-queries.ts'
import type { On } from './ledger.ts'
import { HOUR, iso, MINUTE, NOBODY, T0 } from './ledger-world.ts'

const declined = { code: 'declined', rawCode: 'E51', message: 'Not enough money.' }

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
      'keeps the payer’s phone nowhere',
      on(async (w) => {
        const begun = await w.caused(w.begin({ request: { customerPhone: '9647800000000' } }))
        const checks = await w.ledger.claimChecks({ now: T0 + HOUR, until: T0 + HOUR, limit: 9 })
        if (begun.state !== 'begun') throw new Error('it begins')
        const stored = [begun.pending, await w.story(begun.transaction), checks]
        expect(JSON.stringify(stored)).not.toContain('9647800000000')
      }),
    )

    it(
      'causes nothing to dispatch where nobody subscribes',
      on(async (w) => {
        expect(await w.caused(w.begin())).toMatchObject({ state: 'begun', pending: [] })
      }, NOBODY),
    )

    it(
      'is answered as before while the circuit is open, and stays unanswered where it was',
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
        expect(await w.begin(other)).toEqual({ state: 'conflict', over: 'key' })
        expect(await w.begin({ request: { reference: 'order-2' } })).toMatchObject({
          state: 'unknown',
          transaction: { id: open.id, status: 'Pending' },
          nextCheckAt: T0 + HOUR,
        })
        w.guard.retryAfterMs = undefined
        // Nobody has claimed it in the meantime.
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
      'begins again as the first time when the same call is repeated',
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
      'has an external reference of its own for each gateway, key, order and attempt',
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
      'has the number of its attempt in its external reference, with a key too',
      on(async (w) => {
        await w.came('Failed', { idempotencyKey: 'key-1' })
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
      'asked for fifty times at once is one charge',
      on(async (w) => {
        const all = await Promise.all(Array.from({ length: 50 }, () => w.begin()))
        const states = all.map(({ state }) => state)
        expect(states.filter((state) => state === 'begun')).toHaveLength(1)
        expect(states.filter((state) => state === 'in_progress')).toHaveLength(49)
        expect(await w.queries.transactions({}, { limit: 99 })).toHaveLength(1)
        // Whoever did not call the gateway gave its leave back.
        expect(w.guard.reported).toEqual(Array(49).fill(['redirect', 'neutral']))
      }),
    )

    it(
      'of another gateway is another, though order and key are the same',
      on(async (w) => {
        const one = await w.pending({ idempotencyKey: 'key-1' })
        const other = await w.pending({ idempotencyKey: 'key-1', request: { gateway: 'fib' } })
        expect(other.id).not.toBe(one.id)
      }),
    )
  })

  describe('a charge that was answered', () => {
    it(
      'has the gateway’s names, and is found again as it is then',
      on(async (w) => {
        for (const idempotencyKey of [undefined, 'key-1']) {
          const key = idempotencyKey === undefined ? {} : { idempotencyKey }
          const wish = { ...key, request: { reference: `order of ${idempotencyKey}` } }
          const transaction = await w.pending(wish)
          const answer = w.answerOf(transaction, { qrCode: 'QR', deepLink: 'bank://1' })
          const result = { kind: 'answered', answer, nextCheckAt: T0 + HOUR } as const
          const finished = await w.finish(transaction, result)
          expect(finished).toMatchObject({
            opened: false,
            pending: [],
            transaction: {
              status: 'Pending',
              gatewayTransactionId: answer.gatewayTransactionId,
              redirectUrl: 'https://pay.example/hosted/1',
              expiresAt: iso(T0 + HOUR),
              updatedAt: iso(T0 + 1_000),
            },
          })
          expect(await w.read(transaction)).toEqual(finished.transaction)
          expect(await w.begin({ ...wish, now: T0 + 2_000 })).toEqual({
            state: 'answered',
            transaction: finished.transaction,
            opened: answer,
          })
          await w.tell(finished.transaction)
          expect(await w.begin({ ...wish, now: T0 + 90_000 })).toMatchObject({
            state: 'answered',
            transaction: { id: transaction.id, status: 'Paid' },
            opened: answer,
          })
        }
      }),
    )

    it(
      'is not set back by its answer when its webhook was faster',
      on(async (w) => {
        const transaction = await w.pending()
        const { externalReferenceId } = transaction
        expect((await w.tell(transaction, { externalReferenceId })).outcome).toBe('applied')
        const finished = await w.answer(transaction, T0 + MINUTE)
        expect(finished.transaction.status).toBe('Paid')
        expect(finished.transaction.redirectUrl).toBe('https://pay.example/hosted/1')
        expect(finished.pending).toEqual([])
        expect(await w.ledger.claimChecks({ now: T0 + HOUR, until: T0, limit: 9 })).toEqual([])
      }),
    )

    it(
      'changes nothing when the same answer is stored again',
      on(async (w) => {
        const transaction = await w.pending()
        await w.tell(transaction, { reference: '' })
        const first = await w.answer(transaction, T0 + HOUR)
        const before = await w.story(transaction)
        const again = await w.answer(transaction, T0 + HOUR)
        expect(again.transaction).toEqual(first.transaction)
        expect(await w.story(transaction)).toEqual(before)
      }),
    )

    it(
      'reports to the gateway’s breaker, and says when that opened it',
      on(async (w) => {
        const transaction = await w.pending()
        w.guard.opens = true
        const result = { kind: 'unknown', nextCheckAt: T0 + MINUTE } as const
        expect((await w.finish(transaction, result)).opened).toBe(true)
        expect(w.guard.reported).toEqual([['redirect', 'failure']])
      }),
    )
  })

  describe('a charge that was refused', () => {
    it(
      'has failed, with its reason, and tells so once',
      on(async (w) => {
        const transaction = await w.pending({ idempotencyKey: 'key-1' })
        const eventId = w.id()
        const result = { kind: 'refused', error: declined } as const
        const finished = await w.finish(transaction, result, { eventId })
        expect(finished.transaction).toMatchObject({ status: 'Failed', error: declined })
        expect(finished.pending).toMatchObject([
          { outboxId: eventId, type: 'PaymentFailed', correlationId: 'correlation-1' },
        ])
        await w.finish(transaction, result, { eventId })
        expect(await w.eventsOf(transaction)).toEqual(['PaymentInitiated', 'PaymentFailed'])
        expect(await w.begin({ idempotencyKey: 'key-1' })).toEqual({
          state: 'answered',
          transaction: finished.transaction,
        })
        expect(await w.ledger.claimChecks({ now: T0 + HOUR, until: T0, limit: 9 })).toEqual([])
      }),
    )

    it(
      'is not begun anew by its own call, repeated late',
      on(async (w) => {
        const start = w.start()
        await w.ledger.beginCharge(start)
        const { transaction } = await w.story(start.id)
        await w.finish(transaction, { kind: 'refused', error: declined })
        expect(await w.ledger.beginCharge(start)).toMatchObject({
          state: 'answered',
          transaction: { id: start.id, status: 'Failed', error: declined },
        })
        expect(await w.queries.transactions({}, { limit: 9 })).toHaveLength(1)
        expect(await w.eventsOf(transaction)).toEqual(['PaymentInitiated', 'PaymentFailed'])
      }),
    )

    it(
      'has not failed where another call got an answer before',
      on(async (w) => {
        const transaction = await w.charged()
        const finished = await w.finish(transaction, { kind: 'refused', error: declined })
        expect(finished).toMatchObject({ transaction, pending: [] })
        expect(await w.eventsOf(transaction)).toEqual(['PaymentInitiated'])
      }),
    )

    it(
      'has not failed where a webhook said otherwise before',
      on(async (w) => {
        const transaction = await w.pending()
        await w.tell(transaction)
        const paid = await w.read(transaction)
        const finished = await w.finish(transaction, { kind: 'refused', error: declined })
        expect(finished.transaction).toEqual(paid)
        expect(finished.pending).toEqual([])
        expect(await w.eventsOf(transaction)).toEqual(['PaymentInitiated', 'PaymentSucceeded'])
      }),
    )
  })

  describe('a charge of unknown outcome', () => {
    const later = { now: T0 + 2 * MINUTE }

    it(
      'is asked for again under the same name where that is harmless, and causes no event',
      on(async (w) => {
        const transaction = await w.pending()
        await w.finish(transaction, { kind: 'unknown', nextCheckAt: T0 + HOUR })
        const again = w.start(later)
        const begun = await w.ledger.beginCharge(again)
        expect(begun).toMatchObject({ state: 'begun', accessToken: 'token of redirect' })
        expect(w.dispatcher.take()).toEqual([])
        expect(begun).toMatchObject({
          transaction: {
            id: transaction.id,
            attempt: 1,
            externalReferenceId: transaction.externalReferenceId,
          },
        })
        expect(await w.ledger.beginCharge(again)).toEqual(begun)
        expect(await w.begin({ now: later.now + 1 })).toMatchObject({ state: 'in_progress' })
        expect(await w.eventsOf(transaction)).toEqual(['PaymentInitiated'])
        // The sweeper looks when this caller must have come back, not before.
        const claim = { until: T0 + HOUR, limit: 9 }
        const due = (now: number) => w.ledger.claimChecks({ ...claim, now })
        expect(await due(again.until - 1)).toEqual([])
        expect(await due(again.until)).toHaveLength(1)
      }),
    )

    it(
      'is left to the sweeper where asking twice could charge twice',
      on(async (w) => {
        const chargeIsIdempotent = false
        const transaction = await w.pending({ chargeIsIdempotent })
        await w.finish(transaction, { kind: 'unknown', nextCheckAt: T0 + HOUR })
        expect(await w.begin({ ...later, chargeIsIdempotent })).toMatchObject({
          state: 'unknown',
          transaction: { id: transaction.id, status: 'Pending' },
          nextCheckAt: T0 + HOUR,
        })
        expect(w.guard.reported).toEqual([
          ['redirect', 'failure'],
          ['redirect', 'neutral'],
        ])
      }),
    )

    it(
      'that was never sent may be sent by the same request, once, whatever its gateway is',
      on(async (w) => {
        for (const [at, chargeIsIdempotent] of [true, false].entries()) {
          const wish = { chargeIsIdempotent, request: { reference: `order ${at}` } }
          const transaction = await w.pending(wish)
          const unsent = { kind: 'unsent', nextCheckAt: T0 + HOUR } as const
          await w.finish(transaction, unsent, { verdict: 'neutral' })
          expect(await w.read(transaction)).toMatchObject({ status: 'Pending' })
          const again = w.start({ ...wish, now: T0 + 2_000 })
          expect(await w.caused(w.ledger.beginCharge(again))).toMatchObject({
            state: 'begun',
            pending: [],
            transaction: { id: transaction.id },
          })
          expect(await w.begin({ ...wish, now: T0 + 2_001 })).toMatchObject({
            state: 'in_progress',
          })
          // Now it may have been sent.
          const state = chargeIsIdempotent ? 'begun' : 'unknown'
          expect(await w.begin({ ...wish, now: again.until })).toMatchObject({ state })
        }
      }),
    )

    it(
      'is not asked for again once a webhook has told of it',
      on(async (w) => {
        const transaction = await w.pending()
        await w.tell(transaction)
        const paid = await w.read(transaction)
        expect(paid.status).toBe('Paid')
        expect(await w.begin(later)).toEqual({ state: 'answered', transaction: paid })
      }),
    )

    it(
      'that its gateway has named and gave no page for is not asked for again, but checked by name',
      on(async (w) => {
        for (const idempotencyKey of [undefined, 'key-1']) {
          const key = idempotencyKey === undefined ? {} : { idempotencyKey }
          const wish = { ...key, request: { reference: `order of ${idempotencyKey}` } }
          const transaction = await w.pending(wish)
          const gatewayTransactionId = `gateway-${transaction.id}`
          const result = { kind: 'unknown', gatewayTransactionId, nextCheckAt: T0 + HOUR } as const
          const finished = await w.finish(transaction, result)
          expect(finished.transaction).toMatchObject({ status: 'Pending', gatewayTransactionId })
          for (const retryAfterMs of [undefined, 12_000]) {
            w.guard.retryAfterMs = retryAfterMs
            expect(await w.begin({ ...wish, ...later })).toEqual({
              state: 'unknown',
              transaction: finished.transaction,
              nextCheckAt: T0 + HOUR,
            })
          }
          w.guard.retryAfterMs = undefined
          await w.tell(transaction, { reference: '', status: 'Expired' })
          expect((await w.read(transaction)).status).toBe('Expired')
        }
      }),
    )

    it(
      'takes no name that another payment of its gateway has, and what came for its own is applied',
      on(async (w) => {
        const other = await w.charged({ request: { reference: 'order-2' } })
        const { gatewayTransactionId = '' } = other
        const transaction = await w.pending()
        const unknown = { kind: 'unknown', nextCheckAt: T0 + HOUR } as const
        const taken = await w.finish(transaction, { ...unknown, gatewayTransactionId })
        expect(taken.transaction).not.toHaveProperty('gatewayTransactionId')
        // Its webhook came before it had this name.
        const early = { gatewayTransactionId: 'gateway-1', reference: '' }
        expect((await w.tell(transaction, early)).outcome).toBe('parked')
        const named = await w.finish(transaction, { ...unknown, gatewayTransactionId: 'gateway-1' })
        expect(named.transaction).toMatchObject({
          status: 'Paid',
          gatewayTransactionId: 'gateway-1',
        })
        expect(named.pending).toMatchObject([{ type: 'PaymentSucceeded' }])
      }),
    )

    it(
      'because its caller never came back is in progress until its time is over, and due then',
      on(async (w) => {
        const transaction = await w.pending({ idempotencyKey: 'key-1' })
        const idempotencyKey = 'key-1'
        expect(await w.begin({ idempotencyKey, now: T0 + MINUTE - 1 })).toMatchObject({
          state: 'in_progress',
        })
        const claim = { until: T0 + HOUR, limit: 9 }
        expect(await w.ledger.claimChecks({ ...claim, now: T0 + MINUTE - 1 })).toEqual([])
        const checks = await w.ledger.claimChecks({ ...claim, now: T0 + MINUTE })
        expect(checks.map((check) => read(check).transaction.id)).toEqual([transaction.id])
        expect(await w.caused(w.begin({ idempotencyKey, now: T0 + MINUTE }))).toMatchObject({
          state: 'begun',
          pending: [],
        })
      }),
    )
  })

  describe('a charge in the way of another', () => {
    it(
      'is a conflict over its key when the request is another',
      on(async (w) => {
        await w.charged({ idempotencyKey: 'key-1' })
        const other = { idempotencyKey: 'key-1', request: { reference: 'order-2' } }
        expect(await w.begin(other)).toEqual({ state: 'conflict', over: 'key' })
      }),
    )

    it(
      'is a conflict over its order while that is open, paid or refunded',
      on(async (w) => {
        for (const status of ['Pending', 'Paid', 'PartiallyRefunded', 'Refunded'] as const) {
          const reference = `order ${status}`
          await w.came(status, { request: { reference } })
          expect(await w.begin({ request: { reference, amount: 9 } })).toEqual({
            state: 'conflict',
            over: 'reference',
          })
        }
      }),
    )

    it(
      'gives way once it came to nothing: the next attempt is a payment of its own',
      on(async (w) => {
        let attempt = 1
        const names = new Set<string>()
        for (const status of ['Failed', 'Cancelled', 'Expired'] as const) {
          const transaction = await w.came(status)
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
