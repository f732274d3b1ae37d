// When an alert is raised, opened again and settled, and which one a payment names.

import { describe, expect, it } from 'vitest'
import {
  acknowledgeAlert,
  opened,
  raiseAlert,
  withAlerts,
  withLateMoneyRefunded,
} from '../../../../worker/payments/domain/alerts.ts'
import type { Alert } from '../../../../worker/payments/domain/payment.ts'
import type { AlertRow, RefundRow } from '../../../../worker/payments/domain/rows.ts'
import { alertRow, came, NOW, paymentOf, refundRow } from '../../../support/payment-rows.ts'

const LATE = { ...came('Paid'), status: 'Expired' } as const
const SEEN = { acknowledged_at: NOW - 9, acknowledged_by: 'ada' }
const SENT = { ...SEEN, gateway_reference: 'back-1' }
const late = (own: Partial<AlertRow> = {}) => alertRow({ kind: 'late_payment', ...own })
const mismatch = alertRow({ id: '02ALERT', kind: 'amount_mismatch' })

describe('a payment with alerts', () => {
  it('names the most urgent open one, the oldest of two; none about deliveries', () => {
    const named = (...alerts: AlertRow[]) => {
      const { alert } = withAlerts(paymentOf(), alerts).transaction
      return alert && JSON.parse(alert)
    }
    const first = { id: '01ALERT', kind: 'late_payment' }
    expect(named(mismatch, late())).toEqual(first)
    expect(named(late(), mismatch)).toEqual(first)
    const [older, newer] = [late({ id: '02' }), late({ id: '03' })]
    expect(named(older, newer)).toEqual({ ...first, id: '02' })
    expect(named(newer, older)).toEqual({ ...first, id: '02' })
    expect(named(late(SEEN), mismatch)).toEqual({ id: '02ALERT', kind: 'amount_mismatch' })
    expect(named(late(SEEN))).toBeNull()
    for (const kind of ['endpoint_gone', 'listener_dead', 'delivery_dead'] as const) {
      expect(named(alertRow({ kind }))).toBeNull()
    }
  })

  it('has changed ones instead of those of the same id, and is the same without any', () => {
    const before = paymentOf({}, { alerts: [late(), mismatch] })
    expect(withAlerts(before, [late(SEEN)]).alerts).toEqual([mismatch, late(SEEN)])
    expect(withAlerts(before, [late(SEEN), mismatch]).alerts).toHaveLength(2)
    expect(withAlerts(before, [])).toBe(before)
  })
})

describe('an alert', () => {
  const alert: Alert = {
    kind: 'unsettled',
    subject: '01TX',
    gateway: 'bank',
    transactionId: '01TX',
    detail: { gatewayStatus: 'none' },
    createdAt: NOW,
  }
  const newId = () => 'new'

  it('is raised once for each kind and subject, and again after it was acknowledged', () => {
    const raised = raiseAlert(alert, undefined, newId)
    if (!raised) throw new Error('it is raised')
    expect(raised).toEqual({
      id: 'new',
      kind: 'unsettled',
      subject: '01TX',
      gateway: 'bank',
      transaction_id: '01TX',
      detail: '{"gatewayStatus":"none"}',
      created_at: NOW,
      acknowledged_at: null,
      acknowledged_by: null,
      gateway_reference: null,
    })
    expect(raiseAlert(alert, raised, newId)).toBeUndefined()
    const seen = acknowledgeAlert(raised, 'ada', NOW + 1)
    expect(seen).toEqual({ ...raised, acknowledged_at: NOW + 1, acknowledged_by: 'ada' })
    expect(acknowledgeAlert(seen, 'bob', NOW + 2, 'back-1')).toEqual(seen)
    expect(raiseAlert({ ...alert, createdAt: NOW + 3 }, seen, newId)).toEqual({
      ...raised,
      created_at: NOW + 3,
    })
  })

  it('has each step after the one before, also by a clock that was set back', () => {
    const raised = alertRow({ created_at: NOW })
    const seen = acknowledgeAlert(raised, 'ada', NOW - 9)
    expect(seen.acknowledged_at).toBe(NOW)
    const behind = { ...alert, createdAt: NOW - 1 }
    expect(raiseAlert(behind, seen, newId)?.created_at).toBe(NOW + 1)
    expect(opened(seen, NOW - 1).created_at).toBe(NOW + 1)
  })

  it.each([
    ['late_payment', 'event-1', false],
    ['late_payment', 'event-2', false],
    ['refund_unsettled', undefined, true],
  ] as const)('of a %s that was seen is raised by %s again: %s', (kind, eventId, isAgain) => {
    const known = alertRow({ kind, detail: '{"eventId":"event-1"}', ...SEEN })
    const detail = eventId === undefined ? {} : { eventId }
    const raised = raiseAlert({ ...alert, kind, detail }, known, newId)
    expect(raised !== undefined).toBe(isAgain)
  })
})

describe('the alerts of late money', () => {
  it('are settled when all of it is refunded, with the last refund', () => {
    const made = refundRow({ status: 'succeeded', gateway_refund_id: 'back-9' })
    const settled = (...refunds: RefundRow[]) => {
      const row = { ...LATE, refunded_amount: 25_000 }
      const payment = paymentOf(row, {
        alerts: [late(), mismatch, late({ id: '03', ...SEEN })],
        refunds,
      })
      return withLateMoneyRefunded(payment, NOW).alerts
    }
    const by = { acknowledged_at: NOW, acknowledged_by: 'refund' }
    expect(settled({ ...made, id: 'first', gateway_refund_id: null }, made, refundRow())).toEqual([
      mismatch,
      late({ id: '03', ...SEEN }),
      late({ ...by, gateway_reference: 'back-9' }),
    ])
    const reference = (...refunds: RefundRow[]) => settled(...refunds).at(-1)?.gateway_reference
    expect(reference({ ...made, gateway_refund_id: null })).toBe('01REFUND')
    expect(reference()).toBeNull()
  })

  it('that a refund has settled are open again while some of it is left', () => {
    const by = { acknowledged_by: 'refund', acknowledged_at: 7, gateway_reference: 'back-1' }
    const kept = [late({ id: '02', ...SENT }), { ...mismatch, ...by }]
    const payment = paymentOf(LATE, { alerts: [late(by), ...kept] })
    const { alerts, transaction } = withLateMoneyRefunded(payment, NOW)
    expect(alerts).toEqual([...kept, late({ created_at: NOW + 1 })])
    expect(JSON.parse(transaction.alert ?? '')).toEqual({ id: '01ALERT', kind: 'late_payment' })
    const untouched = paymentOf(LATE, { alerts: kept })
    expect(withLateMoneyRefunded(untouched, NOW)).toBe(untouched)
  })
})
