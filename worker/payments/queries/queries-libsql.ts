// What is read back, straight from libSQL.

import { type Database, type Row, statement, type Value } from '../ledger/libsql/database-libsql.ts'
import { HAS_DUE_EVENT, HAS_PARKED } from '../ledger/libsql/due-libsql.ts'
import { listed, toTransaction } from '../ledger/read-rows.ts'
import type { Listed, Page, PaymentRecords } from './queries.ts'
import { toAlert, toEventRecord, toRates, toRefund, toStoredEvent } from './query-rows-libsql.ts'
import { otherThanPaid, searchUnit } from './search-libsql.ts'
import { type Unit, unitReader } from './unit-libsql.ts'

export function libsqlRecords(database: Database): PaymentRecords {
  const read = unitReader(database)
  const page = <Item>(
    table: string,
    where: Record<string, Value | undefined>,
    { before, limit }: Page,
    toItem: (row: Row) => Item,
    more = '',
  ) => read(pageUnit(table, { where, more, before, limit }, toItem))

  return {
    transactions: ({ startsWith, ...where }, at) =>
      startsWith === undefined
        ? page('payment_transactions', where, at, toTransaction, otherThanPaid(where.status))
        : read(searchUnit(startsWith, where, at)),
    webhookEvents: ({ outcome, gateway }, at) =>
      page('payment_webhook_events', { outcome, gateway }, at, toEventRecord),
    alerts: ({ all = false }, at) =>
      page('payment_alerts', {}, at, toAlert, all ? '' : 'AND acknowledged_at IS NULL'),
    named: (gateway, transaction) =>
      read({
        statements: [statement(NAMED_TRANSACTION, { gateway, transaction })],
        read: ([rows = []]) => rows.map(toTransaction)[0],
      }),
    story: (id) =>
      read({
        statements: STORY.map((sql) => statement(sql, { id })),
        read([rows = [], events = [], refunds = [], outbox = [], deliveries = [], alerts = []]) {
          const [row] = rows
          if (!row) return undefined
          return {
            transaction: listed(toTransaction)(row),
            webhookEvents: events.map(listed(toEventRecord)),
            refunds: refunds.map(listed(toRefund)),
            events: outbox.map(listed((told) => toStoredEvent(told, deliveries))),
            alerts: alerts.map(listed(toAlert)),
          }
        },
      }),
    webhookRates: ({ from, to }) =>
      read({
        statements: [statement(RATES, { from, to })],
        read: ([rows = []]) => toRates(rows),
      }),
    anythingDue: (now) =>
      read({
        statements: [statement(IS_ANYTHING_DUE, { now })],
        read: ([rows = []]) => rows[0]?.due === 1,
      }),
  } satisfies PaymentRecords
}

/** Newest first: ids are ordered by time. */
function pageUnit<Item>(
  table: string,
  wanted: {
    where: Record<string, Value | undefined>
    more: string
    before: string | undefined
    limit: number
  },
  toItem: (row: Row) => Item,
): Unit<Listed<Item>[]> {
  const { before, limit, more } = wanted
  const given = Object.entries(wanted.where).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value] as const],
  )
  // Many rows are of one gateway: found by that, all of them would be sorted for one page.
  const isWayIn = (name: string) => name !== 'gateway' || wanted.where.reference !== undefined
  const conditions = given.map(([name]) => `AND ${isWayIn(name) ? '' : '+'}${name} = :${name}`)
  if (before !== undefined) conditions.push('AND id < :before')
  const sql = `SELECT * FROM ${table} WHERE true ${conditions.join(' ')} ${more}
    ORDER BY id DESC LIMIT :limit`
  const args = { ...Object.fromEntries(given), before: before ?? null, limit }
  return { statements: [statement(sql, args)], read: ([rows = []]) => rows.map(listed(toItem)) }
}

const RATES = `SELECT received_at / 60000 * 60000 AS minute, outcome, count(*) AS events
  FROM payment_webhook_events WHERE received_at >= :from AND received_at < :to
  GROUP BY 1, 2 ORDER BY 1, 2`

const IS_ANYTHING_DUE = `SELECT EXISTS (SELECT 1 FROM payment_transactions
  WHERE next_check_at <= :now) OR ${HAS_DUE_EVENT} OR ${HAS_PARKED} AS due`

const NAMED_TRANSACTION = `SELECT * FROM payment_transactions WHERE id = COALESCE(
  (SELECT id FROM payment_transactions WHERE id = :transaction AND gateway = :gateway),
  (SELECT id FROM payment_transactions
    WHERE gateway = :gateway AND gateway_transaction_id = :transaction))`

const STORY = [
  'SELECT * FROM payment_transactions WHERE id = :id',
  'SELECT * FROM payment_webhook_events WHERE transaction_id = :id ORDER BY rowid',
  'SELECT * FROM payment_refunds WHERE transaction_id = :id ORDER BY rowid',
  // What was given up is done as well: only the alert tells it from what was delivered.
  `SELECT o.*, EXISTS (SELECT 1 FROM payment_alerts a
      WHERE a.kind = 'listener_dead' AND a.subject = o.id) AS was_given_up
    FROM payment_outbox o WHERE o.transaction_id = :id ORDER BY o.rowid`,
  `SELECT d.* FROM payment_deliveries d JOIN payment_outbox o ON o.id = d.outbox_id
    WHERE o.transaction_id = :id ORDER BY d.rowid`,
  'SELECT * FROM payment_alerts WHERE transaction_id = :id ORDER BY rowid',
]
