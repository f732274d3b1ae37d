// Alerts as events: each that is raised about a payment is one, durable like the others, and none
// leads to another without end.

import { describe, expect, it } from 'vitest'
import type { PendingEvent } from '../../worker/payments/domain/events.ts'
import type { On } from './ledger.ts'
import { ALERTED, BOTH } from './ledger-fakes.ts'
import { HOUR, iso, T0, type World } from './ledger-world.ts'

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
      'causes an event with the alert and the payment, beside the event of the change',
      on(async (w) => {
        const transaction = await w.charged()
        const { pending } = await w.webhook(transaction, {
          amount: 20_000,
          receivedAt: T0 + 10_000,
        })
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
      'causes an event for a late payment, for a failed refund, and for each of two alerts at once',
      on(async (w) => {
        const failed = await w.reached('Failed')
        expect(alertsIn((await w.webhook(failed)).pending)).toEqual(['late_payment'])

        const paid = await w.reached('Paid', { request: { reference: 'order-2' } })
        const wish = { alert: 'refund_failed', error: { code: 'no', message: 'No.' } } as const
        expect(alertsIn((await w.webhook(paid, wish)).pending)).toEqual(['refund_failed'])

        const expired = await w.reached('Expired', { request: { reference: 'order-3' } })
        const { pending } = await w.webhook(expired, { amount: 1 })
        expect(alertsIn(pending).toSorted()).toEqual(['amount_mismatch', 'late_payment'])
      }, ALERTED),
    )

    it(
      'causes one event, however often its webhook arrives',
      on(async (w) => {
        const arrival = w.arrival(await w.reached('Failed'))
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
      'causes one event for a check without a result, until the alert is acknowledged',
      on(async (w) => {
        const { id: transactionId } = await w.charged()
        const alert = { kind: 'unsettled', detail: { gatewayStatus: 'Pending' } } as const
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
      'is dispatched until it is accepted, or dead with another alert',
      on(async (w) => {
        const transaction = await w.reached('Failed')
        const [event] = (await w.webhook(transaction)).pending
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
        // That alert has no event, or this would go on for ever.
        expect(w.dispatcher.take()).toEqual([])
      }, ALERTED),
    )

    it(
      'about a dead event is dispatched to the other kind of subscriber',
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
      'is named by its payment while it is open, of several the most urgent, in events and answers too',
      on(async (w) => {
        const failed = await w.reached('Failed')
        const { pending } = await w.webhook(failed, { amount: 1 })
        const alerts = await w.queries.alerts({}, { limit: 9 })
        const idOf = (kind: string) => alerts.find((alert) => alert.kind === kind)?.id ?? ''
        const named = (kind: string) => ({ alert: { id: idOf(kind), kind } })
        expect(await w.read(failed)).toMatchObject(named('late_payment'))
        for (const { payload } of pending as { payload: object }[]) {
          expect(payload).toMatchObject({ transaction: named('late_payment') })
        }
        expect(await w.begin({ idempotencyKey: 'none' })).toMatchObject({ state: 'begun' })
        await w.ledger.acknowledge(idOf('late_payment'), 'ada', T0 + HOUR)
        expect(await w.read(failed)).toMatchObject(named('amount_mismatch'))
        await w.ledger.acknowledge(idOf('amount_mismatch'), 'ada', T0 + HOUR)
        expect(await w.read(failed)).not.toHaveProperty('alert')

        const paid = await w.charged({ request: { reference: 'order-2' } })
        const caused = await w.webhook(paid, { amount: 1 })
        const { alert } = await w.read(paid)
        expect(alert).toMatchObject({ kind: 'amount_mismatch' })
        expect(caused.pending[0]).toMatchObject({
          type: 'PaymentSucceeded',
          payload: { transaction: { alert } },
        })
        const again = await w.begin({ request: { reference: 'order-2' } })
        expect(again).toMatchObject({ state: 'answered', transaction: { alert } })
        await w.outbox.settleDispatched(
          [{ outboxId: caused.pending[0]?.outboxId ?? '', listeners: { ok: false } }],
          T0 + HOUR,
        )
        expect(await w.alerts()).toContain('listener_dead')
        expect((await w.read(paid)).alert).toEqual(alert)
      }, ALERTED),
    )

    it(
      'without subscribers causes no event',
      on(async (w) => {
        const transaction = await w.charged()
        const { pending } = await w.webhook(transaction, { amount: 1 })
        expect(typesIn(pending)).toEqual(['PaymentSucceeded'])
        expect(await w.alerts()).toEqual(['amount_mismatch'])
        expect(await w.eventsOf(transaction)).toEqual(['PaymentInitiated', 'PaymentSucceeded'])
      }, BOTH),
    )

    it(
      'of a parked event causes an event when that is applied',
      on(async (w) => {
        const transaction = await w.pending()
        await w.webhook(transaction, { reference: '', amount: 1, onMismatch: 'reject' })
        const finished = await w.answer(transaction, T0 + HOUR)
        expect(alertsIn(finished.pending)).toEqual(['amount_mismatch'])
      }, ALERTED),
    )
  })
}
