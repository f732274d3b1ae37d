// The queries of payments on libSQL.

import type { AlertDetail } from '../domain/alerts.ts'
import { isStranded } from '../domain/begin-charge.ts'
import type { PaymentError } from '../domain/exceptions.ts'
import type { Listed, Transaction } from '../domain/schemas.ts'
import type { AlertKind, DurableEvent, Outcome, PaymentStatus } from '../domain/status.ts'
import { type Database, reachable } from '../ledger/libsql/http-libsql.ts'
import { CHECK_DUE, HAS_DUE_EVENT, HAS_PARKED } from '../ledger/libsql/lookups-libsql.ts'
import { schemaMismatch } from '../ledger/libsql/schema-version-libsql.ts'
import {
  type Row,
  type Statement,
  statement,
  type Value,
} from '../ledger/libsql/statement-libsql.ts'
import {
  isoTime,
  listed,
  present,
  presentJson,
  presentTime,
  text,
  toPayload,
  toTransaction,
  wholeOf,
} from '../ledger/read-rows.ts'
import type {
  AlertRecord,
  DeliveryRecord,
  EventRecord,
  Page,
  PaymentQueries,
  RefundRecord,
  StoredEvent,
  TransactionFilter,
  WebhookRate,
} from './queries.ts'

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

// Finds payments by the beginning of an id or a reference. Each has an index with equal
// beginnings side by side, so only matching rows are read, among any number of payments.

/** Sorts after every other character, so that nothing needs to be escaped. */
const LAST = '\u{10FFFF}'

// The gateways of all payments, one index lookup each: the index of the gateways' ids begins with
// the gateway, and an old gateway may not be in the configuration any more.
const GATEWAYS = `gateways(gateway) AS (
  SELECT min(gateway) FROM payment_transactions
  UNION ALL SELECT (SELECT min(t.gateway) FROM payment_transactions t WHERE t.gateway > g.gateway)
    FROM gateways g WHERE g.gateway IS NOT NULL)`
const OF_GATEWAYS = 'gateways g CROSS JOIN payment_transactions t ON t.gateway = g.gateway'

/**
 * The index by status does not contain Paid. A query uses it only if it has the same condition.
 */
export const notPaidCondition = (status: PaymentStatus | undefined, column = 'status'): string =>
  status === undefined || status === 'Paid' ? '' : `AND ${column} <> 'Paid'`

/** Newest first. */
export function searchQuery(
  startsWith: string,
  { status, gateway, reference }: TransactionFilter,
  { before, limit }: Page,
): Query<Listed<Transaction>[]> {
  const more = [
    status === undefined ? '' : `AND t.status = :status ${notPaidCondition(status, 't.status')}`,
    gateway === undefined ? '' : 'AND t.gateway = :gateway',
    reference === undefined ? '' : 'AND t.reference = :reference',
    before === undefined ? '' : 'AND t.id < :before',
  ].join(' ')
  const idsBy = (name: string, from: string) => `SELECT id FROM (SELECT t.id FROM ${from}
    WHERE t.${name} >= :first AND t.${name} < :last ${more} ORDER BY t.id DESC LIMIT :limit)`
  const sql = `WITH RECURSIVE ${GATEWAYS}
    SELECT * FROM payment_transactions WHERE id IN (
      ${idsBy('id', 'payment_transactions t')}
      UNION ${idsBy('reference', 'payment_transactions t')}
      UNION ${idsBy('gateway_transaction_id', OF_GATEWAYS)})
    ORDER BY id DESC LIMIT :limit`
  const args = {
    first: startsWith,
    last: `${startsWith}${LAST}`,
    status: status ?? null,
    gateway: gateway ?? null,
    reference: reference ?? null,
    before: before ?? null,
    limit,
  }
  return {
    statements: [statement(sql, args)],
    read: ([rows = []]) => rows.map(listed(toTransaction)),
  }
}

// Turns rows into the records of the API.

interface Failed {
  error: PaymentError
}

