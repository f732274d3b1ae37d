// Charges that their gateway has answered or refused.

import { describe, expect, it } from 'vitest'
import type { On } from './ledger.ts'
import { HOUR, iso, MINUTE, T0 } from './ledger-world.ts'

const declined = { code: 'declined', rawCode: 'E51', message: 'Not enough money.' }

export function answerContract(on: On): void {
  describe('a charge that was answered', () => {
    it(
      'has the gateway’s id, and is found again with its current status',
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
          await w.webhook(finished.transaction)
          expect(await w.begin({ ...wish, now: T0 + 90_000 })).toMatchObject({
            state: 'answered',
            transaction: { id: transaction.id, status: 'Paid' },
            opened: answer,
          })
        }
      }),
    )

    it(
      'is not changed back by its answer if its webhook was faster',
      on(async (w) => {
        const transaction = await w.pending()
        const { externalReferenceId } = transaction
        expect((await w.webhook(transaction, { externalReferenceId })).outcome).toBe('applied')
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
        await w.webhook(transaction, { reference: '' })
        const first = await w.answer(transaction, T0 + HOUR)
        const before = await w.story(transaction)
        const again = await w.answer(transaction, T0 + HOUR)
        expect(again.transaction).toEqual(first.transaction)
        expect(await w.story(transaction)).toEqual(before)
      }),
    )

    it(
      'reports to the gateway’s circuit breaker, and returns whether that opened it',
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
      'is Failed with its error, and has one event',
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
      'is not begun again by its own call, repeated late',
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
      'is not Failed if another call got an answer before',
      on(async (w) => {
        const transaction = await w.charged()
        const finished = await w.finish(transaction, { kind: 'refused', error: declined })
        expect(finished).toMatchObject({ transaction, pending: [] })
        expect(await w.eventsOf(transaction)).toEqual(['PaymentInitiated'])
      }),
    )

    it(
      'is not Failed if a webhook reported Paid before',
      on(async (w) => {
        const transaction = await w.pending()
        await w.webhook(transaction)
        const paid = await w.read(transaction)
        const finished = await w.finish(transaction, { kind: 'refused', error: declined })
        expect(finished.transaction).toEqual(paid)
        expect(finished.pending).toEqual([])
        expect(await w.eventsOf(transaction)).toEqual(['PaymentInitiated', 'PaymentSucceeded'])
      }),
    )
  })
}
