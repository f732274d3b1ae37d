// The ledger's store on libSQL. Every save is a compare-and-swap on the one row of payment_ledger:
// a save that is late, comes twice, or is another ledger's, stores nothing at all.

import { SchemaMismatch, StaleRows } from '../ledger.ts'
import type { Keys } from '../operation.ts'
import {
  type EventKey,
  type Rows,
  TABLES,
  type TableName,
  type TableRow,
  WorkingSet,
} from '../working-set.ts'
import { type Database, isTransient, reachable } from './database-libsql.ts'
import { type Lookup, lookupsOf } from './lookups-libsql.ts'
import { SCHEMA_VERSION, schemaMismatch } from './schema-version-libsql.ts'
import { insertTexts } from './search-libsql.ts'
import { insertRows, type Row, type Statement, statement, WITH_ROWS } from './statement-libsql.ts'

/** NULL while a migration is under way. */
export const SCHEMA = '(SELECT version FROM payment_schema WHERE step = 0)'

const POSITION = statement(`SELECT batch, installation, ${SCHEMA} AS schema FROM payment_ledger`)

/**
 * First of a save. `batch` may not be NULL: on another number than was loaded, on another schema,
 * or if the row is missing, the statement fails, and with it all of the transaction. So a ledger
 * stops with the first step of a migration, however long it has been awake.
 */
const ADVANCE = `REPLACE INTO payment_ledger (one, batch, installation) VALUES (1,
  (SELECT batch + 1 FROM payment_ledger WHERE batch = :batch AND ${SCHEMA} = ${SCHEMA_VERSION}),
  (SELECT installation FROM payment_ledger))`

export interface Loaded {
  rows: WorkingSet
  /** The number of saves until then. It only rises. */
  batch: number
}

export type Store = ReturnType<typeof libsqlStore>

export function libsqlStore(database: Database) {
  return {
    /** True if a retry may succeed. */
    isTransient,
    /** The rows of these keys, and the number of saves. Rejects with SchemaMismatch. */
    async load(keys: Keys, signal: AbortSignal): Promise<Loaded> {
      const { statements, read } = loadOf(keys)
      const [positions, ...results] = await loadRows(database, [POSITION, ...statements], signal)
      const { batch, installation } = await positionIn(database, positions)
      return { batch, rows: read(results, installation) }
    },
    /**
     * Stores all that changed in the loaded rows, or nothing. Rejects with StaleRows, and stores
     * nothing, when anybody has saved since they were loaded.
     */
    async save({ rows, batch }: Loaded, signal: AbortSignal): Promise<void> {
      try {
        await database.write([statement(ADVANCE, { batch }), ...saveOf(rows)], signal)
      } catch (cause) {
        if (!isRefusal(cause)) throw cause
        throw new StaleRows('the rows are not what is stored now', { cause })
      }
    },
    /**
     * Leaves the bare keys of settled webhook events that are older, and deletes keys of before
     * `keysBefore`; answers how many events, `limit` of each at most.
     */
    async forget(before: number, limit: number, keysBefore?: number): Promise<number> {
      const signal = AbortSignal.timeout(FORGET_WITHIN_MS)
      const statements = [
        statement(KEEP_KEYS, { before, limit }),
        statement(FORGET, { before, limit }),
        ...(keysBefore === undefined ? [] : [statement(FORGET_KEYS, { keysBefore, limit })]),
      ]
      const [, rows = []] = await reachable(database.write(statements, signal))
      return rows.length
    },
  }
}

/** As long as the group commit gives one of its groups. */
const FORGET_WITHIN_MS = 6_000

/** A parked event may be a payer's money: it stays until its payment appears. */
const OLD = `FROM payment_webhook_events WHERE received_at < :before AND outcome <> 'parked'
  AND ${SCHEMA} = ${SCHEMA_VERSION} ORDER BY received_at, id LIMIT :limit`

const KEEP_KEYS = `INSERT INTO payment_event_keys (gateway, event_id, received_at)
  SELECT gateway, event_id, received_at ${OLD}`

const FORGET = `DELETE FROM payment_webhook_events WHERE id IN (SELECT id ${OLD}) RETURNING id`

/** They came in the order of their age: without an index, and without reading all of them. */
const FORGET_KEYS = `DELETE FROM payment_event_keys WHERE received_at < :keysBefore
  AND ${SCHEMA} = ${SCHEMA_VERSION}
  AND rowid IN (SELECT rowid FROM payment_event_keys ORDER BY rowid LIMIT :limit)`

async function loadRows(
  database: Database,
  statements: readonly Statement[],
  signal: AbortSignal,
): Promise<Row[][]> {
  try {
    return await database.load(statements, signal)
  } catch (error) {
    if (isTransient(error)) throw error
    throw (await schemaMismatch(database, error)) ?? withoutLedger(error)
  }
}

