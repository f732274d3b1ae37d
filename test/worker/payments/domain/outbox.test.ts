// The delivery of durable events to their subscribers.

import { describe, expect, it } from 'vitest'
import type { Subscribers } from '../../../../worker/payments/domain/outbox.ts'
import {
  alertRows,
  areListenersDue,
  deadAlert,
  goneAlert,
  isDeliveryDue,
  isGone,
  LEASE_MS,
  outboxRows,
  pendingEvent,
  redeliver,
  settleDelivery,
  settleListeners,
} from '../../../../worker/payments/domain/outbox.ts'
import type { NewEvent } from '../../../../worker/payments/domain/payment.ts'
import type { AlertRow } from '../../../../worker/payments/domain/rows.ts'
import type { AlertKind, DurableEvent } from '../../../../worker/payments/domain/status.ts'
import { BEHIND_MS } from '../../../../worker/payments/domain/time.ts'
import {
  alertRow,
  came,
  deliveryRow,
  NOW,
  outboxRow,
  transactionRow,
} from '../../../support/payment-rows.ts'

const ENDPOINT = 'https://shop.example/events'
const event: NewEvent = {
  id: '01EVENT',
  type: 'PaymentSucceeded',
  transaction: transactionRow(came('Paid')),
  correlationId: 'c-1',
  createdAt: NOW,
}
const made = (hasListeners = true, endpoint: string | undefined = ENDPOINT, of = event) =>
  outboxRows(of, { hasListeners: () => hasListeners, endpointFor: () => endpoint })

const stored = () => {
  const { outbox, delivery } = made()
  if (!delivery) throw new Error('there is an endpoint')
  return { outbox, delivery }
}

describe('a new event', () => {
  it('is leased, contains the transaction, and is pending for both subscribers', () => {
    const { outbox, delivery } = stored()
    const turn = { attempts: 0, leased_until: NOW + LEASE_MS, next_attempt_at: NOW }
    expect(outbox).toMatchObject({ ...turn, type: 'PaymentSucceeded', done_at: null })
    expect(delivery).toMatchObject({ ...turn, outbox_id: '01EVENT', status: 'pending' })
    const { transaction } = JSON.parse(outbox.payload ?? '')
    expect(transaction).toMatchObject({ id: '01TX', status: 'Paid', paid: { amount: 25_000 } })
    // Internal columns are not in events.
    expect(transaction).not.toHaveProperty('requestHash')
    expect(transaction).not.toHaveProperty('calledBy')
  })

  it('is done at once without listeners, and has no delivery without an endpoint', () => {
    const { outbox, delivery } = outboxRows(event, {
      hasListeners: () => false,
      endpointFor: () => undefined,
    })
    expect(outbox.done_at).toBe(NOW)
    expect(delivery).toBeUndefined()
  })

  it('has no delivery if the endpoint takes only other events', () => {
    const { delivery } = outboxRows(event, {
      hasListeners: () => true,
      endpointFor: (type) => (type === 'PaymentFailed' ? ENDPOINT : undefined),
    })
    expect(delivery).toBeUndefined()
  })

  it('of a new charge contains the request', () => {
    const { outbox } = made(true, ENDPOINT, { ...event, type: 'PaymentInitiated' })
    expect(JSON.parse(outbox.payload ?? '')).toMatchObject({
      gateway: 'bank',
      request: { reference: 'order-1' },
    })
  })

  it('is due when its lease has expired', () => {
    const { outbox, delivery } = stored()
    const at = [NOW + LEASE_MS - 1, NOW + LEASE_MS]
    expect(at.map((now) => areListenersDue(outbox, { now, dueBy: now }))).toEqual([false, true])
    expect(at.map((now) => isDeliveryDue(delivery, { now, dueBy: now }))).toEqual([false, true])
  })
})

