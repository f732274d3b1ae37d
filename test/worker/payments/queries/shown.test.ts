// Rows as the API and the host application see them: by other names, without what is NULL.

import { describe, expect, it } from 'vitest'
import { toAlert, toTransaction } from '../../../../worker/payments/domain/rows.ts'
import { listed } from '../../../../worker/payments/queries/query-libsql.ts'
import {
  type AuditedRow,
  type BookedRow,
  toAuditRecord,
  toCheck,
  toEventRecord,
  toMovement,
  toRefund,
  toStoredEvent,
} from '../../../../worker/payments/queries/shown.ts'
import {
  alertRow,
  came,
  deliveryRow,
  NOW,
  outboxRow,
  refundRow,
  transactionRow,
  webhookEventRow,
} from '../../../support/payment-rows.ts'

const AT = new Date(NOW).toISOString()
const MINUTE_AGO = new Date(NOW - 60_000).toISOString()
const error = { code: 'x', message: 'y' }

describe('a payment', () => {
  const bare = {
    id: '01TX',
    gateway: 'bank',
    reference: 'order-1',
    attempt: 1,
    externalReferenceId: 'external-1',
    status: 'Pending',
    amount: 25_000,
    currency: 'IQD',
    refundedAmount: 0,
    refundRevision: 0,
    createdAt: MINUTE_AGO,
    updatedAt: MINUTE_AGO,
  }

  it('has only what is known of it', () => {
    const row = { gateway_transaction_id: null, description: null, correlation_id: null }
    expect(toTransaction(transactionRow(row))).toStrictEqual(bare)
    const unnamed = toTransaction(transactionRow({ external_reference_id: null }))
    expect(unnamed.externalReferenceId).toBe('')
  })

  it('has all that is known of it', () => {
    const row = transactionRow({
      ...came('Paid'),
      metadata: '{"table":4}',
      redirect_url: 'https://pay.example/',
      error: JSON.stringify(error),
      alert: '{"id":"01ALERT","kind":"dispute"}',
      expires_at: NOW,
      is_repeat: 1,
    })
    expect(toTransaction(row)).toStrictEqual({
      ...bare,
      status: 'Paid',
      gatewayTransactionId: 'gateway-1',
      description: 'Three books',
      correlationId: 'correlation-1',
      metadata: { table: 4 },
      redirectUrl: 'https://pay.example/',
      error,
      alert: { id: '01ALERT', kind: 'dispute' },
      expiresAt: AT,
      paidAt: MINUTE_AGO,
      paid: { amount: 25_000, currency: 'IQD' },
      isRepeat: true,
    })
  })

  it('shows what was paid only if all of that is known', () => {
    for (const unknown of ['paid_at', 'paid_amount', 'paid_currency']) {
      const row = transactionRow({ ...came('Paid'), [unknown]: null })
      expect(toTransaction(row)).not.toHaveProperty('paid')
    }
  })

  it('has the times of its checks that a date can have', () => {
    const row = { last_check_at: NOW, last_check_status: 'Paid', next_check_at: 9e15 } as const
    expect(toCheck(transactionRow(row))).toStrictEqual({ lastAt: AT, lastStatus: 'Paid' })
    expect(toCheck(transactionRow({ next_check_at: NOW }))).toStrictEqual({ nextAt: AT })
  })
})

describe('an alert', () => {
  it('has who has seen it, and what was done, once that is so', () => {
    const raised = {
      id: '01ALERT',
      kind: 'late_payment',
      gateway: 'bank',
      transactionId: '01TX',
      detail: { amount: 25_000 },
      createdAt: AT,
    }
    expect(toAlert(alertRow())).toStrictEqual(raised)
    const unknown = toAlert(alertRow({ transaction_id: null, detail: null }))
    expect(unknown).toStrictEqual({ ...raised, transactionId: '', detail: {} })
    const seen = { acknowledged_at: NOW, acknowledged_by: 'ada', gateway_reference: 'back-1' }
    const by = { acknowledgedAt: AT, acknowledgedBy: 'ada' }
    expect(toAlert(alertRow(seen))).toStrictEqual({ ...raised, ...by, gatewayReference: 'back-1' })
    const old = alertRow({ acknowledged_at: NOW })
    expect(toAlert(old)).toStrictEqual({ ...raised, ...by, acknowledgedBy: '' })
  })
})

describe('a webhook event', () => {
  it('has what the gateway sent, and what became of it', () => {
    const bare = {
      id: '01EVENT',
      gateway: 'bank',
      eventId: 'event-1',
      toStatus: 'Paid',
      amount: 25_000,
      currency: 'IQD',
      isMismatch: false,
      outcome: 'parked',
      occurredAt: new Date(NOW - 1_000).toISOString(),
      receivedAt: AT,
      gatewayTransactionId: 'gateway-1',
      reference: 'order-1',
      correlationId: 'correlation-2',
    }
    expect(toEventRecord(webhookEventRow())).toStrictEqual(bare)
    const applied = webhookEventRow({
      from_status: 'Pending',
      external_reference_id: 'external-1',
      transaction_id: '01TX',
      mismatch: 1,
      error: JSON.stringify(error),
      raw: '[1]',
    })
    expect(toEventRecord(applied)).toStrictEqual({
      ...bare,
      fromStatus: 'Pending',
      externalReferenceId: 'external-1',
      transactionId: '01TX',
      isMismatch: true,
      error,
      raw: [1],
    })
  })
})

