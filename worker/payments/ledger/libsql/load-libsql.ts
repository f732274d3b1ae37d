// Loads the rows that a group of operations needs, by their keys. There is no rule here.
//
// `json_each(…) k CROSS JOIN t WHERE …` keeps the keys as the outer loop. With `JOIN … ON` the
// planner scans the table instead: 292 ms for a group of 64 among 36,000 payments, and not 8.

import type { Due, Keys } from '../operation.ts'
import { type Changes, type EarlierEvent, type TableName, WorkingSet } from '../working-set.ts'
import { DELIVERY_DUE, LISTENERS_DUE } from './due-libsql.ts'
import { type Row, type Statement, statement, type Value } from './statement-libsql.ts'
import { COLUMNS, TABLE } from './tables-libsql.ts'

/** Statements of one transaction, and how their results are read together. */
export interface Load {
  statements: Statement[]
  read(results: readonly (readonly Row[])[]): WorkingSet
}

export function loadOf(keys: Keys): Load {
  const { transactions, ...others } = lookupsOf(keys)
  const left: Partial<Record<TableName, string[]>> = {
    webhookEvents: ['raw'],
    outbox: keys.dueEvents ? [] : ['payload'],
  }
  const parts = [
    ...(transactions ? [paymentsPart(transactions, keys)] : []),
    ...entriesOf(others).map(([name, lookups]) => rowsPart(name, lookups, left[name])),
  ]
  return {
    statements: parts.map((part) => part.statement),
    read(results) {
      const loaded: Changes = {}
      const events: EarlierEvent[] = []
      for (const [at, part] of parts.entries()) {
        part.read(JSON.parse(String(results[at]?.[0]?.rows ?? '[]')), loaded, events)
      }
      return new WorkingSet(loaded, events)
    },
  }
}

/** Statements that refuse the save if these keys find a row that was not loaded. */
export const guardsOf = (keys: Keys, rows: WorkingSet): Statement[] =>
  entriesOf(lookupsOf(keys)).map(([name, lookups]) => {
    const sql = `WITH found(id) AS (${union(lookups)}) UPDATE payment_ledger SET batch = NULL
      WHERE EXISTS (SELECT 1 FROM found WHERE id NOT IN (SELECT value FROM json_each(:loaded)))`
    const loaded = JSON.stringify(rows.loadedIds(name))
    return statementOf(sql, [...lookups, { sql: '', args: { loaded } }])
  })

interface Part {
  statement: Statement
  /** `rows`: each as the values of its columns. */
  read(rows: unknown[][], into: Changes, events: EarlierEvent[]): void
}

/** SQL that finds ids of a table, with the keys that it looks for. */
interface Lookup {
  sql: string
  args: Record<string, Value>
}

type TableLookups = Partial<Record<Exclude<TableName, 'refunds'>, Lookup[]>>

/** Without tables in which nothing is looked for. */
function lookupsOf(keys: Keys): TableLookups {
  const lookups: TableLookups = {
    transactions: transactionLookups(keys),
    webhookEvents: webhookEventLookups(keys),
    outbox: outboxLookups(keys),
    deliveries: deliveryLookups(keys),
    alerts: alertLookups(keys),
  }
  return Object.fromEntries(Object.entries(lookups).filter(([, list]) => list.length > 0))
}

const entriesOf = <Lookups extends TableLookups>(lookups: Lookups) =>
  Object.entries(lookups) as [keyof Lookups & keyof TableLookups, Lookup[]][]

const keyed = (sql: string, name: string, keys: readonly unknown[] | undefined): Lookup[] =>
  keys === undefined || keys.length === 0 ? [] : [{ sql, args: { [name]: JSON.stringify(keys) } }]

const isGiven = (...values: unknown[]): boolean => values.every((value) => value != null)

