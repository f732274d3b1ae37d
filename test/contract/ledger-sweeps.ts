// What the ledger hands out when it is due: checks, and events that are still to be dispatched.

import { describe, expect, it } from 'vitest'
import { LEASE_MS } from '../../worker/payments/domain/outbox.ts'
import { read } from '../support/readable-queries.ts'
import type { On } from './ledger.ts'
import { BOTH, ENDPOINT, HOUR, iso, LISTENERS, MINUTE, POSTED, T0 } from './ledger-world.ts'

const ENDED = ['Paid', 'Failed', 'Cancelled', 'Expired', 'Refunded', 'PartiallyRefunded'] as const

export function sweepContract(on: On): void {
  describe('a check', () => {
    it(
      'is handed out when it is due, once until the next time',
      on(async (w) => {
        const transaction = await w.charged()
        const due = T0 + 5 * MINUTE
        const claim = { until: due + MINUTE, limit: 9 }
        expect(await w.ledger.claimChecks({ ...claim, now: due - 1 })).toEqual([])
        expect(await w.ledger.claimChecks({ ...claim, now: due })).toEqual([
          { transaction, request: w.start().request, isUnsent: false },
        ])
        expect(await w.ledger.claimChecks({ ...claim, now: due })).toEqual([])
        const again = { now: due + MINUTE, until: due + HOUR, limit: 9 }
        expect(await w.ledger.claimChecks(again)).toHaveLength(1)
      }),
    )

    it(
      'of one payment is handed out before it is due, and the sweeper leaves it alone meanwhile',
      on(async (w) => {
        const transaction = await w.charged()
        const now = T0 + 1_000
        const claim = { transactionId: transaction.id, now, until: T0 + HOUR }
        expect(await w.ledger.claimCheck(claim)).toEqual({
          state: 'claimed',
          check: { transaction, request: w.start().request, isUnsent: false },
        })
        const due = { until: T0 + 9 * HOUR, limit: 9 }
        expect(await w.ledger.claimChecks({ ...due, now: T0 + HOUR - 1 })).toEqual([])
        expect(await w.ledger.claimChecks({ ...due, now: T0 + HOUR })).toHaveLength(1)
      }),
    )

    it(
      'of one payment that ended is handed out, and none is due afterwards',
      on(async (w) => {
        const transaction = await w.came('Failed')
        const claim = { transactionId: transaction.id, now: T0 + HOUR, until: T0 + 2 * HOUR }
        expect(await w.ledger.claimCheck(claim)).toMatchObject({ state: 'claimed' })
        expect(await w.ledger.claimChecks({ now: T0 + 9 * HOUR, until: 0, limit: 9 })).toEqual([])
      }),
    )

    it(
      'of one payment is refused while its charge is under way, and where there is none',
      on(async (w) => {
        const until = T0 + MINUTE
        const { id: transactionId } = await w.pending({ until })
        const claim = { transactionId, now: until - 1, until: T0 + HOUR }
        expect(await w.ledger.claimCheck(claim)).toEqual({ state: 'in_progress' })
        expect(await w.ledger.claimCheck({ ...claim, now: until })).toMatchObject({
          state: 'claimed',
        })
        expect(await w.ledger.claimCheck({ ...claim, transactionId: '01NOBODY' })).toEqual({
          state: 'unknown_transaction',
        })
      }),
    )

    it(
      'is handed out no more often than asked for',
      on(async (w) => {
        for (const reference of ['a', 'b', 'c']) await w.charged({ request: { reference } })
        const claim = { now: T0 + HOUR, until: T0 + 2 * HOUR, limit: 2 }
        const first = await w.ledger.claimChecks(claim)
        const rest = await w.ledger.claimChecks(claim)
        expect([first.length, rest.length]).toEqual([2, 1])
        const ids = [...first, ...rest].map((check) => read(check).transaction.id)
        expect(new Set(ids).size).toBe(3)
      }),
    )

    it(
      'is due soon after an event about an open payment was too old',
      on(async (w) => {
        const transaction = await w.charged()
        const names = {
          gatewayTransactionId: transaction.gatewayTransactionId ?? '',
          reference: 'order-1',
        }
        const claim = { now: T0 + 2_000, until: T0 + HOUR, limit: 9 }
        await w.ledger.checkSoon('fib', names, T0 + 2_000)
        await w.ledger.checkSoon('redirect', { ...names, gatewayTransactionId: 'x' }, T0 + 2_000)
        expect(await w.ledger.claimChecks(claim)).toEqual([])
        await w.ledger.checkSoon('redirect', names, T0 + 2_000)
        expect(await w.ledger.claimChecks(claim)).toHaveLength(1)
      }),
    )

    it(
      'is due soon after an event about an ended payment was too old, unless nothing can follow',
      on(async (w) => {
        const due: string[] = []
        for (const status of ENDED) {
          const transaction = await w.came(status, { request: { reference: status } })
          const gatewayTransactionId = transaction.gatewayTransactionId ?? ''
          const claim = { now: T0 + 9 * HOUR, until: T0 + 9 * HOUR + MINUTE, limit: 9 }
          expect(await w.ledger.claimChecks(claim)).toEqual([])
          const names = { gatewayTransactionId, reference: '' }
          await w.ledger.checkSoon('redirect', names, T0 + 9 * HOUR)
          const checks = await w.ledger.claimChecks(claim)
          due.push(...checks.map((check) => read(check).transaction.status))
          await w.ledger.settleCheck({ transactionId: transaction.id, now: T0 + 9 * HOUR })
          expect(await w.ledger.claimChecks({ ...claim, now: claim.until })).toEqual([])
        }
        expect(due).toEqual(ENDED.filter((status) => status !== 'Refunded'))
      }),
    )

    it(
      'of an ended payment is made again when its gateway did not answer, and not when it moved',
      on(async (w) => {
        const transaction = await w.came('Failed')
        const { id: transactionId, gatewayTransactionId = '' } = transaction
        const at = T0 + HOUR
        const until = at + HOUR
        await w.ledger.checkSoon('redirect', { gatewayTransactionId, reference: '' }, at)
        await w.ledger.claimChecks({ now: at, until, limit: 9 })
        const settled = { transactionId, now: at, nextCheckAt: at + MINUTE }
        await w.ledger.settleCheck({ ...settled, whileStill: 'Failed' })
        const again = { now: at + MINUTE, until, limit: 9 }
        expect(await w.ledger.claimChecks(again)).toHaveLength(1)
        await w.ledger.settleCheck({ ...settled, whileStill: 'Pending' })
        expect(await w.ledger.claimChecks({ ...again, now: until })).toEqual([])
      }),
    )

    it(
      'is due at once when a refund comes before its payment, and when the payment follows',
      on(async (w) => {
        const transaction = await w.charged()
        const claim = { until: T0 + HOUR, limit: 9 }
        const early = await w.tell(transaction, { status: 'Refunded', receivedAt: T0 + 2_000 })
        expect(early.outcome).toBe('illegal')
        expect(await w.ledger.claimChecks({ ...claim, now: T0 + 2_000 })).toMatchObject([
          { transaction: { status: 'Pending' } },
        ])
        await w.tell(transaction, { receivedAt: T0 + 3_000 })
        expect(await w.ledger.claimChecks({ ...claim, now: T0 + 3_000 })).toMatchObject([
          { transaction: { status: 'Paid' } },
        ])
        const { id: transactionId } = transaction
        const again = T0 + 4_000
        await w.ledger.settleCheck({ transactionId, now: T0 + 3_000, nextCheckAt: again })
        expect(await w.ledger.claimChecks({ ...claim, now: again })).toHaveLength(1)
        await w.tell(transaction, { status: 'Refunded', receivedAt: T0 + 5_000 })
        expect(await w.ledger.claimChecks({ ...claim, now: T0 + HOUR })).toEqual([])
      }),
    )

    it(
      'tells of a refund under way, from its claim on',
      on(async (w) => {
        const transaction = await w.came('Paid')
        const refundId = await w.claimed(transaction, { amount: 4_000 })
        const refund = { id: refundId, amount: 4_000, createdAt: T0 + 20_000, isAccepted: false }
        const until = T0 + 2 * HOUR
        const claim = { until, limit: 9 }
        const early = { ...claim, now: T0 + 20_000 + MINUTE - 1 }
        expect(await w.ledger.claimChecks(early)).toEqual([])
        const checks = await w.ledger.claimChecks({ ...claim, now: T0 + 20_000 + MINUTE })
        expect(checks).toMatchObject([{ transaction: { id: transaction.id }, refund }])
        await w.endRefund(refundId, { kind: 'accepted', nextCheckAt: T0 + HOUR })
        expect(await w.ledger.claimChecks({ ...claim, now: T0 + HOUR - 1 })).toEqual([])
        expect(await w.ledger.claimChecks({ ...claim, now: T0 + HOUR })).toMatchObject([
          { refund: { ...refund, isAccepted: true } },
        ])
      }),
    )

    it(
      'is settled to its next time, or for good',
      on(async (w) => {
        const transaction = await w.charged()
        const transactionId = transaction.id
        const at = T0 + HOUR
        const until = T0 + 9 * HOUR
        await w.ledger.claimChecks({ now: at, until, limit: 9 })
        await w.ledger.settleCheck({ transactionId, now: at, nextCheckAt: at + MINUTE })
        expect(await w.ledger.claimChecks({ now: at + MINUTE - 1, until, limit: 9 })).toEqual([])
        expect(await w.ledger.claimChecks({ now: at + MINUTE, until, limit: 9 })).toHaveLength(1)
        await w.ledger.settleCheck({ transactionId, now: at + MINUTE })
        expect(await w.ledger.claimChecks({ now: until, until, limit: 9 })).toEqual([])
      }),
    )

    it(
      'raises an alert once for each kind and payment',
      on(async (w) => {
        const transaction = await w.charged()
        const transactionId = transaction.id
        const alert = { kind: 'unsettled', detail: { said: 'Pending' } } as const
        await w.ledger.settleCheck({ transactionId, now: T0 + HOUR, alert })
        await w.ledger.settleCheck({ transactionId, now: T0 + 2 * HOUR, alert })
        const [raised, ...more] = await w.queries.alerts({}, { limit: 9 })
        expect(more).toEqual([])
        expect(raised).toMatchObject({
          kind: 'unsettled',
          gateway: 'redirect',
          transactionId,
          detail: { said: 'Pending' },
          createdAt: iso(T0 + HOUR),
        })
      }),
    )

    it(
      'gives a refund up that never came about, so that it can be asked for again',
      on(async (w) => {
        const transaction = await w.came('Paid')
        const refundId = await w.claimed(transaction, { amount: 4_000 })
        const error = { code: 'not_refunded', message: 'The gateway knows of none.' }
        const settled = { transactionId: transaction.id, givenUp: { refundId, error } }
        await w.ledger.settleCheck({ ...settled, now: T0 + HOUR })
        expect((await w.story(transaction)).refunds).toMatchObject([{ status: 'failed', error }])
        expect((await w.refund(transaction, { amount: 4_000 })).state).toBe('begun')
      }),
    )

    it(
      'gives no other refund up than the one that was asked about',
      on(async (w) => {
        const transaction = await w.came('Paid')
        const refundId = await w.claimed(transaction)
        const error = { code: 'not_refunded', message: 'The gateway knows of none.' }
        // While its gateway is asked, it fails by itself and is asked for again.
        await w.endRefund(refundId, { kind: 'refused', error })
        await w.claimed(transaction)
        const settled = { transactionId: transaction.id, givenUp: { refundId, error } }
        await w.ledger.settleCheck({ ...settled, now: T0 + HOUR, nextCheckAt: T0 + 2 * HOUR })
        const { refunds } = await w.story(transaction)
        expect(refunds.map(({ status }) => status)).toEqual(['failed', 'claimed'])
      }),
    )
  })

  describe('a pending event', () => {
    it(
      'is dispatched behind its commit, and due again when that lease is over',
      on(async (w) => {
        const begun = await w.caused(w.begin())
        if (begun.state !== 'begun') throw new Error('it begins')
        const claim = (now: number) => w.outbox.claimPending({ now, limit: 9 })
        expect(await claim(T0 + LEASE_MS - 1)).toEqual([])
        expect(await claim(T0 + LEASE_MS)).toEqual(begun.pending)
        expect(await claim(T0 + LEASE_MS)).toEqual([])
        expect(await claim(T0 + 2 * LEASE_MS)).toEqual(begun.pending)
      }),
    )

    it(
      'is handed out to one of many that ask at once, the oldest first',
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
      'is done when the listeners took it, and never due again',
      on(async (w) => {
        const { id } = await w.pending()
        await w.outbox.settleDispatched([{ outboxId: id, listeners: { ok: true } }], T0 + 5)
        expect((await w.story(id)).events).toMatchObject([{ toldAt: iso(T0 + 5), deliveries: [] }])
        expect(await w.outbox.claimPending({ now: T0 + 9 * HOUR, limit: 9 })).toEqual([])
      }, LISTENERS),
    )

    it(
      'has no listeners where there is only an endpoint',
      on(async (w) => {
        const begun = await w.caused(w.begin())
        if (begun.state !== 'begun') throw new Error('it begins')
        const [event] = begun.pending
        expect(event?.delivery).toMatchObject({ endpoint: ENDPOINT, attempts: 0 })
        expect(event).not.toHaveProperty('listeners')
        expect((await w.story(begun.transaction)).events).toMatchObject([
          { deliveries: [{ id: event?.delivery?.id, status: 'pending', attempts: 0 }] },
        ])
      }, POSTED),
    )

    it(
      'has no delivery where the endpoint wants other events',
      on(
        async (w) => {
          const transaction = await w.charged()
          const { pending } = await w.tell(transaction)
          expect(pending).toMatchObject([{ type: 'PaymentSucceeded', delivery: { attempts: 0 } }])
          const { events } = await w.story(transaction)
          expect(events).toMatchObject([
            { type: 'PaymentInitiated', toldAt: iso(T0), deliveries: [] },
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
      'that a listener threw at is due at its next time, with its attempts',
      on(async (w) => {
        const { id } = await w.pending()
        const nextAttemptAt = T0 + HOUR
        const failed = { ok: false, error: 'TypeError', nextAttemptAt }
        await w.outbox.settleDispatched([{ outboxId: id, listeners: failed }], T0 + 5)
        expect(await w.outbox.claimPending({ now: nextAttemptAt - 1, limit: 9 })).toEqual([])
        const [again] = await w.outbox.claimPending({ now: nextAttemptAt, limit: 9 })
        expect(again).toMatchObject({ outboxId: id, listeners: { attempts: 1 } })
        expect((await w.story(id)).events[0]).not.toHaveProperty('toldAt')
      }, LISTENERS),
    )

    it(
      'goes to listeners and endpoint apart: what one took it does not get again',
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
          { toldAt: iso(T0 + 5), deliveries: [{ id, attempts: 1, lastStatus: 503 }] },
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
      'is settled though the reason of its failure was cut through a character',
      on(async (w) => {
        const { id } = await w.pending()
        const [event] = await w.outbox.claimPending({ now: T0 + HOUR, limit: 9 })
        const error = `It said ${'😀'.slice(0, 1)}`
        const delivery = { id: event?.delivery?.id ?? '', ok: false, nextAttemptAt: 0, error }
        const told = { outboxId: id, listeners: { ok: true }, delivery }
        await w.outbox.settleDispatched([told], T0 + HOUR)
        expect((await w.story(id)).events).toMatchObject([{ deliveries: [{ attempts: 1 }] }])
      }, BOTH),
    )

    it(
      'that listeners never took is given up with an alert',
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
      'that the endpoint never took is dead with an alert, until somebody sends it again',
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
      'that is dead again after it was sent again is an open alert again',
      on(async (w) => {
        const begun = await w.caused(w.begin())
        const [event] = begun.pending
        const outboxId = event?.outboxId ?? ''
        const id = event?.delivery?.id ?? ''
        const told = [{ outboxId, delivery: { id, ok: false, status: 410 } }]
        await w.outbox.settleDispatched(told, T0 + 5)
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
        await w.outbox.settleDispatched(told, T0 + HOUR + 5)
        expect(await w.alerts()).toEqual(['delivery_dead'])
      }, POSTED),
    )

    it(
      'is sent again on wish even when it was delivered',
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

  describe('whether anything is due', () => {
    it(
      'is no while nothing is, and yes for a check, a pending event and a parked one',
      on(async (w) => {
        expect(await w.queries.waiting(T0 + 99 * HOUR)).toMatchObject({ isDue: false })
        const { id } = await w.pending()
        await w.outbox.settleDispatched([{ outboxId: id, listeners: { ok: true } }], T0)
        expect(await w.queries.waiting(T0 + MINUTE - 1)).toMatchObject({ isDue: false })
        expect(await w.queries.waiting(T0 + MINUTE)).toMatchObject({ isDue: true })
        await w.ledger.settleCheck({ transactionId: id, now: T0 })
        expect(await w.queries.waiting(T0 + 99 * HOUR)).toMatchObject({ isDue: false })

        const other = w.start({ request: { reference: 'order-2' }, until: T0 + 99 * HOUR })
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
        const third = w.start({ request: { reference: 'order-3' }, until: T0 + 99 * HOUR })
        await w.ledger.beginCharge(third)
        await w.outbox.settleDispatched([{ outboxId: third.id, listeners: { ok: true } }], T0)
        expect(await w.queries.waiting(T0 + LEASE_MS)).toMatchObject({ isDue: true })
        w.dispatcher.take()
        await w.ledger.applyParked({ now: T0, limit: 9 })
        const told = w.dispatcher
          .take()
          .map(({ outboxId }) => ({ outboxId, listeners: { ok: true } }))
        await w.outbox.settleDispatched(told, T0)
        expect(await w.queries.waiting(T0 + LEASE_MS)).toMatchObject({ isDue: false })
      }, LISTENERS),
    )
  })
}