describe('a stored event', () => {
  it('is due by its time, by a later one that a clock had, and once; a lease keeps it', () => {
    const isDue = (own: object, dueBy = NOW) => {
      const due = { now: NOW, dueBy }
      const listeners = areListenersDue(outboxRow(own), due)
      expect(isDeliveryDue(deliveryRow(own), due)).toBe(listeners)
      return listeners
    }
    const HOUR = 3_600_000
    expect([isDue({}), isDue({ next_attempt_at: NOW + 5 })]).toEqual([true, false])
    expect([4, 5].map((ahead) => isDue({ next_attempt_at: NOW + 5 }, NOW + ahead))).toEqual([
      false,
      true,
    ])
    expect([
      isDue({ next_attempt_at: NOW + HOUR + BEHIND_MS + 1 }),
      isDue({ leased_until: NOW + 1 }),
    ]).toEqual([true, false])
    const due = { now: NOW, dueBy: NOW }
    expect(areListenersDue(outboxRow({ done_at: NOW }), due)).toBe(false)
    for (const status of ['delivered', 'dead'] as const) {
      expect(isDeliveryDue(deliveryRow({ status }), due)).toBe(false)
    }
  })

  it('is dispatched to those that have not taken it, with how often they were tried', () => {
    const outbox = outboxRow({ attempts: 2 })
    const delivery = deliveryRow({ attempts: 3 })
    const bare = {
      outboxId: '01OUTBOX',
      type: 'PaymentSucceeded',
      transactionId: '01TX',
      payload: '{"transaction":{}}',
      correlationId: 'correlation-2',
      createdAt: NOW,
    }
    const heard = { listeners: { attempts: 2 } }
    const sent = { delivery: { id: '01DELIVERY', endpoint: ENDPOINT, attempts: 3 } }
    const of = (listeners: boolean, own?: typeof delivery, more = {}) =>
      pendingEvent({ outbox: { ...outbox, ...more }, listeners, delivery: own })
    expect(of(true, delivery)).toStrictEqual({ ...bare, ...heard, ...sent })
    expect(of(true)).toStrictEqual({ ...bare, ...heard })
    expect(of(false, delivery)).toStrictEqual({ ...bare, ...sent })
    expect(of(false)).toBeUndefined()
    const { correlationId: _, ...unnamed } = bare
    const none = of(true, undefined, { payload: null, correlation_id: null })
    expect(none).toStrictEqual({ ...unnamed, payload: '', ...heard })
  })
})

describe('the event of an alert', () => {
  const alert = (kind: AlertKind, type?: DurableEvent): AlertRow =>
    alertRow({ kind, detail: JSON.stringify({ amount: 1, ...(type && { type }) }) })
  const of = { id: '01EVENT', transaction: transactionRow(came('Failed')) }
  const all = { hasListeners: () => true, endpointFor: () => ENDPOINT }
  const rowsOf = (raised: AlertRow, subscribers: Subscribers = all) => {
    const rows = alertRows(raised, of, subscribers)
    return rows && { listeners: rows.outbox.done_at === null, endpoint: rows.delivery?.endpoint }
  }

  it('contains the alert and the current payment', () => {
    const raised = alert('late_payment')
    const { outbox } = alertRows(raised, of, all) ?? {}
    expect(outbox).toMatchObject({ id: '01EVENT', type: 'AlertRaised', transaction_id: '01TX' })
    expect(JSON.parse(outbox?.payload ?? '')).toMatchObject({
      alert: { id: raised.id, kind: 'late_payment', detail: { amount: 1 } },
      transaction: { id: '01TX', status: 'Failed' },
    })
  })

  it('is AlertSettled once somebody has seen it, of that time', () => {
    const seen = { ...alert('late_payment'), acknowledged_at: NOW + 9, acknowledged_by: 'ada' }
    const { outbox } = alertRows(seen, of, all) ?? {}
    expect(outbox).toMatchObject({ type: 'AlertSettled', created_at: NOW + 9 })
  })

  it('goes to both subscribers, or to the other one if an event was not delivered', () => {
    expect(rowsOf(alert('late_payment'))).toEqual({ listeners: true, endpoint: ENDPOINT })
    expect(rowsOf(alert('listener_dead', 'PaymentFailed'))).toEqual({
      listeners: false,
      endpoint: ENDPOINT,
    })
    expect(rowsOf(alert('delivery_dead', 'PaymentFailed'))).toEqual({ listeners: true })
  })

  it('is not made for an AlertRaised that was not delivered, nor without a subscriber', () => {
    expect(rowsOf(alert('listener_dead', 'AlertRaised'))).toBeUndefined()
    expect(rowsOf(alert('endpoint_gone', 'PaymentFailed'))).toEqual({ listeners: true })
    expect(rowsOf(alert('delivery_dead', 'AlertRaised'))).toBeUndefined()
    const listeners = { ...all, endpointFor: () => undefined }
    expect(rowsOf(alert('listener_dead', 'PaymentFailed'), listeners)).toBeUndefined()
    const others = { hasListeners: () => false, endpointFor: () => undefined }
    expect(rowsOf(alert('late_payment'), others)).toBeUndefined()
  })
})

