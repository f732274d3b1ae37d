// Alerts as events: each that is raised about a payment is one, durable like the others, and none
// leads to another without end.

import { describe, expect, it } from 'vitest'
import type { PendingEvent } from '../../worker/payments/domain/events.ts'
import type { On } from './ledger.ts'
import { ALERTED, BOTH, HOUR, iso, T0, type World } from './ledger-world.ts'

/** The alerts of these events, by their kind. */
const alertsIn = (pending: readonly PendingEvent[]) =>
  pending.flatMap((event) =>
    'payload' in event && 'alert' in event.payload ? [event.payload.alert.kind] : [],
  )
const typesIn = (pending: readonly PendingEvent[]) => pending.map(({ type }) => type)

/** One event of a charge that begins, of which both subscribers are still to hear. */
async function begun(w: World) {
  const { pending } = await w.caused(w.begin())
  const [event] = pending
  return { outboxId: event?.outboxId ?? '', deliveryId: event?.delivery?.id ?? '' }
}

export function alertContract(on: On): void {
  describe('an alert', () => {
    it(
      'is an event with what it says and the payment as it is, beside the event of the move',
      on(async (w) => {
        const transaction = await w.charged()
        const { pending } = await w.tell(transaction, { amount: 20_000, receivedAt: T0 + 10_000 })
        const after = await w.read(transaction)
        const [raised] = await w.queries.alerts({}, { limit: 9 })
        const { acknowledgedAt: _, ...alert } = raised ?? {}
        expect(pending).toMatchObject([
          { type: 'PaymentSucceeded' },
          {
            type: 'AlertRaised',
            createdAt: T0 + 10_000,
            payload: { alert, transaction: after },
            listeners: { attempts: 0 },
            delivery: { attempts: 0 },
          },
        ])
        expect(alert).toMatchObject({
          ...{ kind: 'amount_mismatch', gateway: 'redirect', transactionId: transaction.id },
          ...{ detail: { amount: 20_000, expectedAmount: 25_000 }, createdAt: iso(T0 + 10_000) },
        })
        const { events } = await w.story(transaction)
        expect(events.map(({ id }) => id).slice(1)).toEqual(pending.map(({ outboxId }) => outboxId))
        expect(events[2]?.payload).toEqual({ alert, transaction: after })
      }, ALERTED),
    )

    it(
      'is one for a late payment, for a refund that failed, and for each of two that one event raises',
      on(async (w) => {
        const failed = await w.came('Failed')
        expect(alertsIn((await w.tell(failed)).pending)).toEqual(['late_payment'])

        const paid = await w.came('Paid', { request: { reference: 'order-2' } })
        const wish = { alert: 'refund_failed', error: { code: 'no', message: 'No.' } } as const
        expect(alertsIn((await w.tell(paid, wish)).pending)).toEqual(['refund_failed'])

        const expired = await w.came('Expired', { request: { reference: 'order-3' } })
        const { pending } = await w.tell(expired, { amount: 1 })
        expect(alertsIn(pending).toSorted()).toEqual(['amount_mismatch', 'late_payment'])
      }, ALERTED),
    )

    it(
      'is one event, however often its webhook comes',
      on(async (w) => {
        const arrival = w.arrival(await w.came('Failed'))
        const call = (own = {}) => w.caused(w.ledger.webhook({ ...arrival, ...own }))
        const answers = await Promise.all([call(), call(), call({ id: w.id() })])
        answers.push(await call(), await call({ id: w.id() }))
        expect(answers.filter(({ outcome }) => outcome === 'duplicate')).toHaveLength(2)
        expect(answers.flatMap(({ pending }) => alertsIn(pending))).toEqual(['late_payment'])
        const { events } = await w.story(answers[0]?.transactionId ?? '')
        expect(events.filter(({ type }) => type === 'AlertRaised')).toHaveLength(1)
      }, ALERTED),
    )

    it(
      'is one when a check does not settle, once until somebody has seen it',
      on(async (w) => {
        const { id: transactionId } = await w.charged()
        const alert = { kind: 'unsettled', detail: { said: 'Pending' } } as const
        const settle = async (now: number) => {
          await w.ledger.settleCheck({ transactionId, now, alert })
          return w.dispatcher.take()
        }
        const [first] = await settle(T0 + HOUR)
        expect(alertsIn(first ? [first] : [])).toEqual(['unsettled'])
        expect(await settle(T0 + 2 * HOUR)).toEqual([])
        const [raised] = await w.queries.alerts({}, { limit: 9 })
        await w.ledger.acknowledge(raised?.id ?? '', 'ada', T0 + 3 * HOUR)
        const [again] = await settle(T0 + 4 * HOUR)
        expect(alertsIn(again ? [again] : [])).toEqual(['unsettled'])
        expect(again?.outboxId).not.toBe(first?.outboxId)
      }, ALERTED),
    )

    it(
      'is dispatched again until it was taken, and dead with an alert of its own',
      on(async (w) => {
        const transaction = await w.came('Failed')
        const [event] = (await w.tell(transaction)).pending
        const outboxId = event?.outboxId ?? ''
        const nextAttemptAt = T0 + HOUR
        const id = event?.delivery?.id ?? ''
        const listeners = { ok: false, error: 'x', nextAttemptAt }
        const delivery = { id, ok: false, nextAttemptAt }
        await w.outbox.settleDispatched([{ outboxId, listeners, delivery }], T0 + 20_000)
        const due = await w.outbox.claimPending({ now: nextAttemptAt, limit: 99 })
        expect(due.find((each) => each.outboxId === outboxId)).toMatchObject({
          type: 'AlertRaised',
          listeners: { attempts: 1 },
          delivery: { attempts: 1 },
        })
        await w.outbox.settleDispatched(
          [{ outboxId, listeners: { ok: true }, delivery: { id, ok: false } }],
          T0 + 2 * HOUR,
        )
        expect(await w.alerts()).toEqual(['delivery_dead', 'late_payment'])
        // Of that nobody is told: it would go on for ever.
        expect(w.dispatcher.take()).toEqual([])
      }, ALERTED),
    )

    it(
      'about an event that died goes to the other kind of subscriber',
      on(async (w) => {
        const { outboxId, deliveryId } = await begun(w)
        const settle = async (outcome: object) => {
          await w.outbox.settleDispatched([{ outboxId, ...outcome }], T0 + HOUR)
          return w.dispatcher.take()
        }
        const [ofListener, ...more] = await settle({ listeners: { ok: false, error: 'x' } })
        expect(ofListener).toMatchObject({
          type: 'AlertRaised',
          payload: { alert: { kind: 'listener_dead', detail: { type: 'PaymentInitiated' } } },
          delivery: { attempts: 0 },
        })
        expect(ofListener).not.toHaveProperty('listeners')
        const [ofDelivery] = await settle({ delivery: { id: deliveryId, ok: false, status: 410 } })
        expect(ofDelivery).toMatchObject({
          payload: { alert: { kind: 'delivery_dead', detail: { lastStatus: 410 } } },
          listeners: { attempts: 0 },
        })
        expect(ofDelivery).not.toHaveProperty('delivery')
        expect(more).toEqual([])
      }, ALERTED),
    )

    it(
      'that nobody subscribes to is no event',
      on(async (w) => {
        const transaction = await w.charged()
        const { pending } = await w.tell(transaction, { amount: 1 })
        expect(typesIn(pending)).toEqual(['PaymentSucceeded'])
        expect(await w.alerts()).toEqual(['amount_mismatch'])
        expect(await w.eventsOf(transaction)).toEqual(['PaymentInitiated', 'PaymentSucceeded'])
      }, BOTH),
    )

    it(
      'of an event that was parked is one too, when it is applied',
      on(async (w) => {
        const transaction = await w.pending()
        await w.tell(transaction, { reference: '', amount: 1, onMismatch: 'reject' })
        const finished = await w.answer(transaction, T0 + HOUR)
        expect(alertsIn(finished.pending)).toEqual(['amount_mismatch'])
      }, ALERTED),
    )
  })
}