describe('a refund', () => {
  it('has who asked for it, and why it failed', () => {
    const bare = {
      id: '01REFUND',
      amount: 4_000,
      reason: 'Returned',
      status: 'claimed',
      createdAt: MINUTE_AGO,
      updatedAt: MINUTE_AGO,
    }
    expect(toRefund(refundRow())).toStrictEqual(bare)
    const failed = { asked_by: 'ada', gateway_refund_id: 'back-1', correlation_id: 'c-1' }
    const row = refundRow({ ...failed, error: JSON.stringify(error) })
    const more = { askedBy: 'ada', gatewayRefundId: 'back-1', correlationId: 'c-1', error }
    expect(toRefund(row)).toStrictEqual({ ...bare, ...more })
  })
})

describe('a stored event', () => {
  const shown = (own: Parameters<typeof outboxRow>[0], given: 0 | 1, ...rows: object[]) =>
    toStoredEvent(
      { ...outboxRow(own), was_given_up: given },
      rows.map((row) => deliveryRow(row)),
    )

  it('was taken by the listeners only if it was not given up', () => {
    const bare = {
      id: '01OUTBOX',
      type: 'PaymentSucceeded',
      payload: { transaction: {} },
      createdAt: AT,
      deliveries: [],
    }
    expect(shown({}, 0)).toStrictEqual(bare)
    expect(shown({ done_at: NOW }, 0)).toStrictEqual({ ...bare, listenersDoneAt: AT })
    expect(shown({ done_at: NOW }, 1)).toStrictEqual(bare)
  })

  it('has its own deliveries, with the next try of one that is pending', () => {
    const bare = { id: '01DELIVERY', endpoint: 'https://shop.example/events', attempts: 0 }
    const dead = { status: 'dead', last_status: 410, last_error: 'gone' }
    const done = { status: 'delivered', delivered_at: NOW }
    expect(shown({}, 0, {}, { outbox_id: 'another' }, dead, done).deliveries).toStrictEqual([
      { ...bare, status: 'pending', nextAttemptAt: AT },
      { ...bare, status: 'dead', lastStatus: 410, lastError: 'gone' },
      { ...bare, status: 'delivered', deliveredAt: AT },
    ])
  })
})

describe('what somebody did', () => {
  it('has the currency of an amount, and none without one', () => {
    const row: AuditedRow = {
      id: '01ACT',
      at: NOW,
      action: 'refund',
      subject: 'ada',
      transaction_id: '01TX',
      about: '01REFUND',
      amount: 5,
      detail: 'Returned',
      gateway: 'bank',
      reference: 'order-1',
      currency: 'IQD',
    }
    const { transaction_id: transactionId, amount, currency, ...rest } = row
    const act = { ...rest, at: AT, transactionId }
    expect(toAuditRecord(row)).toStrictEqual({ ...act, amount, currency })
    expect(toAuditRecord({ ...row, amount: null })).toStrictEqual(act)
  })
})

describe('a movement', () => {
  it('has its amount in whole units, too, and the gateway’s name of its refund', () => {
    const row: BookedRow = {
      id: '01MOVE',
      kind: 'refunded',
      transaction_id: '01TX',
      gateway: 'bank',
      refund_id: '01REFUND',
      amount: -1_250,
      currency: 'USD',
      booked_at: NOW,
      occurred_at: NOW - 60_000,
      estimated: 0,
      reference: 'order-1',
      gateway_transaction_id: null,
      gateway_refund_id: null,
    }
    const bare = {
      id: '01MOVE',
      kind: 'refunded',
      transactionId: '01TX',
      reference: 'order-1',
      gateway: 'bank',
      refundId: '01REFUND',
      amount: '-12.50',
      amountMinor: -1_250,
      currency: 'USD',
      bookedAt: AT,
      occurredAt: MINUTE_AGO,
    }
    expect(toMovement(row)).toStrictEqual(bare)
    const names = { gateway_transaction_id: 'g-1', gateway_refund_id: 'back-1' }
    expect(toMovement({ ...row, ...names, estimated: 1 })).toStrictEqual({
      ...bare,
      gatewayTransactionId: 'g-1',
      refundId: 'back-1',
      estimated: true,
    })
  })
})

describe('a row of a list', () => {
  const shown = listed(toTransaction)

  it('that cannot be read says why, and does not quote what it has', () => {
    const transaction = transactionRow()
    expect(shown(transaction)).toEqual(toTransaction(transaction))
    const unreadable = (why: string) => ({
      id: '01TX',
      code: 'unreadable',
      invalid: `The row cannot be read: ${why}.`,
    })
    expect(shown({ ...transaction, metadata: 'ada: 0770' })).toEqual(
      unreadable('a value is not JSON'),
    )
    expect(shown({ ...transaction, created_at: 9e15 })).toEqual(
      unreadable('RangeError: Invalid time value'),
    )
  })
})
