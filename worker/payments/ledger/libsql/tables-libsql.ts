// The tables of the ledger, and how their changed rows are saved: one INSERT a table, and one
// UPDATE for each set of columns that changed together. There is no rule here.
//
// An UPDATE names only columns that changed: every index over a named column is written again, also
// with the same value. And a value that this code cannot read stays as it is.

import {
  type Rows,
  TABLES,
  type TableName,
  type TableRow,
  type WorkingSet,
} from '../working-set.ts'
import { type Statement, statement } from './statement-libsql.ts'

type Columns = { readonly [Name in TableName]: readonly (keyof Rows[Name][number] & string)[] }

export const TABLE: Readonly<Record<TableName, string>> = {
  transactions: 'payment_transactions',
  chargeKeys: 'payment_charge_keys',
  webhookEvents: 'payment_webhook_events',
  refunds: 'payment_refunds',
  outbox: 'payment_outbox',
  deliveries: 'payment_deliveries',
  alerts: 'payment_alerts',
}

export const COLUMNS = {
  transactions: [
    ...['id', 'gateway', 'reference', 'attempt', 'gateway_transaction_id'],
    ...['external_reference_id', 'idempotency_key', 'request_hash', 'status', 'amount'],
    ...['currency', 'refunded_amount', 'description', 'metadata', 'request', 'redirect_url'],
    ...['charge_answer', 'expires_at', 'called_by', 'called_until', 'next_check_at'],
    ...['correlation_id', 'error', 'created_at', 'updated_at', 'paid_at', 'paid_amount'],
    ...['paid_currency', 'is_repeat', 'unreadable_event', 'alert'],
  ],
  chargeKeys: ['id', 'gateway', 'idempotency_key', 'transaction_id'],
  webhookEvents: [
    ...['id', 'gateway', 'event_id', 'gateway_transaction_id', 'external_reference_id'],
    ...['reference', 'transaction_id', 'from_status', 'to_status', 'amount', 'currency'],
    ...['on_mismatch', 'mismatch', 'outcome', 'alert', 'error', 'raw', 'correlation_id'],
    ...['occurred_at', 'received_at'],
  ],
  refunds: [
    ...['id', 'transaction_id', 'amount', 'refunded_before', 'reason', 'status'],
    ...['gateway_refund_id', 'idempotency_key', 'request_hash', 'correlation_id', 'error'],
    ...['created_at', 'updated_at'],
  ],
  outbox: [
    ...['id', 'transaction_id', 'type', 'payload', 'correlation_id', 'created_at'],
    ...['leased_until', 'attempts', 'next_attempt_at', 'done_at'],
  ],
  deliveries: [
    ...['id', 'outbox_id', 'endpoint', 'status', 'attempts', 'leased_until'],
    ...['next_attempt_at', 'last_status', 'last_error', 'created_at', 'delivered_at'],
  ],
  alerts: [
    ...['id', 'kind', 'subject', 'gateway', 'transaction_id', 'detail', 'created_at'],
    ...['acknowledged_at', 'acknowledged_by', 'gateway_reference'],
  ],
} as const satisfies Columns

/**
 * In the order in which rows refer to each other; empty where nothing changed. Updates come first:
 * a new row may take over a name that must be unique, from a row that gives it up.
 */
export const saveOf = (rows: WorkingSet): Statement[] =>
  TABLES.flatMap((name) => {
    const { inserted, updated } = rows.changesOf(name)
    return [...updatesOf(name, updated), ...insertOf(name, inserted)]
  })

function insertOf(name: TableName, rows: readonly TableRow[]): Statement[] {
  if (rows.length === 0) return []
  const columns: readonly string[] = COLUMNS[name]
  const values = columns.map((_, at) => `value ->> ${at}`)
  const sql = `INSERT INTO ${TABLE[name]} (${columns.join(', ')})
    SELECT ${values.join(', ')} FROM json_each(:rows)`
  return [statement(sql, { rows: toJson(rows, columns) })]
}

function updatesOf(
  name: TableName,
  updated: readonly { before: TableRow; after: TableRow }[],
): Statement[] {
  const together = new Map<string, TableRow[]>()
  for (const { before, after } of updated) {
    const changed = COLUMNS[name].filter(
      (column) => valueIn(before, column) !== valueIn(after, column),
    )
    if (changed.length === 0) continue
    const key = changed.join()
    together.set(key, [...(together.get(key) ?? []), after])
  }
  return [...together].map(([key, rows]) => {
    const columns = key.split(',')
    const values = columns.map((column, at) => `${column} = v ->> ${at + 1}`)
    const sql = `UPDATE ${TABLE[name]} SET ${values.join(', ')}
      FROM (SELECT value AS v FROM json_each(:rows)) WHERE id = v ->> 0`
    return statement(sql, { rows: toJson(rows, ['id', ...columns]) })
  })
}

const valueIn = (row: TableRow, column: string): unknown =>
  (row as unknown as Record<string, unknown>)[column]

/** Half a surrogate pair has no UTF-8: for one of them the server refuses the whole batch. */
const toJson = (rows: readonly TableRow[], columns: readonly string[]): string =>
  JSON.stringify(
    rows.map((row) =>
      columns.map((column) => {
        const value = valueIn(row, column)
        return typeof value === 'string' ? value.toWellFormed() : value
      }),
    ),
  )