function transactionLookups({ payments = [], orders = [], ...keys }: Keys): Lookup[] {
  const pairs = (name: Exclude<keyof (typeof payments)[number], 'id' | 'gateway'>) =>
    payments.flatMap((key) => (isGiven(key.gateway, key[name]) ? [[key.gateway, key[name]]] : []))
  const ids = payments.flatMap(({ id }) => id ?? [])
  const charges = keys.charges?.map(({ id, gateway_transaction_id: name }) => [id, name])
  const by = (condition: string, list: string) =>
    `SELECT t.id FROM json_each(:${list}) k CROSS JOIN payment_transactions t WHERE ${condition}`
  const named = (column: string, list: string) =>
    by(`t.gateway = k.value ->> 0 AND t.${column} = k.value ->> 1`, list)
  return [
    ...keyed(by('t.id = k.value', 'ids'), 'ids', ids),
    ...keyed(
      named('gateway_transaction_id', 'gateway_ids'),
      'gateway_ids',
      pairs('gateway_transaction_id'),
    ),
    ...keyed(
      named('external_reference_id', 'external_ids'),
      'external_ids',
      pairs('external_reference_id'),
    ),
    ...keyed(named('idempotency_key', 'keys'), 'keys', pairs('idempotency_key')),
    ...keyed(
      named('reference', 'orders'),
      'orders',
      orders.map(({ gateway, reference }) => [gateway, reference]),
    ),
    // The plus keeps SQLite from the index of ids, which would find every payment without one.
    ...keyed(
      `${named('reference', 'unnamed')} AND +t.gateway_transaction_id IS NULL`,
      'unnamed',
      pairs('reference'),
    ),
    ...keyed(CHARGES, 'charges', charges),
    ...keyed(OF_REFUNDS, 'refunds', keys.refunds),
    ...keyed(OF_OUTBOX, 'of_outbox', keys.paymentsOfOutbox),
    ...due(DUE_CHECKS, keys.dueChecks),
  ]
}

/** The charge, and the payment that has the id which its gateway gave it. */
const CHARGES = `SELECT t.id FROM json_each(:charges) k CROSS JOIN payment_transactions t
    WHERE t.id = k.value ->> 0
  UNION SELECT o.id FROM json_each(:charges) k CROSS JOIN payment_transactions t
    CROSS JOIN payment_transactions o
    WHERE t.id = k.value ->> 0 AND o.gateway = t.gateway
      AND o.gateway_transaction_id = k.value ->> 1`

const OF_REFUNDS = `SELECT r.transaction_id FROM json_each(:refunds) k
  CROSS JOIN payment_refunds r WHERE r.id = k.value`

const OF_OUTBOX = `SELECT o.transaction_id FROM json_each(:of_outbox) k
  CROSS JOIN payment_outbox o WHERE o.id = k.value`

const DUE_CHECKS = `SELECT id FROM (SELECT id FROM payment_transactions
  WHERE next_check_at <= :now ORDER BY next_check_at, id LIMIT :limit)`

const due = (sql: string, asked: Due | undefined): Lookup[] =>
  asked ? [{ sql, args: { now: asked.now, limit: asked.limit } }] : []

/** A payment's refunds and its earlier events are nested in its row. */
function paymentsPart(lookups: Lookup[], keys: Keys): Part {
  // The request is long, and only a check needs it.
  const columns = columnsOf('transactions', 't', keys.dueChecks ? [] : ['request'])
  const sql = `SELECT json_group_array(json_array(${columns},
      json((SELECT json_group_array(json_array(${columnsOf('refunds', 'r')}))
        FROM payment_refunds r WHERE r.transaction_id = t.id)),
      json((SELECT json_group_array(json_array(e.id, e.outcome, e.to_status))
        FROM payment_webhook_events e WHERE e.transaction_id = t.id)))) AS rows
    FROM payment_transactions t WHERE t.id IN (${union(lookups)})`
  return {
    statement: statementOf(sql, lookups),
    read(rows, into, events) {
      const count = COLUMNS.transactions.length
      into.transactions = rows.map((values) => toRow('transactions', values))
      into.refunds = rows.flatMap((values) =>
        (values[count] as unknown[][]).map((refund) => toRow('refunds', refund)),
      )
      for (const values of rows) {
        for (const [id, outcome, to_status] of values[count + 1] as unknown[][]) {
          events.push({ id, transaction_id: values[0], outcome, to_status } as EarlierEvent)
        }
      }
    },
  }
}