export const toEventRecord = (row: Row): EventRecord => ({
  id: text(row.id),
  gateway: text(row.gateway),
  eventId: text(row.event_id),
  toStatus: text(row.to_status) as PaymentStatus,
  amount: wholeOf(row, 'amount'),
  currency: text(row.currency),
  isMismatch: row.mismatch === 1,
  outcome: text(row.outcome) as Outcome,
  occurredAt: isoTime(row, 'occurred_at'),
  receivedAt: isoTime(row, 'received_at'),
  ...(row.from_status !== null && { fromStatus: text(row.from_status) as PaymentStatus }),
  ...present({
    gatewayTransactionId: row.gateway_transaction_id,
    externalReferenceId: row.external_reference_id,
    reference: row.reference,
    transactionId: row.transaction_id,
    correlationId: row.correlation_id,
  }),
  ...presentJson<Failed>('error', row.error),
  ...(row.raw !== null && { raw: jsonOrText(text(row.raw)) }),
})

/** Earlier versions stored bodies unchanged, and some of them are forms. */
function jsonOrText(stored: string): unknown {
  try {
    return JSON.parse(stored)
  } catch {
    return stored
  }
}

/** The rows are ordered by minute. */
export function toRates(rows: readonly Row[]): WebhookRate[] {
  const rates: WebhookRate[] = []
  for (const row of rows) {
    const { outcome, events } = row
    const at = isoTime(row, 'minute')
    let rate = rates.at(-1)
    if (rate?.at !== at) {
      rate = { at, outcomes: {} }
      rates.push(rate)
    }
    rate.outcomes[text(outcome) as Outcome] = Number(events)
  }
  return rates
}

export const toRefund = (row: Row): RefundRecord => ({
  id: text(row.id),
  amount: wholeOf(row, 'amount'),
  reason: text(row.reason),
  status: text(row.status) as RefundRecord['status'],
  createdAt: isoTime(row, 'created_at'),
  updatedAt: isoTime(row, 'updated_at'),
  ...present({ gatewayRefundId: row.gateway_refund_id, correlationId: row.correlation_id }),
  ...presentJson<Failed>('error', row.error),
})

/** `deliveries`: those of all events of the payment. */
export const toStoredEvent = (row: Row, deliveries: readonly Row[]): StoredEvent => ({
  id: text(row.id),
  type: text(row.type) as DurableEvent,
  payload: toPayload(text(row.payload)),
  createdAt: isoTime(row, 'created_at'),
  ...(row.was_given_up === 0 && presentTime('listenersDoneAt', row, 'done_at')),
  deliveries: deliveries.filter((each) => each.outbox_id === row.id).map(toDelivery),
})

const toDelivery = (row: Row): DeliveryRecord => ({
  id: text(row.id),
  endpoint: text(row.endpoint),
  status: text(row.status) as DeliveryRecord['status'],
  attempts: Number(row.attempts),
  ...(row.last_status !== null && { lastStatus: Number(row.last_status) }),
  ...present({ lastError: row.last_error }),
  ...(row.status === 'pending' && presentTime('nextAttemptAt', row, 'next_attempt_at')),
  ...presentTime('deliveredAt', row, 'delivered_at'),
})

export const toAlert = (row: Row): AlertRecord => ({
  id: text(row.id),
  kind: text(row.kind) as AlertKind,
  gateway: text(row.gateway),
  detail: row.detail === null ? {} : (JSON.parse(text(row.detail)) as AlertDetail),
  createdAt: isoTime(row, 'created_at'),
  ...present({
    transactionId: row.transaction_id,
    acknowledgedBy: row.acknowledged_by,
    gatewayReference: row.gateway_reference,
  }),
  ...presentTime('acknowledgedAt', row, 'acknowledged_at'),
})

// A query of libSQL: statements that are read together, and a function that reads their rows.

export interface Query<Result> {
  statements: readonly Statement[]
  /** `results`: the rows of each statement. */
  read(results: readonly (readonly Row[])[]): Result
}

/** Reads do not wait for writes. Rejects with LedgerUnavailable or SchemaMismatch. */
export const queryRunner =
  (database: Database) =>
  async <Result>({ statements, read }: Query<Result>): Promise<Result> => {
    const rows = await reachable(database.read(statements)).catch(async (error: unknown) => {
      const isSchemaError = /no such (table|column)/.test(String(error))
      throw (isSchemaError && (await schemaMismatch(database, error))) || error
    })
    return read(rows)
  }
