// The delivery of durable events to their subscribers.

import { describe, expect, it } from 'vitest'
import type { Subscribers } from '../../../../worker/payments/acts/act.ts'
import { pendingEvent } from '../../../../worker/payments/acts/dispatch.ts'
import { alertRows, LEASE_MS, outboxRows } from '../../../../worker/payments/acts/store.ts'
import type { NewEvent } from '../../../../worker/payments/domain/payment.ts'
import type { AlertRow } from '../../../../worker/payments/domain/rows.ts'
import type { AlertKind, DurableEvent } from '../../../../worker/payments/domain/status.ts'
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
})

describe('a stored event', () => {
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
