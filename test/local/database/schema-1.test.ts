// The fixture of a database of an older version: test/fixtures/payments-schema-1.sql.

import { readFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { beforeEach, describe, expect, it } from 'vitest'
import { OUTCOMES, PAYMENT_STATUSES } from '../../../worker/payments/domain/status.ts'

const FIXTURE = readFileSync('test/fixtures/payments-schema-1.sql', 'utf8')

let database: DatabaseSync
beforeEach(() => {
  database = new DatabaseSync(':memory:')
  database.exec(FIXTURE)
  return () => database.close()
})

const all = (sql: string) =>
  database
    .prepare(sql)
    .all()
    .map((row) => ({ ...row }))
const valuesOf = (sql: string) => all(sql).map((row) => Object.values(row)[0])

describe('the database of schema 1', () => {
  it('contains charges in every status, with and without a page, answered or not', () => {
    const statuses = 'SELECT DISTINCT status FROM payment_transactions'
    expect(valuesOf(statuses).sort()).toEqual([...PAYMENT_STATUSES].sort())
    const pending = `SELECT DISTINCT gateway_transaction_id IS NOT NULL AS answered,
      redirect_url IS NOT NULL AS page, called_until IS NOT NULL AS called
      FROM payment_transactions WHERE status = 'Pending' ORDER BY 1, 2, 3`
    expect(all(pending)).toEqual([
      { answered: 0, page: 0, called: 0 },
      { answered: 0, page: 0, called: 1 },
      { answered: 1, page: 0, called: 0 },
      { answered: 1, page: 1, called: 0 },
    ])
  })

  it('contains webhook events of every outcome, and payments with other amounts', () => {
    const outcomes = 'SELECT DISTINCT outcome FROM payment_webhook_events'
    expect(valuesOf(outcomes).sort()).toEqual([...OUTCOMES].sort())
    const paid = `SELECT t.reference, t.status, e.amount, e.currency FROM payment_transactions t
      JOIN payment_webhook_events e ON e.transaction_id = t.id
      WHERE e.mismatch = 1 AND e.outcome = 'applied' ORDER BY t.id`
    expect(all(paid)).toEqual([
      { reference: 'underpaid', status: 'Paid', amount: 20_000, currency: 'IQD' },
      { reference: 'overpaid', status: 'Paid', amount: 30_000, currency: 'IQD' },
      { reference: 'paid-in-dollars', status: 'Paid', amount: 2_500_000, currency: 'USD' },
      { reference: 'underpaid-refunded', status: 'Refunded', amount: 20_000, currency: 'IQD' },
      {
        reference: 'fib-underpaid-refund-accepted',
        status: 'Paid',
        amount: 20_000,
        currency: 'IQD',
      },
    ])
  })

  it('contains refunds, deliveries and alerts in every state', () => {
    expect(valuesOf('SELECT DISTINCT status FROM payment_refunds ORDER BY 1')).toEqual([
      'accepted',
      'claimed',
      'failed',
      'succeeded',
    ])
    expect(valuesOf('SELECT DISTINCT status FROM payment_deliveries ORDER BY 1')).toEqual([
      'dead',
      'delivered',
      'pending',
    ])
    expect(valuesOf('SELECT COUNT(*) FROM payment_outbox WHERE done_at IS NULL')).toEqual([1])
    const alerts = `SELECT kind, acknowledged_at IS NOT NULL AS seen, COUNT(*) AS n
      FROM payment_alerts GROUP BY 1, 2 ORDER BY 1, 2`
    expect(all(alerts)).toEqual([
      { kind: 'amount_mismatch', seen: 0, n: 6 },
      { kind: 'delivery_dead', seen: 0, n: 2 },
      { kind: 'delivery_dead', seen: 1, n: 1 },
      { kind: 'late_payment', seen: 0, n: 1 },
      { kind: 'late_payment', seen: 1, n: 1 },
      { kind: 'refund_failed', seen: 0, n: 1 },
    ])
  })
})
