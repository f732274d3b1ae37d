// Whether any work is due, which the sweeper asks first.

import { describe, expect, it } from 'vitest'
import { LEASE_MS } from '../../worker/payments/domain/outbox.ts'
import type { On } from './ledger.ts'
import { LISTENERS } from './ledger-fakes.ts'
import { HOUR, MINUTE, T0 } from './ledger-world.ts'

export function dueContract(on: On): void {
  describe('due work', () => {
    it(
      'is a check, a pending event, or a parked event with a payment',
      on(async (w) => {
        expect(await w.queries.waiting(T0 + 99 * HOUR)).toMatchObject({ isDue: false })
        const { id } = await w.pending()
        await w.outbox.settleDispatched([{ outboxId: id, listeners: { ok: true } }], T0)
        expect(await w.queries.waiting(T0 + MINUTE - 1)).toMatchObject({ isDue: false })
        expect(await w.queries.waiting(T0 + MINUTE)).toMatchObject({ isDue: true })
        await w.ledger.settleCheck({ transactionId: id, now: T0 })
        expect(await w.queries.waiting(T0 + 99 * HOUR)).toMatchObject({ isDue: false })

        const other = w.start({ request: { reference: 'order-2' }, until: T0 + 23 * HOUR })
        await w.ledger.beginCharge(other)
        expect(await w.queries.waiting(T0 + LEASE_MS - 1)).toMatchObject({ isDue: false })
        expect(await w.queries.waiting(T0 + LEASE_MS)).toMatchObject({ isDue: true })
        await w.outbox.settleDispatched([{ outboxId: other.id, listeners: { ok: true } }], T0)
        expect(await w.queries.waiting(T0 + LEASE_MS)).toMatchObject({ isDue: false })

        const paid = w.arrival((await w.story(id)).transaction, {
          reference: 'order-3',
          gatewayTransactionId: 'gateway-3',
        })
        await w.ledger.webhook(paid)
        const third = w.start({ request: { reference: 'order-3' }, until: T0 + 23 * HOUR })
        await w.ledger.beginCharge(third)
        await w.outbox.settleDispatched([{ outboxId: third.id, listeners: { ok: true } }], T0)
        expect(await w.queries.waiting(T0 + LEASE_MS)).toMatchObject({ isDue: true })
        w.dispatcher.take()
        await w.ledger.applyParked({ now: T0, limit: 9 })
        const dispatched = w.dispatcher
          .take()
          .map(({ outboxId }) => ({ outboxId, listeners: { ok: true } }))
        await w.outbox.settleDispatched(dispatched, T0)
        expect(await w.queries.waiting(T0 + LEASE_MS)).toMatchObject({ isDue: false })
      }, LISTENERS),
    )

    it(
      'counts as due where it is further ahead than any: the clock was set back since',
      on(async (w) => {
        const { id } = await w.pending()
        await w.outbox.settleDispatched([{ outboxId: id, listeners: { ok: true } }], T0)
        await w.ledger.settleCheck({ transactionId: id, now: T0, nextCheckAt: T0 + 24 * HOUR })
        const isDue = async (now: number) => (await w.queries.waiting(now)).isDue
        const checks = async (now: number) =>
          (await w.ledger.claimChecks({ now, until: now + 24 * HOUR, limit: 9 })).length
        expect([await isDue(T0), await checks(T0)]).toEqual([false, 0])
        expect([await isDue(T0 - HOUR), await checks(T0 - HOUR)]).toEqual([true, 1])

        const other = w.start({ request: { reference: 'order-2' }, until: T0 + 20 * HOUR })
        await w.ledger.beginCharge(other)
        const claimed = async (now: number) =>
          (await w.outbox.claimPending({ now, limit: 9 })).map(({ outboxId }) => outboxId)
        expect(await claimed(T0)).toEqual([])
        // It could be sent from its first moment on, an hour after this one.
        const before = T0 - HOUR - 1
        expect(await isDue(before)).toBe(true)
        expect(await claimed(before)).toEqual([other.id])
        const failed = { ok: false, nextAttemptAt: before + HOUR }
        await w.outbox.settleDispatched([{ outboxId: other.id, listeners: failed }], before)
        expect(await claimed(before)).toEqual([])
        expect(await claimed(before - 1)).toEqual([other.id])
      }, LISTENERS),
    )
  })
}
