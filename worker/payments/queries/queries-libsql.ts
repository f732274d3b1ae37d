// The queries of payments on libSQL.

import type { Listed } from '../domain/listed.ts'
import { isStranded } from '../domain/replace-charge.ts'
import type { PaymentStatus } from '../domain/status.ts'
import type { Database } from '../ledger/libsql/database-libsql.ts'
import { CHECK_DUE, HAS_DUE_EVENT, HAS_PARKED } from '../ledger/libsql/due-libsql.ts'
import { type Row, statement, type Value } from '../ledger/libsql/statement-libsql.ts'
import { listed, text, toTransaction } from '../ledger/read-rows.ts'
import type { Page, PaymentQueries } from './queries.ts'
import { toAlert, toEventRecord, toRates, toRefund, toStoredEvent } from './query-rows-libsql.ts'
import { type Query, queryRunner } from './run-query-libsql.ts'
import { notPaidCondition, searchQuery } from './search-libsql.ts'

export function libsqlQueries(database: Database): PaymentQueries {
  const run = queryRunner(database)
  const page = <Item>(
    table: string,
    where: Record<string, Value | undefined>,
    { before, limit }: Page,
    toItem: (row: Row) => Item,
    more = '',
  ) => run(pageQuery(table, { where, more, before, limit }, toItem))

  return {
    transactions: ({ startsWith, ...where }, at) =>
      startsWith === undefined
        ? page('payment_transactions', where, at, toTransaction, notPaidCondition(where.status))
        : run(searchQuery(startsWith, where, at)),
    webhookEvents: ({ outcome, gateway }, at) =>
      page('payment_webhook_events', { outcome, gateway }, at, toEventRecord),
    alerts: ({ all = false }, at) =>
      page('payment_alerts', {}, at, toAlert, all ? '' : 'AND acknowledged_at IS NULL'),
    find: (gateway, transaction) =>
      run({
        statements: [statement(FIND_TRANSACTION, { gateway, transaction })],
        read: ([rows = []]) => rows.map(toTransaction)[0],
      }),
    story: (id, now) =>
      run({
        statements: STORY.map((sql) => statement(sql, { id })),
        read([rows = [], events = [], refunds = [], outbox = [], deliveries = [], alerts = []]) {
          const [row] = rows
          if (!row) return undefined
          return {
            transaction: listed(toTransaction)(row),
            isStranded: isStranded(chargeOf(row), now),
            webhookEvents: events.map(listed(toEventRecord)),
            refunds: refunds.map(listed(toRefund)),
            events: outbox.map(listed((event) => toStoredEvent(event, deliveries))),
            alerts: alerts.map(listed(toAlert)),
          }
        },
      }),
    webhookRates: ({ from, to }) =>
      run({
        statements: [statement(RATES, { from, to })],
        read: ([rows = []]) => toRates(rows),
      }),
    waiting: (now) =>
      run({
        statements: [statement(WAITING, { now }), statement(OPEN_ALERTS)],
        read: ([rows = [], alerts = []]) => ({
          isDue: rows[0]?.due === 1,
          events: {
            listeners: waitingEvents(rows[0], 'listeners'),
            endpoint: waitingEvents(rows[0], 'endpoint'),
          },
          alerts: Object.fromEntries(
            alerts.map(({ kind, open }) => [text(kind), Number(open)] as const),
          ),
        }),
      }),
  } satisfies PaymentQueries
}

const chargeOf = (row: Row) => ({
  status: text(row.status) as PaymentStatus,
  charge_answer: row.charge_answer == null ? null : text(row.charge_answer),
  called_until: row.called_until == null ? null : Number(row.called_until),
  expires_at: row.expires_at == null ? null : Number(row.expires_at),
})

function waitingEvents(row: Row = {}, subscriber: 'listeners' | 'endpoint') {
  const since = row[`${subscriber}_since`]
  return {
    count: Number(row[subscriber] ?? 0),
    ...(since != null && { oldestAt: Number(since) }),
  }
}

/** Newest first: ids are ordered by time. */
function pageQuery<Item>(
  table: string,
  wanted: {
    where: Record<string, Value | undefined>
    more: string
    before: string | undefined
    limit: number
  },
  toItem: (row: Row) => Item,
): Query<Listed<Item>[]> {
  const { before, limit, more } = wanted
  const given = Object.entries(wanted.where).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value] as const],
  )
  // Many rows have the same gateway. Its index would find all of them and sort them for one page;
  // the `+` stops libSQL from using it.
  const mayUseIndex = (name: string) => name !== 'gateway' || wanted.where.reference !== undefined
  const conditions = given.map(([name]) => `AND ${mayUseIndex(name) ? '' : '+'}${name} = :${name}`)
  if (before !== undefined) conditions.push('AND id < :before')
  const sql = `SELECT * FROM ${table} WHERE true ${conditions.join(' ')} ${more}
    ORDER BY id DESC LIMIT :limit`
  const args = { ...Object.fromEntries(given), before: before ?? null, limit }
  return { statements: [statement(sql, args)], read: ([rows = []]) => rows.map(listed(toItem)) }
}

const RATES = `SELECT received_at / 60000 * 60000 AS minute, outcome, count(*) AS events
  FROM payment_webhook_events WHERE received_at >= :from AND received_at < :to
  GROUP BY 1, 2 ORDER BY 1, 2`

/**
 * How many rows of a table wait, and since when: the oldest was stored first. Its index holds no
 * others. Left to itself, SQLite looks for the oldest from the beginning of the table.
 */
const waitingIn = (table: string, condition: string, name: string) => {
  const from = `FROM ${table} INDEXED BY ${table}_due WHERE ${condition}`
  return `(SELECT COUNT(*) ${from}) AS ${name},
    (SELECT created_at FROM ${table} WHERE rowid = (SELECT MIN(rowid) ${from})) AS ${name}_since`
}

const WAITING = `SELECT (EXISTS (SELECT 1 FROM payment_transactions WHERE ${CHECK_DUE})
    OR ${HAS_DUE_EVENT} OR ${HAS_PARKED}) AS due,
  ${waitingIn('payment_outbox', 'done_at IS NULL', 'listeners')},
  ${waitingIn('payment_deliveries', "status = 'pending'", 'endpoint')}`

const OPEN_ALERTS = `SELECT kind, COUNT(*) AS open FROM payment_alerts
  WHERE acknowledged_at IS NULL GROUP BY kind`

const FIND_TRANSACTION = `SELECT * FROM payment_transactions WHERE id = COALESCE(
  (SELECT id FROM payment_transactions WHERE id = :transaction AND gateway = :gateway),
  (SELECT id FROM payment_transactions
    WHERE gateway = :gateway AND gateway_transaction_id = :transaction))`

const STORY = [
  'SELECT * FROM payment_transactions WHERE id = :id',
  'SELECT * FROM payment_webhook_events WHERE transaction_id = :id ORDER BY rowid',
  'SELECT * FROM payment_refunds WHERE transaction_id = :id ORDER BY rowid',
  // A given-up event is done too: only its alert distinguishes it from a delivered one.
  `SELECT o.*, EXISTS (SELECT 1 FROM payment_alerts a
      WHERE a.kind = 'listener_dead' AND a.subject = o.id) AS was_given_up
    FROM payment_outbox o WHERE o.transaction_id = :id ORDER BY o.rowid`,
  `SELECT d.* FROM payment_deliveries d JOIN payment_outbox o ON o.id = d.outbox_id
    WHERE o.transaction_id = :id ORDER BY d.rowid`,
  'SELECT * FROM payment_alerts WHERE transaction_id = :id ORDER BY rowid',
]
