// Charges whose answer was lost, or that have no answer yet.

import { describe, expect, it } from 'vitest'
import { read } from '../support/readable-queries.ts'
import type { On } from './ledger.ts'
import { HOUR, MINUTE, T0 } from './ledger-world.ts'

export function unknownChargeContract(on: On): void {
  describe('a charge with an unknown result', () => {
    const later = { now: T0 + 2 * MINUTE }

    it(
      'is repeated with the same external reference if that is safe, without an event',
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
        // It is due for a check when this call must have ended, and not before.
        const claim = { until: T0 + HOUR, limit: 9 }
        const due = (now: number) => w.ledger.claimChecks({ ...claim, now })
        expect(await due(again.until - 1)).toEqual([])
        expect(await due(again.until)).toHaveLength(1)
      }),
    )

    it(
      'is left to the sweeper if a repetition could charge twice',
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
      'that was not sent can be sent once by the same request, at any gateway',
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
          // By now it may have been sent.
          const state = chargeIsIdempotent ? 'begun' : 'unknown'
          expect(await w.begin({ ...wish, now: again.until })).toMatchObject({ state })
        }
      }),
    )

    it(
      'is not repeated after a webhook has reported it',
      on(async (w) => {
        const transaction = await w.pending()
        await w.webhook(transaction)
        const paid = await w.read(transaction)
        expect(paid.status).toBe('Paid')
        expect(await w.begin(later)).toEqual({ state: 'answered', transaction: paid })
      }),
    )

    it(
      'that has the gateway’s id but no page is not repeated, but found by that id',
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
          await w.webhook(transaction, { reference: '', status: 'Expired' })
          expect((await w.read(transaction)).status).toBe('Expired')
        }
      }),
    )

    it(
      'does not get an id of another payment, and parked events are applied when it gets its own',
      on(async (w) => {
        const other = await w.charged({ request: { reference: 'order-2' } })
        const { gatewayTransactionId = '' } = other
        const transaction = await w.pending()
        const unknown = { kind: 'unknown', nextCheckAt: T0 + HOUR } as const
        const taken = await w.finish(transaction, { ...unknown, gatewayTransactionId })
        expect(taken.transaction).not.toHaveProperty('gatewayTransactionId')
        // Its webhook arrives before it has this id.
        const early = { gatewayTransactionId: 'gateway-1', reference: '' }
        expect((await w.webhook(transaction, early)).outcome).toBe('parked')
        const named = await w.finish(transaction, { ...unknown, gatewayTransactionId: 'gateway-1' })
        expect(named.transaction).toMatchObject({
          status: 'Paid',
          gatewayTransactionId: 'gateway-1',
        })
        expect(named.pending).toMatchObject([{ type: 'PaymentSucceeded' }])
      }),
    )

    it(
      'because its caller has vanished is in progress until its time is over, and due then',
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
}