async function positionIn(database: Database, [row]: readonly Row[] = []) {
  if (row?.schema === SCHEMA_VERSION) {
    return { batch: Number(row.batch), installation: String(row.installation) }
  }
  throw (await schemaMismatch(database, undefined)) ?? new SchemaMismatch(LACKS_LEDGER)
}

const LACKS_LEDGER = 'The database lacks payment_ledger or its row: run signalbox migrate.'

const withoutLedger = (cause: unknown): unknown =>
  /no such table: payment_ledger/.test(String(cause))
    ? new SchemaMismatch(LACKS_LEDGER, { cause })
    : cause

const isRefusal = (error: unknown): boolean => /payment_ledger\.batch/.test(String(error))

type Columns = { readonly [Name in TableName]: readonly (keyof Rows[Name][number] & string)[] }

const TABLE: Readonly<Record<TableName, string>> = {
  transactions: 'payment_transactions',
  chargeKeys: 'payment_charge_keys',
  webhookEvents: 'payment_webhook_events',
  refunds: 'payment_refunds',
  outbox: 'payment_outbox',
  deliveries: 'payment_deliveries',
  alerts: 'payment_alerts',
  audit: 'payment_audit',
  movements: 'payment_movements',
}

const COLUMNS = {
  // biome-ignore format: several names a line.
  transactions: [
    'id', 'gateway', 'reference', 'attempt', 'gateway_transaction_id',
    'external_reference_id', 'idempotency_key', 'request_hash', 'status', 'amount',
    'currency', 'refunded_amount', 'refund_revision', 'refunds_read_at', 'description',
    'metadata', 'request', 'redirect_url',
    'charge_answer', 'expires_at', 'called_by', 'called_until', 'next_check_at',
    'correlation_id', 'error', 'created_at', 'updated_at', 'paid_at', 'paid_amount',
    'paid_currency', 'is_repeat', 'unreadable_event', 'alert', 'installation',
    'last_check_at', 'last_check_status',
  ],
  chargeKeys: ['id', 'gateway', 'idempotency_key', 'transaction_id'],
  // biome-ignore format: several names a line.
  webhookEvents: [
    'id', 'gateway', 'event_id', 'gateway_transaction_id', 'external_reference_id',
    'reference', 'transaction_id', 'from_status', 'to_status', 'amount', 'currency',
    'on_mismatch', 'mismatch', 'outcome', 'alert', 'error', 'refunds', 'raw', 'correlation_id',
    'occurred_at', 'received_at',
  ],
  // biome-ignore format: several names a line.
  refunds: [
    'id', 'transaction_id', 'amount', 'reason', 'status', 'gateway_refund_id',
    'idempotency_key', 'request_hash', 'asked_by', 'correlation_id', 'error', 'created_at',
    'updated_at',
  ],
  // biome-ignore format: several names a line.
  outbox: [
    'id', 'transaction_id', 'type', 'payload', 'correlation_id', 'created_at',
    'leased_until', 'attempts', 'next_attempt_at', 'done_at',
  ],
  // biome-ignore format: several names a line.
  deliveries: [
    'id', 'outbox_id', 'endpoint', 'status', 'attempts', 'leased_until',
    'next_attempt_at', 'last_status', 'last_error', 'created_at', 'delivered_at',
  ],
  // biome-ignore format: several names a line.
  alerts: [
    'id', 'kind', 'subject', 'gateway', 'transaction_id', 'detail', 'created_at',
    'acknowledged_at', 'acknowledged_by', 'gateway_reference',
  ],
  audit: ['id', 'at', 'action', 'subject', 'transaction_id', 'about', 'amount', 'detail'],
  // biome-ignore format: several names a line.
  movements: [
    'id', 'kind', 'transaction_id', 'gateway', 'refund_id', 'amount', 'currency', 'booked_at',
    'occurred_at', 'estimated',
  ],
} as const satisfies Columns

// How changed rows are saved: one INSERT a table, and one UPDATE for each set of columns that
// changed together. It names only those: every index over a named column is written again, also
// with the same value. And a value that this code cannot read stays as it is.

/**
 * In the order in which rows refer to each other; empty where nothing changed. Updates come first:
 * a new row may take over a name that must be unique, from a row that gives it up.
 */
const saveOf = (rows: WorkingSet): Statement[] => [
  ...TABLES.flatMap((name) => {
    const { inserted, updated } = rows.changesOf(name)
    return [...updatesOf(name, updated), ...insertOf(name, inserted)]
  }),
  ...insertTexts(rows.changesOf('transactions').inserted),
]

