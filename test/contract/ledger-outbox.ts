// Events that are still to be dispatched, and their deliveries.

import { describe, expect, it } from 'vitest'
import { LEASE_MS } from '../../worker/payments/domain/outbox.ts'
import type { On } from './ledger.ts'
import { BOTH, ENDPOINT, LISTENERS, POSTED } from './ledger-fakes.ts'
import { HOUR, iso, T0 } from './ledger-world.ts'

export function outboxContract(on: On): void {
  describe('a pending event', () => {
    it(
      'is dispatched after its commit, and due again when its lease is over',
      on(async (w) => {
        const begun = await w.caused(w.begin())
        if (begun.state !== 'begun') throw new Error(begun.state)
        const claim = (now: number) => w.outbox.claimPending({ now, limit: 9 })
        expect(await claim(T0 + LEASE_MS - 1)).toEqual([])
        expect(await claim(T0 + LEASE_MS)).toEqual(begun.pending)
        expect(await claim(T0 + LEASE_MS)).toEqual([])
        expect(await claim(T0 + 2 * LEASE_MS)).toEqual(begun.pending)
      }),
    )

    it(
      'is claimed once by many calls at the same time, the oldest first',
      on(async (w) => {
        const ids: string[] = []
        for (const reference of ['a', 'b', 'c']) {
          ids.push((await w.pending({ request: { reference } })).id)
        }
        const claim = { now: T0 + HOUR, limit: 1 }
        const first = await w.outbox.claimPending(claim)
        expect(first.map(({ outboxId }) => outboxId)).toEqual(ids.slice(0, 1))
        const all = await Promise.all(Array.from({ length: 9 }, () => w.outbox.claimPending(claim)))
        const rest = all.flat().map(({ outboxId }) => outboxId)
        expect(new Set(rest)).toEqual(new Set(ids.slice(1)))
        expect(rest).toHaveLength(2)
      }),
    )

    it(
      'is done when the listeners have accepted it',
      on(async (w) => {
        const { id } = await w.pending()
        await w.outbox.settleDispatched([{ outboxId: id, listeners: { ok: true } }], T0 + 5)
        expect((await w.story(id)).events).toMatchObject([
          { listenersDoneAt: iso(T0 + 5), deliveries: [] },
        ])
        expect(await w.outbox.claimPending({ now: T0 + 9 * HOUR, limit: 9 })).toEqual([])
      }, LISTENERS),
    )

    it(
      'has no listeners if there is only an endpoint',
      on(async (w) => {
        const begun = await w.caused(w.begin())
        if (begun.state !== 'begun') throw new Error(begun.state)
        const [event] = begun.pending
        expect(event?.delivery).toMatchObject({ endpoint: ENDPOINT, attempts: 0 })
        expect(event).not.toHaveProperty('listeners')
        expect((await w.story(begun.transaction)).events).toMatchObject([
          { deliveries: [{ id: event?.delivery?.id, status: 'pending', attempts: 0 }] },
        ])
      }, POSTED),
    )

    it(
      'has no delivery if the endpoint wants other events',
      on(
        async (w) => {
          const transaction = await w.charged()
          const { pending } = await w.webhook(transaction)
          expect(pending).toMatchObject([{ type: 'PaymentSucceeded', delivery: { attempts: 0 } }])
          const { events } = await w.story(transaction)
          expect(events).toMatchObject([
            { type: 'PaymentInitiated', listenersDoneAt: iso(T0), deliveries: [] },
            { type: 'PaymentSucceeded', deliveries: [{ endpoint: ENDPOINT }] },
          ])
        },
        {
          hasListeners: () => false,
          endpointFor: (type) => (type === 'PaymentSucceeded' ? ENDPOINT : undefined),
        },
      ),
    )

    it(
      'that a listener failed on is due at its next time, with its attempts',
      on(async (w) => {
        const { id } = await w.pending()
        const nextAttemptAt = T0 + HOUR
        const failed = { ok: false, error: 'TypeError', nextAttemptAt }
        await w.outbox.settleDispatched([{ outboxId: id, listeners: failed }], T0 + 5)
        expect(await w.outbox.claimPending({ now: nextAttemptAt - 1, limit: 9 })).toEqual([])
        const [again] = await w.outbox.claimPending({ now: nextAttemptAt, limit: 9 })
        expect(again).toMatchObject({ outboxId: id, listeners: { attempts: 1 } })
        expect((await w.story(id)).events[0]).not.toHaveProperty('listenersDoneAt')
      }, LISTENERS),
    )

    it(
      'is not sent again to listeners that accepted it when the endpoint did not',
      on(async (w) => {
        const begun = await w.caused(w.begin())
        const [event] = begun.pending
        const outboxId = event?.outboxId ?? ''
        const id = event?.delivery?.id ?? ''
        const delivery = { id, ok: false, status: 503, nextAttemptAt: T0 + HOUR }
        await w.outbox.settleDispatched([{ outboxId, listeners: { ok: true }, delivery }], T0 + 5)
        const [again] = await w.outbox.claimPending({ now: T0 + HOUR, limit: 9 })
        expect(again).toMatchObject({ outboxId, delivery: { id, attempts: 1 } })
        expect(again).not.toHaveProperty('listeners')
        expect((await w.story(outboxId)).events).toMatchObject([
          { listenersDoneAt: iso(T0 + 5), deliveries: [{ id, attempts: 1, lastStatus: 503 }] },
        ])
        const done = { id, ok: true, status: 204 }
        await w.outbox.settleDispatched([{ outboxId, delivery: done }], T0 + HOUR + 5)
        const [stored] = (await w.story(outboxId)).events
        expect(stored?.deliveries).toMatchObject([
          {
            id,
            endpoint: ENDPOINT,
            status: 'delivered',
            attempts: 2,
            lastStatus: 204,
            deliveredAt: iso(T0 + HOUR + 5),
          },
        ])
        expect(await w.outbox.claimPending({ now: T0 + 9 * HOUR, limit: 9 })).toEqual([])
      }, BOTH),
    )

    it(
      'is settled with an error text that ends in half a character',
      on(async (w) => {
        const { id } = await w.pending()
        const [event] = await w.outbox.claimPending({ now: T0 + HOUR, limit: 9 })
        const error = `It said ${'😀'.slice(0, 1)}`
        const delivery = { id: event?.delivery?.id ?? '', ok: false, nextAttemptAt: 0, error }
        const dispatched = { outboxId: id, listeners: { ok: true }, delivery }
        await w.outbox.settleDispatched([dispatched], T0 + HOUR)
        expect((await w.story(id)).events).toMatchObject([{ deliveries: [{ attempts: 1 }] }])
      }, BOTH),
    )

    it(
      'that listeners never accepted is given up with an alert',
      on(async (w) => {
        const { id } = await w.pending()
        await w.outbox.settleDispatched(
          [{ outboxId: id, listeners: { ok: false, error: 'x' } }],
          T0 + 5,
        )
        expect(await w.outbox.claimPending({ now: T0 + 99 * HOUR, limit: 9 })).toEqual([])
        expect(await w.queries.alerts({}, { limit: 9 })).toMatchObject([
          {
            kind: 'listener_dead',
            transactionId: id,
            gateway: 'redirect',
            detail: { event: id, type: 'PaymentInitiated', reference: 'order-1', error: 'x' },
          },
        ])
      }, LISTENERS),
    )

    it(
      'that the endpoint never accepted is dead with an alert, until it is sent again',
      on(async (w) => {
        const begun = await w.caused(w.begin())
        const [event] = begun.pending
        const outboxId = event?.outboxId ?? ''
        const id = event?.delivery?.id ?? ''
        const delivery = { id, ok: false, error: 'refused' }
        await w.outbox.settleDispatched([{ outboxId, delivery }], T0 + 5)
        expect(await w.alerts()).toEqual(['delivery_dead'])
        expect((await w.story(outboxId)).events).toMatchObject([
          { deliveries: [{ status: 'dead', attempts: 1, lastError: 'refused' }] },
        ])
        expect(await w.outbox.claimPending({ now: T0 + 99 * HOUR, limit: 9 })).toEqual([])

        expect(await w.ledger.redeliver('nobody', T0 + HOUR)).toBe(false)
        expect(await w.ledger.redeliver(id, T0 + HOUR)).toBe(true)
        const [again] = await w.outbox.claimPending({ now: T0 + HOUR, limit: 9 })
        expect(again).toMatchObject({ outboxId, delivery: { id, endpoint: ENDPOINT, attempts: 0 } })
        expect(again).toHaveProperty('payload', event && 'payload' in event && event.payload)
      }, POSTED),
    )

    it(
      'that is dead again after it was sent again raises its alert again',
      on(async (w) => {
        const begun = await w.caused(w.begin())
        const [event] = begun.pending
        const outboxId = event?.outboxId ?? ''
        const id = event?.delivery?.id ?? ''
        const dispatched = [{ outboxId, delivery: { id, ok: false, status: 410 } }]
        await w.outbox.settleDispatched(dispatched, T0 + 5)
        const [alert] = await w.queries.alerts({}, { limit: 9 })
        expect(alert?.detail).toEqual({
          deliveryId: id,
          endpoint: ENDPOINT,
          lastStatus: 410,
          event: outboxId,
          type: 'PaymentInitiated',
          reference: 'order-1',
          amount: 25_000,
          currency: 'IQD',
        })
        await w.ledger.acknowledge(alert?.id ?? '', 'ada', T0 + HOUR)
        await w.ledger.redeliver(id, T0 + HOUR)
        expect(await w.alerts()).toEqual([])
        await w.outbox.claimPending({ now: T0 + HOUR, limit: 9 })
        await w.outbox.settleDispatched(dispatched, T0 + HOUR + 5)
        expect(await w.alerts()).toEqual(['delivery_dead'])
      }, POSTED),
    )

    it(
      'can be sent again even if it was delivered',
      on(async (w) => {
        const begun = await w.caused(w.begin())
        const [event] = begun.pending
        const outboxId = event?.outboxId ?? ''
        const id = event?.delivery?.id ?? ''
        await w.outbox.settleDispatched(
          [{ outboxId, delivery: { id, ok: true, status: 200 } }],
          T0 + 5,
        )
        expect(await w.ledger.redeliver(id, T0 + HOUR)).toBe(true)
        expect(await w.outbox.claimPending({ now: T0 + HOUR, limit: 9 })).toMatchObject([
          { outboxId, delivery: { id, attempts: 0 } },
        ])
      }, POSTED),
    )
  })
}