function webhookEventLookups(keys: Keys): Lookup[] {
  const known = keys.webhookEvents?.map(({ gateway, event_id }) => [gateway, event_id])
  const charges = keys.charges?.map(({ id, gateway_transaction_id: name }) => [id, name])
  return [
    ...keyed(
      `SELECT e.id FROM json_each(:known) k CROSS JOIN payment_webhook_events e
        WHERE e.gateway = k.value ->> 0 AND e.event_id = k.value ->> 1`,
      'known',
      known,
    ),
    ...keyed(
      `SELECT e.id FROM json_each(:ids) k CROSS JOIN payment_webhook_events e
        WHERE e.id = k.value`,
      'ids',
      keys.webhookEventIds,
    ),
    ...keyed(PARKED, 'charges', charges),
  ]
}

/** Parked under any id of the charge, or under the one that its gateway has just given it. */
const PARKED = `SELECT e.id FROM json_each(:charges) k CROSS JOIN payment_transactions t
    CROSS JOIN payment_webhook_events e
  WHERE t.id = k.value ->> 0 AND e.outcome = 'parked' AND e.gateway = t.gateway
    AND (e.gateway_transaction_id = COALESCE(t.gateway_transaction_id, k.value ->> 1)
      OR e.external_reference_id = t.external_reference_id OR e.reference = t.reference)`

const outboxLookups = (keys: Keys): Lookup[] => [
  ...keyed(
    `SELECT o.id FROM json_each(:outbox) k CROSS JOIN payment_outbox o WHERE o.id = k.value`,
    'outbox',
    keys.outbox,
  ),
  ...due(DUE_EVENTS, keys.dueEvents),
]

const DUE_EVENTS = `SELECT id FROM (
  SELECT o.id, o.created_at FROM payment_outbox o WHERE ${LISTENERS_DUE}
  UNION SELECT d.outbox_id, d.created_at FROM payment_deliveries d WHERE ${DELIVERY_DUE}
  ORDER BY 2, 1 LIMIT :limit)`

const deliveryLookups = (keys: Keys): Lookup[] => [
  ...keyed(
    `SELECT d.id FROM json_each(:deliveries) k CROSS JOIN payment_deliveries d
      WHERE d.id = k.value`,
    'deliveries',
    keys.deliveries,
  ),
  ...due(
    `SELECT d.id FROM payment_deliveries d WHERE d.outbox_id IN (${DUE_EVENTS})`,
    keys.dueEvents,
  ),
]

const alertLookups = (keys: Keys): Lookup[] => [
  ...keyed(
    `SELECT a.id FROM json_each(:alerts) k CROSS JOIN payment_alerts a
      WHERE a.kind = k.value ->> 0 AND a.subject = k.value ->> 1`,
    'alerts',
    keys.alerts?.map(({ kind, subject }) => [kind, subject]),
  ),
  ...keyed(
    `SELECT a.id FROM json_each(:alert_ids) k CROSS JOIN payment_alerts a WHERE a.id = k.value`,
    'alert_ids',
    keys.alertIds,
  ),
]

function rowsPart(
  name: Exclude<TableName, 'transactions' | 'refunds'>,
  lookups: Lookup[],
  left: readonly string[] = [],
): Part {
  const sql = `SELECT json_group_array(json_array(${columnsOf(name, 't', left)})) AS rows
    FROM ${TABLE[name]} t WHERE t.id IN (${union(lookups)})`
  return {
    statement: statementOf(sql, lookups),
    read(rows, into) {
      Object.assign(into, { [name]: rows.map((values) => toRow(name, values)) })
    },
  }
}

const union = (lookups: Lookup[]): string => lookups.map(({ sql }) => sql).join('\nUNION ')

const statementOf = (sql: string, lookups: Lookup[]): Statement =>
  statement(sql, Object.assign({}, ...lookups.map(({ args }) => args)))

/** `left`: columns that are not read, as NULL. */
const columnsOf = (name: TableName, alias: string, left: readonly string[] = []): string =>
  COLUMNS[name].map((column) => (left.includes(column) ? 'NULL' : `${alias}.${column}`)).join(', ')

/** All in one JSON text: the client takes some 20 µs to build a row of so many columns. */
function toRow<Name extends TableName>(
  name: Name,
  values: readonly unknown[],
): NonNullable<Changes[Name]>[number] {
  const row: Record<string, unknown> = {}
  for (const [at, column] of COLUMNS[name].entries()) row[column] = values[at]
  return row as unknown as NonNullable<Changes[Name]>[number]
}
