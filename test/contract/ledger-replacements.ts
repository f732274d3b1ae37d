// A charge that replaces a stranded one: both are stored together, or neither is.

import { describe, expect, it } from 'vitest'
import type { Transaction } from '../../worker/payments/domain/schemas.ts'
import type { On } from './ledger.ts'
import { type ChargeWish, HOUR, MINUTE, T0, type World } from './ledger-world.ts'

const KEY = { idempotencyKey: 'key-1' }
const NO = { code: 'declined', message: 'No.' }

/** Named by its gateway, which gave no page. */
async function stranded(w: World, wish: ChargeWish = KEY): Promise<Transaction> {
  const transaction = await w.pending(wish)
  const gatewayTransactionId = `gateway-${transaction.id}`
  const result = { kind: 'unknown', gatewayTransactionId, nextCheckAt: T0 + MINUTE } as const
  return (await w.finish(transaction, result)).transaction
}

const replacing = (w: World, { id: transactionId }: Transaction, wish: ChargeWish = KEY) =>
  w.start({
    ...wish,
    now: T0 + 2 * MINUTE,
    replaces: { transactionId, eventId: w.id(), nextCheckAt: T0 + HOUR },
  })

export function replacementContract(on: On): void {
  describe('a charge that replaces another', () => {
    it(
      'begins when that one ends, each with its event, and gets its key',
      on(async (w) => {
        const first = await stranded(w)
        const start = replacing(w, first)
        const second = await w.caused(w.ledger.beginCharge(start))
        expect(second).toMatchObject({
          ...{ state: 'begun', accessToken: 'token of redirect' },
          transaction: { id: start.id, attempt: 2, status: 'Pending' },
          pending: [
            { outboxId: start.replaces?.eventId, type: 'PaymentCancelled' },
            { outboxId: start.id, type: 'PaymentInitiated' },
          ],
        })
        const ended = await w.read(first)
        expect(ended).toMatchObject({ status: 'Cancelled', error: { code: 'replaced' } })
        const { transaction } = second as { transaction: Transaction }
        expect(transaction.externalReferenceId).not.toBe(ended.externalReferenceId)
        expect(await w.eventsOf(first)).toEqual(['PaymentInitiated', 'PaymentCancelled'])
        expect(await w.eventsOf(transaction)).toEqual(['PaymentInitiated'])
        await w.answer(transaction, T0)
        expect(await w.begin(KEY)).toMatchObject({
          ...{ state: 'answered', transaction: { id: start.id } },
        })
        expect(await w.alerts()).toEqual([])
      }),
    )

    it(
      'gets all further keys of that one, too, and those stay with it',
      on(async (w) => {
        const first = await w.charged(KEY)
        for (const idempotencyKey of ['key-2', 'key-3']) await w.begin({ idempotencyKey })
        const start = replacing(w, first, { idempotencyKey: 'key-3' })
        const later = { ...start, now: T0 + 99 * HOUR, until: T0 + 100 * HOUR }
        const second = await w.ledger.beginCharge(later)
        expect(second).toMatchObject({ state: 'begun', transaction: { id: start.id } })
        await w.finish({ ...first, id: start.id }, { kind: 'refused', error: NO })
        for (const idempotencyKey of ['key-1', 'key-2', 'key-3']) {
          expect(await w.begin({ idempotencyKey })).toMatchObject({
            ...{ state: 'answered', transaction: { id: start.id, status: 'Failed' } },
          })
        }
      }),
    )

    it(
      'is found by its own ids when it is begun again',
      on(async (w) => {
        const first = await stranded(w)
        const start = replacing(w, first)
        const once = await w.caused(w.ledger.beginCharge(start))
        const again = await w.caused(w.ledger.beginCharge(start))
        expect(again).toEqual({ ...once, pending: [] })
        expect(await w.eventsOf(first)).toEqual(['PaymentInitiated', 'PaymentCancelled'])
        expect(await w.queries.transactions({}, { limit: 9 })).toHaveLength(2)
      }),
    )

    it(
      'begins once for five calls at the same time',
      on(async (w) => {
        const first = await stranded(w)
        const starts = Array.from({ length: 5 }, () => replacing(w, first))
        const begun = await Promise.all(starts.map((start) => w.ledger.beginCharge(start)))
        const states = begun.map(({ state }) => state).sort()
        expect(states).toEqual(['begun', ...Array.from({ length: 4 }, () => 'in_progress')])
        expect(await w.queries.transactions({}, { limit: 9 })).toHaveLength(2)
      }),
    )

    it(
      'does not begin if the other is paid, and a later payment of the other is late',
      on(async (w) => {
        const paid = await stranded(w)
        await w.webhook(paid)
        const late = await w.caused(w.ledger.beginCharge(replacing(w, paid)))
        expect(late).toMatchObject({
          state: 'answered',
          transaction: { status: 'Paid' },
          pending: [],
        })

        const order = { request: { reference: 'order-2' } }
        const replaced = await stranded(w, order)
        await w.caused(w.ledger.beginCharge(replacing(w, replaced, order)))
        expect(await w.webhook(replaced)).toMatchObject({ outcome: 'late_payment', pending: [] })
        expect(await w.read(replaced)).toMatchObject({ status: 'Cancelled' })
        expect(await w.alerts()).toEqual(['late_payment'])
      }),
    )

    it(
      'does not change the other while its gateway’s circuit is open',
      on(async (w) => {
        const first = await stranded(w)
        w.guard.retryAfterMs = 9_000
        const refused = await w.caused(w.ledger.beginCharge(replacing(w, first)))
        expect(refused).toMatchObject({
          state: 'unknown',
          transaction: { id: first.id },
          pending: [],
        })
        expect(await w.read(first)).toMatchObject({ status: 'Pending' })
      }),
    )

    it(
      'causes one more check of the other',
      on(async (w) => {
        const first = await stranded(w)
        await w.ledger.beginCharge(replacing(w, first))
        const due = async (now: number) => {
          const checks = await w.ledger.claimChecks({ now, until: now + HOUR, limit: 9 })
          return checks.flatMap((check) => ('transaction' in check ? check.transaction.id : []))
        }
        expect(await due(T0 + HOUR - 1)).not.toContain(first.id)
        expect(await due(T0 + HOUR)).toContain(first.id)
        await w.ledger.settleCheck({ transactionId: first.id, now: T0 + HOUR })
        expect(await due(T0 + 99 * HOUR)).not.toContain(first.id)
      }),
    )

    it(
      'raises an alert for one that could not be checked',
      on(async (w) => {
        const wish = { chargeIsIdempotent: false }
        const first = await w.pending(wish)
        await w.finish(first, { kind: 'unknown', nextCheckAt: T0 + MINUTE })
        const start = replacing(w, first, wish)
        const replaces = { transactionId: first.id, eventId: start.replaces?.eventId ?? '' }
        expect(await w.ledger.beginCharge({ ...start, replaces })).toMatchObject({ state: 'begun' })
        expect(await w.alerts()).toEqual(['unsettled'])
        expect((await w.story(first)).alerts).toMatchObject([{ detail: { gatewayStatus: 'none' } }])
        expect(
          await w.ledger.claimChecks({ now: T0 + 90 * MINUTE, until: 0, limit: 9 }),
        ).toHaveLength(1)
      }),
    )
  })
}
