// Which events are due, and what becomes of one that was tried.

import { describe, expect, it } from 'vitest'
import {
  areListenersDue,
  type Dispatched,
  isDeliveryDue,
  redeliver,
  settleEvents,
} from '../../../../worker/payments/acts/dispatch.ts'
import { LEASE_MS } from '../../../../worker/payments/acts/store.ts'
import type { DeliveryRow, OutboxRow } from '../../../../worker/payments/domain/rows.ts'
import { BEHIND_MS } from '../../../../worker/payments/domain/time.ts'
import { decided, RULES } from '../../../support/acts.ts'
import { came, deliveryRow, NOW, outboxRow, transactionRow } from '../../../support/payment-rows.ts'

const ENDPOINT = 'https://shop.example/events'
const LEASED = { leased_until: NOW + LEASE_MS }

describe('an event', () => {
  it('is due when its lease has expired', () => {
    const [outbox, delivery] = [outboxRow(LEASED), deliveryRow(LEASED)]
    const at = [NOW + LEASE_MS - 1, NOW + LEASE_MS]
    expect(at.map((now) => areListenersDue(outbox, { now, dueBy: now }))).toEqual([false, true])
    expect(at.map((now) => isDeliveryDue(delivery, { now, dueBy: now }))).toEqual([false, true])
  })

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
})

describe('an attempt', () => {
  const failed = { ok: false, nextAttemptAt: NOW + 9, error: 'x' }
  const stored = { outbox: outboxRow(LEASED), delivery: deliveryRow(LEASED) }
  const settled = (
    { outbox, delivery }: { outbox: OutboxRow; delivery: DeliveryRow },
    listeners: Dispatched['listeners'],
    sent: Omit<NonNullable<Dispatched['delivery']>, 'id'> | undefined,
    now = NOW + 1,
  ) => {
    const outcome: Dispatched = {
      outboxId: '01OUTBOX',
      ...(listeners && { listeners }),
      ...(sent && { delivery: { ...sent, id: '01DELIVERY' } }),
    }
    const transactions = [transactionRow(came('Paid'))]
    const loaded = { transactions, outbox: [outbox], deliveries: [delivery] }
    const { rows, alerts } = decided(settleEvents([outcome], now, RULES), loaded)
    return {
      outbox: rows.get('outbox', '01OUTBOX') ?? outbox,
      delivery: rows.get('deliveries', '01DELIVERY') ?? delivery,
      alerts,
    }
  }

  it('that succeeds completes the delivery', () => {
    const { outbox, delivery, alerts } = settled(stored, { ok: true }, { ok: true, status: 204 })
    expect(outbox).toMatchObject({ done_at: NOW + 1, attempts: 1 })
    const delivered = { status: 'delivered', delivered_at: NOW + 1, last_status: 204, attempts: 1 }
    expect(delivery).toMatchObject(delivered)
    expect(alerts).toEqual([])
  })

  it('that fails is repeated when it is due, and counts once even if it is settled twice', () => {
    const turn = { attempts: 1, leased_until: null, next_attempt_at: NOW + 9 }
    const tried = settled(stored, failed, failed)
    expect(tried.outbox).toMatchObject({ ...turn, done_at: null })
    expect(tried.delivery).toMatchObject({ ...turn, status: 'pending', last_error: 'x' })
    expect(settled(tried, failed, failed, NOW + 2)).toEqual({ ...tried, alerts: [] })
  })

  it('that fails for the last time makes the delivery dead, once, with an alert', () => {
    const dead = settled(stored, { ok: false, error: 'x' }, { ok: false, status: 500 })
    expect(dead.outbox).toMatchObject({ done_at: NOW + 1 })
    expect(dead.delivery).toMatchObject({ status: 'dead', last_status: 500 })
    expect(dead.alerts.map(({ kind }) => kind)).toEqual(['listener_dead', 'delivery_dead'])
    expect(settled(dead, { ok: false }, { ok: false }, NOW + 2).alerts).toEqual([])
  })

  it('that was the last raises an alert with what was given up, and why', () => {
    const about = { gateway: 'bank', transaction_id: '01TX', created_at: NOW + 1 }
    const detail = {
      event: '01OUTBOX',
      type: 'PaymentSucceeded',
      reference: 'order-1',
      amount: 25_000,
      currency: 'IQD',
    }
    const named = { ...detail, deliveryId: '01DELIVERY', endpoint: ENDPOINT }
    const dead = { ...about, kind: 'delivery_dead', subject: '01DELIVERY' }
    const raised = (...tried: [Dispatched['listeners'], Parameters<typeof settled>[2]]) => {
      const [alert] = settled(stored, ...tried).alerts
      expect(alert?.detail).toStrictEqual(
        alert?.kind === 'listener_dead' ? { ...detail, error: 'x' } : expect.any(Object),
      )
      return alert
    }
    const answered = raised(undefined, { ok: false, status: 500 })
    expect(answered).toMatchObject(dead)
    expect(answered?.detail).toStrictEqual({ ...named, lastStatus: 500 })
    const unanswered = raised(undefined, { ok: false, error: 'x' })
    expect(unanswered?.detail).toStrictEqual({ ...named, error: 'x' })
    const unheard = raised({ ok: false, error: 'x' }, undefined)
    expect(unheard).toMatchObject({ ...about, kind: 'listener_dead', subject: '01OUTBOX' })
  })

  it('that is answered with 410 wants no more events: one alert for the endpoint', () => {
    const kinds = (sent: Parameters<typeof settled>[2]) =>
      settled(stored, undefined, sent).alerts.map(({ kind }) => kind)
    const again = { nextAttemptAt: NOW + 9 }
    expect(kinds({ ok: false, status: 500, ...again })).toEqual([])
    expect(kinds({ ok: true, status: 410 })).toEqual([])
    expect(kinds({ ok: false, status: 410 })).toEqual(['delivery_dead'])
    const [gone] = settled(stored, undefined, { ok: false, status: 410, ...again }).alerts
    expect(gone).toMatchObject({
      kind: 'endpoint_gone',
      subject: ENDPOINT,
      gateway: 'bank',
      transaction_id: '01TX',
      created_at: NOW + 1,
    })
    expect(gone?.detail).toStrictEqual({
      endpoint: ENDPOINT,
      event: '01OUTBOX',
      type: 'PaymentSucceeded',
      reference: 'order-1',
      amount: 25_000,
      currency: 'IQD',
      lastStatus: 410,
    })
  })

  it('that comes after the end changes nothing', () => {
    const done = {
      outbox: outboxRow({ done_at: NOW }),
      delivery: deliveryRow({ status: 'delivered' }),
    }
    expect(settled(done, { ok: true }, { ok: true }, NOW + 9)).toEqual({ ...done, alerts: [] })
  })

  it('is due again when a person sends a dead delivery again', () => {
    const { delivery } = settled(stored, undefined, { ok: false, status: 500 })
    const { rows } = decided(redeliver({ id: '01DELIVERY', now: NOW + 2 }), {
      deliveries: [delivery],
    })
    const again = rows.get('deliveries', '01DELIVERY')
    expect(again).toMatchObject({ status: 'pending', attempts: 0, next_attempt_at: NOW + 2 })
    expect(isDeliveryDue(again ?? delivery, { now: NOW + 2, dueBy: NOW + 2 })).toBe(true)
  })
})