describe('an attempt', () => {
  const failed = { ok: false, nextAttemptAt: NOW + 9, error: 'x' }

  it('that succeeds completes the delivery', () => {
    const { outbox, delivery } = stored()
    const heard = settleListeners(outbox, { ok: true }, NOW + 1)
    expect(heard).toMatchObject({ outbox: { done_at: NOW + 1, attempts: 1 }, isDead: false })
    const sent = settleDelivery(delivery, { id: '', ok: true, status: 204 }, NOW + 1)
    const delivered = { status: 'delivered', delivered_at: NOW + 1, last_status: 204, attempts: 1 }
    expect(sent).toMatchObject({ delivery: delivered, isDead: false })
  })

  it('that succeeds after a failure shows no error of that', () => {
    const { delivery } = stored()
    const { delivery: tried } = settleDelivery(delivery, { id: '', ...failed }, NOW + 1)
    const sent = settleDelivery(tried, { id: '', ok: true, status: 204 }, NOW + 9)
    expect(sent.delivery).toMatchObject({ status: 'delivered', last_error: null })
  })

  it('that fails is repeated when it is due, and counts once even if it is settled twice', () => {
    const { outbox, delivery } = stored()
    const turn = { attempts: 1, leased_until: null, next_attempt_at: NOW + 9 }
    const heard = settleListeners(outbox, failed, NOW + 1)
    expect(heard.outbox).toMatchObject({ ...turn, done_at: null })
    expect(settleListeners(heard.outbox, failed, NOW + 2).outbox).toEqual(heard.outbox)
    const sent = settleDelivery(delivery, { id: '', ...failed }, NOW + 1)
    expect(sent.delivery).toMatchObject({ ...turn, status: 'pending', last_error: 'x' })
    expect(settleDelivery(sent.delivery, { id: '', ...failed }, NOW + 2)).toEqual({
      delivery: sent.delivery,
      isDead: false,
    })
  })

  it('that fails for the last time makes the delivery dead, once, with an alert', () => {
    const { outbox, delivery } = stored()
    const heard = settleListeners(outbox, { ok: false, error: 'x' }, NOW + 1)
    expect(heard).toMatchObject({ outbox: { done_at: NOW + 1 }, isDead: true })
    expect(settleListeners(heard.outbox, { ok: false }, NOW + 2).isDead).toBe(false)
    const sent = settleDelivery(delivery, { id: '', ok: false, status: 410 }, NOW + 1)
    expect(sent).toMatchObject({ delivery: { status: 'dead', last_status: 410 }, isDead: true })
    expect(settleDelivery(sent.delivery, { id: '', ok: false }, NOW + 2).isDead).toBe(false)
  })

  it('that was the last raises an alert with what was given up, and why', () => {
    const { outbox, delivery } = stored()
    const about = { gateway: 'bank', transactionId: '01TX', createdAt: NOW }
    const detail = {
      event: '01EVENT',
      type: 'PaymentSucceeded',
      reference: 'order-1',
      amount: 25_000,
      currency: 'IQD',
    }
    const of = { delivery: { ...delivery, id: '01DELIVERY' }, now: NOW }
    const named = { ...detail, deliveryId: '01DELIVERY', endpoint: ENDPOINT }
    const dead = { ...about, kind: 'delivery_dead', subject: '01DELIVERY' }
    const answered = deadAlert(event.transaction, outbox, { ...of, failed: { status: 500 } })
    expect(answered).toStrictEqual({ ...dead, detail: { ...named, lastStatus: 500 } })
    const unanswered = deadAlert(event.transaction, outbox, { ...of, failed: { error: 'x' } })
    expect(unanswered).toStrictEqual({ ...dead, detail: { ...named, error: 'x' } })
    const unheard = deadAlert(event.transaction, outbox, { failed: undefined, now: NOW })
    expect(unheard).toStrictEqual({ ...about, kind: 'listener_dead', subject: '01EVENT', detail })
  })

  it('that is answered with 410 wants no more events: one alert for the endpoint', () => {
    const { outbox, delivery } = stored()
    expect(goneAlert(event.transaction, outbox, delivery, NOW)).toStrictEqual({
      kind: 'endpoint_gone',
      subject: ENDPOINT,
      gateway: 'bank',
      transactionId: '01TX',
      detail: {
        endpoint: ENDPOINT,
        event: '01EVENT',
        type: 'PaymentSucceeded',
        reference: 'order-1',
        amount: 25_000,
        currency: 'IQD',
        lastStatus: 410,
      },
      createdAt: NOW,
    })
    const gone = [
      { ok: false, status: 410 },
      { ok: false, status: 500 },
      { ok: true, status: 410 },
    ]
    expect(gone.map((each) => isGone({ id: '', ...each }))).toEqual([true, false, false])
    expect(isGone(undefined)).toBe(false)
  })

  it('that comes after the end changes nothing', () => {
    const outbox = outboxRow({ done_at: NOW })
    expect(settleListeners(outbox, { ok: true }, NOW + 9)).toEqual({ outbox, isDead: false })
    const delivery = deliveryRow({ status: 'delivered' })
    const again = settleDelivery(delivery, { id: '', ok: true }, NOW + 9)
    expect(again).toEqual({ delivery, isDead: false })
  })

  it('is due again when a person sends a dead delivery again', () => {
    const { delivery } = stored()
    const dead = settleDelivery(delivery, { id: '', ok: false, status: 410 }, NOW + 1).delivery
    const again = redeliver(dead, NOW + 2)
    expect(again).toMatchObject({ status: 'pending', attempts: 0, next_attempt_at: NOW + 2 })
    expect(isDeliveryDue(again, { now: NOW + 2, dueBy: NOW + 2 })).toBe(true)
  })
})