function insertOf(name: TableName, rows: readonly TableRow[]): Statement[] {
  if (rows.length === 0) return []
  const columns: readonly string[] = COLUMNS[name]
  // A call that is repeated has asked once.
  const again = name === 'audit' ? ' ON CONFLICT (id) DO NOTHING' : ''
  return [statement(insertRows(TABLE[name], columns) + again, { rows: toJson(rows, columns) })]
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
    const sql = `${WITH_ROWS} UPDATE ${TABLE[name]} SET ${values.join(', ')}
      FROM rows WHERE id = v ->> 0`
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
        if (typeof value === 'string') return value.toWellFormed()
        // A save that cannot be stored is refused whole, and what causes that then fails alone.
        if (typeof value === 'number' && !Number.isSafeInteger(value)) {
          throw new RangeError(`${column} is ${value}, which is not a whole number`)
        }
        return value
      }),
    ),
  )

// How the rows of a group of operations are loaded, by their keys.

/** Statements of one transaction, and how their results are read together. */
export interface Load {
  statements: Statement[]
  read(results: readonly (readonly Row[])[], installation: string): WorkingSet
}

function loadOf(keys: Keys): Load {
  const { webhookEvents: asked = [] } = keys
  const forgotten = asked.length > 0 ? [forgottenOf(asked)] : []
  const left: Partial<Record<TableName, string[]>> = {
    webhookEvents: ['raw'],
    outbox: keys.dueEvents ? [] : ['payload'],
  }
  const parts = lookupsOf(keys).map(({ table, ...lookup }) =>
    table === 'transactions' ? paymentsPart(lookup, keys) : rowsPart(table, lookup, left[table]),
  )
  return {
    statements: [...parts.map((part) => part.statement), ...forgotten],
    read(results, installation) {
      const loaded: Partial<Rows> = {}
      for (const [at, part] of parts.entries()) {
        part.read(JSON.parse(String(results[at]?.[0]?.rows ?? '[]')), loaded)
      }
      const bare = (results[parts.length] ?? []) as unknown as EventKey[]
      return new WorkingSet({ installation, forgotten: bare }, loaded)
    },
  }
}

const forgottenOf = (asked: readonly EventKey[]): Statement =>
  statement(
    `SELECT e.gateway, e.event_id FROM json_each(:known) k CROSS JOIN payment_event_keys e
      WHERE e.gateway = k.value ->> 0 AND e.event_id = k.value ->> 1`,
    { known: JSON.stringify(asked.map(({ gateway, event_id }) => [gateway, event_id])) },
  )

interface Part {
  statement: Statement
  /** `rows`: each as the values of its columns. */
  read(rows: unknown[][], into: Partial<Rows>): void
}

/** A payment's refunds and its alerts are nested in its row. */
function paymentsPart(lookup: Lookup, keys: Keys): Part {
  // The request is long, and only a check needs it, and a charge that is compared with it.
  const { dueChecks, checks = [], orders = [] } = keys
  const isAsked = dueChecks !== undefined || checks.length + orders.length > 0
  const columns = columnsOf('transactions', 't', isAsked ? [] : ['request'])
  const sql = `SELECT json_group_array(json_array(${columns},
      json((SELECT json_group_array(json_array(${columnsOf('refunds', 'r')}))
        FROM payment_refunds r WHERE r.transaction_id = t.id)),
      json((SELECT json_group_array(json_array(${columnsOf('alerts', 'a')}))
        FROM payment_alerts a WHERE a.transaction_id = t.id)))) AS rows
    FROM payment_transactions t WHERE t.id IN (${lookup.sql})`
  return {
    statement: statement(sql, lookup.args),
    read(rows, into) {
      const count = COLUMNS.transactions.length
      into.transactions = rows.map((values) => toRow('transactions', values))
      into.refunds = rows.flatMap((values) =>
        (values[count] as unknown[][]).map((refund) => toRow('refunds', refund)),
      )
      into.alerts = rows.flatMap((values) =>
        (values[count + 1] as unknown[][]).map((alert) => toRow('alerts', alert)),
      )
    },
  }
}

function rowsPart(
  name: Exclude<TableName, 'transactions' | 'refunds' | 'audit' | 'movements'>,
  lookup: Lookup,
  left: readonly string[] = [],
): Part {
  const sql = `SELECT json_group_array(json_array(${columnsOf(name, 't', left)})) AS rows
    FROM ${TABLE[name]} t WHERE t.id IN (${lookup.sql})`
  return {
    statement: statement(sql, lookup.args),
    read(rows, into) {
      Object.assign(into, {
        [name]: [...(into[name] ?? []), ...rows.map((values) => toRow(name, values))],
      })
    },
  }
}

/** `left`: columns that are not read, as NULL. */
const columnsOf = (name: TableName, alias: string, left: readonly string[] = []): string =>
  COLUMNS[name].map((column) => (left.includes(column) ? 'NULL' : `${alias}.${column}`)).join(', ')

/** All in one JSON text: the client takes some 20 µs to build a row of so many columns. */
function toRow<Name extends TableName>(name: Name, values: readonly unknown[]): Rows[Name][number] {
  const row: Record<string, unknown> = {}
  for (const [at, column] of COLUMNS[name].entries()) row[column] = values[at]
  return row as unknown as Rows[Name][number]
}
