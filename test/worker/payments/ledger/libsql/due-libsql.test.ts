// The rules that stand twice: the domain decides by them, and as SQL they find the rows.

import fc from 'fast-check'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { isCheckDue } from '../../../../../worker/payments/acts/check.ts'
import { areListenersDue, isDeliveryDue } from '../../../../../worker/payments/acts/dispatch.ts'
import { LEASE_MS } from '../../../../../worker/payments/acts/store.ts'
import { matchTransaction, type PaymentIds } from '../../../../../worker/payments/acts/webhook.ts'
import { MAX_WAIT_MS, MIN_WAIT_MS } from '../../../../../worker/payments/domain/check-times.ts'
import type {
  DeliveryRow,
  OutboxRow,
  RefundRow,
  TransactionRow,
} from '../../../../../worker/payments/domain/rows.ts'
import { BEHIND_MS } from '../../../../../worker/payments/domain/time.ts'
import {
  CHECK_DUE,
  HAS_DUE_EVENT,
  HAS_PARKED,
} from '../../../../../worker/payments/ledger/libsql/due-libsql.ts'
import { MAX_RETRY_MS } from '../../../../../worker/shared/outgoing.ts'
import { openSqlite } from '../../../../../worker/shared/sqlite-libsql.ts'

const COLUMNS = {
  // biome-ignore format: several names a line.
  payment_transactions: [
    'id', 'gateway', 'gateway_transaction_id', 'external_reference_id', 'reference', 'amount',
    'currency', 'attempt', 'next_check_at', 'created_at', 'updated_at', 'last_check_at',
  ],
  payment_refunds: ['id', 'transaction_id', 'updated_at'],
  // biome-ignore format: several names a line.
  payment_webhook_events: [
    'outcome', 'gateway', 'gateway_transaction_id', 'external_reference_id', 'reference', 'amount',
    'currency',
  ],
  payment_outbox: ['done_at', 'leased_until', 'next_attempt_at'],
  payment_deliveries: ['status', 'leased_until', 'next_attempt_at'],
}

const sqlite = openSqlite(':memory:', { exactIntegers: false })
for (const [table, columns] of Object.entries(COLUMNS)) {
  sqlite.exec(`CREATE TABLE ${table} (${columns.join()})`)
}
afterAll(() => sqlite.close())

function put(table: keyof typeof COLUMNS, rows: readonly object[]): void {
  sqlite.all(`DELETE FROM ${table}`)
  const columns = COLUMNS[table]
  for (const row of rows) {
    const values = columns.map((name) => (row as Record<string, string | number | null>)[name])
    sqlite.all(
      `INSERT INTO ${table} VALUES (${columns.map(() => '?').join()})`,
      ...(values as string[]),
    )
  }
}
beforeEach(() => {
  for (const table of Object.keys(COLUMNS)) put(table as keyof typeof COLUMNS, [])
})

const isFound = (sql: string, times: { now: number; due_by?: number }): boolean => {
  const bound = sql
    .replaceAll(':now', String(times.now))
    .replaceAll(':due_by', String(times.due_by))
  return Number(sqlite.all<{ is: number }>(`SELECT ${bound} AS "is"`)[0]?.is) === 1
}

const NOW = 10_000_000
/** Around each bound of the rules, and NOW itself. */
const time = fc.constantFrom(
  ...[0, MIN_WAIT_MS, LEASE_MS, MAX_RETRY_MS, MAX_WAIT_MS]
    .flatMap((ms) => (ms === 0 ? [NOW] : [NOW + ms, NOW + ms + BEHIND_MS]))
    .flatMap((at) => [at - 1, at, at + 1]),
)
/** Never before NOW. */
const dueBy = time.filter((at) => at >= NOW)
const RUNS = { numRuns: 500 }

describe('what the SQL finds is what the domain decides', () => {
  it('of checks that are due', () => {
    const written = fc.constantFrom(0, NOW + BEHIND_MS, NOW + BEHIND_MS + 1)
    const payment = fc.record({
      next_check_at: fc.option(time),
      created_at: written,
      updated_at: written,
      last_check_at: fc.option(written),
    })
    const refunds = fc.array(written, { maxLength: 2 })
    fc.assert(
      fc.property(payment, refunds, (payment, refunds) => {
        put('payment_transactions', [{ id: 'a', ...payment }])
        put(
          'payment_refunds',
          refunds.map((updated_at) => ({ transaction_id: 'a', updated_at })),
        )
        const found = isFound(`EXISTS (SELECT 1 FROM payment_transactions WHERE ${CHECK_DUE})`, {
          now: NOW,
        })
        const of = refunds.map((updated_at) => ({ updated_at }) as RefundRow)
        expect(found).toBe(isCheckDue({ transaction: payment as TransactionRow, refunds: of }, NOW))
      }),
      RUNS,
    )
  })

  it('of events whose listeners are due', () => {
    const row = fc.record({
      done_at: fc.option(time),
      leased_until: fc.option(time),
      next_attempt_at: time,
    })
    fc.assert(
      fc.property(row, dueBy, (row, dueBy) => {
        put('payment_outbox', [row])
        const due = areListenersDue(row as OutboxRow, { now: NOW, dueBy })
        expect(isFound(HAS_DUE_EVENT, { now: NOW, due_by: dueBy })).toBe(due)
      }),
      RUNS,
    )
  })

  it('of deliveries that are due', () => {
    const row = fc.record({
      status: fc.constantFrom('pending', 'delivered', 'dead'),
      leased_until: fc.option(time),
      next_attempt_at: time,
    })
    fc.assert(
      fc.property(row, dueBy, (row, dueBy) => {
        put('payment_outbox', [])
        put('payment_deliveries', [row])
        const due = isDeliveryDue(row as DeliveryRow, { now: NOW, dueBy })
        expect(isFound(HAS_DUE_EVENT, { now: NOW, due_by: dueBy })).toBe(due)
      }),
      RUNS,
    )
  })

  it('of parked events that have a payment', () => {
    const one = (...values: string[]) => fc.constantFrom(...values)
    const ids = {
      gateway: one('fib', 'stripe'),
      gateway_transaction_id: fc.option(one('g-1', 'g-2')),
      reference: one('order-1', 'order-2'),
      amount: fc.constantFrom(1, 2),
      currency: one('IQD', 'USD'),
    }
    const payment = fc.record({
      ...ids,
      id: fc.constant('a-payment'),
      external_reference_id: one('x-1', 'x-2'),
      attempt: fc.nat(2),
    })
    const event = fc.record({
      ...ids,
      external_reference_id: fc.option(one('x-1', 'x-3')),
      outcome: one('parked', 'applied'),
    })
    fc.assert(
      fc.property(
        fc.array(payment, { maxLength: 3 }),
        event,
        (payments, { outcome, ...carried }) => {
          put('payment_transactions', payments)
          put('payment_webhook_events', [{ ...carried, outcome }])
          const match = matchTransaction(payments as TransactionRow[], carried as PaymentIds)
          const isApplicable = outcome === 'parked' && match !== undefined
          expect(isFound(HAS_PARKED, { now: NOW })).toBe(isApplicable)
        },
      ),
      { numRuns: 2_000 },
    )
  })
})
