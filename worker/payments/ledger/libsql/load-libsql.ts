// How the rows of a group of acts are loaded, by their keys. No rule is here. The rows of a table
// are one JSON text: the client takes some 20 µs to build a row of so many columns.
//
// `json_each(…) k CROSS JOIN t WHERE …` keeps the keys as the outer loop. With `JOIN … ON` the
// planner scans the table instead: forty times as long among 36,000 payments.

import {
  type EventKey,
  HURRIED_AT_ONCE,
  type Key,
  type Lookups,
  type Stored,
  WorkingSet,
} from '../../acts/act.ts'
import { type Rows, TABLES, type TableName, type TableRow } from '../../domain/rows.ts'
import {
  CHECK_DUE,
  DELIVERY_DUE,
  LISTENERS_DUE,
  PARKED_WITH_PAYMENT,
  WAITS_FOR,
} from './due-libsql.ts'
import { type Row, type Statement, statement, type Value } from './statement-libsql.ts'

/** In the order in which they are loaded. Refunds and disputes are found with their payments. */
const LOADED = [
  'transactions',
  'chargeKeys',
  'webhookEvents',
  'outbox',
  'deliveries',
  'alerts',
] as const satisfies readonly TableName[]
type Loaded = (typeof LOADED)[number]

const payments = (list: keyof Lookups, condition: string) =>
  `SELECT t.id FROM json_each(:${list}) k CROSS JOIN payment_transactions t WHERE ${condition}`
const byPair = (list: keyof Lookups, column: string) =>
  payments(list, `t.gateway = k.value ->> 0 AND t.${column} = k.value ->> 1`)
/** `column` of the row with this id. */
const byId = (list: keyof Lookups, table: Loaded | 'refunds', column = 'id') =>
  `SELECT r.${column} FROM json_each(:${list}) k CROSS JOIN ${TABLES[table].name} r
    WHERE r.id = k.value ->> 0`

const furtherKeys = (column: string) => `SELECT n.${column} FROM json_each(:chargeKey) k
  CROSS JOIN payment_charge_keys n
  WHERE n.gateway = k.value ->> 0 AND n.idempotency_key = k.value ->> 1`

/** The charge, and the payment that has the id which its gateway gave it. */
const CHARGE = `SELECT t.id FROM json_each(:charge) k CROSS JOIN payment_transactions t
    WHERE t.id = k.value ->> 0
  UNION SELECT o.id FROM json_each(:charge) k CROSS JOIN payment_transactions t
    CROSS JOIN payment_transactions o
    WHERE t.id = k.value ->> 0 AND o.gateway = t.gateway
      AND o.gateway_transaction_id = k.value ->> 1`

const parkedBy = (condition: string) => `SELECT e.id FROM json_each(:charge) k
  CROSS JOIN payment_transactions t CROSS JOIN payment_webhook_events e
  WHERE t.id = k.value ->> 0 AND e.outcome = 'parked' AND e.gateway = t.gateway AND ${condition}`

/**
 * Parked under any id of the charge, or under the one that its gateway has just given it. With OR
 * the planner reads all that is parked for the gateway: fifty times as long for 64 charges beside
 * 10,000 parked events.
 */
const PARKED = [
  parkedBy('e.gateway_transaction_id = COALESCE(t.gateway_transaction_id, k.value ->> 1)'),
  parkedBy('e.external_reference_id = t.external_reference_id'),
  parkedBy('e.reference = t.reference'),
].join('\n  UNION ')

/** The payments that have an id of these events, as acts/webhook.ts decides between them. */
function paymentsOf(events: string): string {
  const by = (condition: string) => `SELECT t.id FROM found CROSS JOIN payment_webhook_events e
    CROSS JOIN payment_transactions t
    WHERE e.id = found.id AND t.gateway = e.gateway AND ${condition}`
  return `SELECT id FROM (WITH found(id) AS MATERIALIZED (${events})
  ${by('t.gateway_transaction_id = e.gateway_transaction_id')}
  UNION ${by('t.external_reference_id = e.external_reference_id')}
  UNION ${by('t.reference = e.reference AND +t.gateway_transaction_id IS NULL')})`
}

/** The open alerts about the endpoints of these deliveries. */
const gone = (column: string) => `SELECT a.${column} FROM json_each(:delivery) k
  CROSS JOIN payment_deliveries d CROSS JOIN payment_alerts a
  WHERE d.id = k.value ->> 0 AND a.kind = 'endpoint_gone' AND a.subject = d.endpoint`

const DUE_EVENTS = `SELECT id FROM (
  SELECT o.id, o.created_at FROM payment_outbox o WHERE ${LISTENERS_DUE}
  UNION SELECT d.outbox_id, d.created_at FROM payment_deliveries d WHERE ${DELIVERY_DUE}
  ORDER BY 2, 1 LIMIT :limit)`

/** The ids that each lookup finds, by table. */
const LOOKUPS: Readonly<Record<keyof Lookups, Partial<Record<Loaded, string>>>> = {
  payment: { transactions: byId('payment', 'transactions') },
  check: { transactions: byId('check', 'transactions') },
  gatewayId: { transactions: byPair('gatewayId', 'gateway_transaction_id') },
  externalId: { transactions: byPair('externalId', 'external_reference_id') },
  // The plus keeps SQLite from the index of ids, which would find every payment without one.
  unnamed: {
    transactions: `${byPair('unnamed', 'reference')} AND +t.gateway_transaction_id IS NULL`,
  },
  chargeKey: {
    transactions: `${byPair('chargeKey', 'idempotency_key')}
  UNION ${furtherKeys('transaction_id')}`,
    chargeKeys: furtherKeys('id'),
  },
  order: { transactions: byPair('order', 'reference') },
  keysOf: {
    chargeKeys: `SELECT n.id FROM json_each(:keysOf) k CROSS JOIN payment_charge_keys n
      WHERE n.transaction_id = k.value ->> 0`,
  },
  charge: { transactions: `${CHARGE}\n  UNION ${paymentsOf(PARKED)}`, webhookEvents: PARKED },
  refund: { transactions: byId('refund', 'refunds', 'transaction_id') },
  event: {
    webhookEvents: `SELECT e.id FROM json_each(:event) k CROSS JOIN payment_webhook_events e
      WHERE e.gateway = k.value ->> 0 AND e.event_id = k.value ->> 1`,
  },
  parked: {
    transactions: paymentsOf(byId('parked', 'webhookEvents')),
    webhookEvents: byId('parked', 'webhookEvents'),
  },
  outbox: { outbox: byId('outbox', 'outbox') },
  paymentOf: { transactions: byId('paymentOf', 'outbox', 'transaction_id') },
  delivery: {
    transactions: gone('transaction_id'),
    deliveries: byId('delivery', 'deliveries'),
    alerts: gone('id'),
  },
  redelivered: {
    outbox: byId('redelivered', 'deliveries', 'outbox_id'),
    deliveries: byId('redelivered', 'deliveries'),
  },
  waiting: {
    deliveries: `SELECT id FROM (SELECT d.id FROM json_each(:waiting) k
      CROSS JOIN payment_deliveries d
      WHERE ${WAITS_FOR} ORDER BY d.created_at, d.id LIMIT ${HURRIED_AT_ONCE})`,
  },
  alert: {
    alerts: `SELECT a.id FROM json_each(:alert) k CROSS JOIN payment_alerts a
      WHERE a.kind = k.value ->> 0 AND a.subject = k.value ->> 1`,
  },
  alertId: {
    transactions: byId('alertId', 'alerts', 'transaction_id'),
    alerts: byId('alertId', 'alerts'),
  },
  dueChecks: {
    transactions: `SELECT id FROM (SELECT id FROM payment_transactions
      WHERE ${CHECK_DUE} ORDER BY next_check_at, id LIMIT :limit)`,
  },
  dueEvents: {
    outbox: DUE_EVENTS,
    deliveries: `SELECT d.id FROM payment_deliveries d WHERE d.outbox_id IN (${DUE_EVENTS})`,
  },
  dueParked: {
    webhookEvents: `SELECT id FROM (SELECT e.id FROM payment_webhook_events e
      WHERE ${PARKED_WITH_PAYMENT} ORDER BY e.occurred_at, e.id LIMIT :limit)`,
  },
}
const NAMES = Object.keys(LOOKUPS) as (keyof Lookups)[]

/**
 * With each payment, the others of its order that may have been paid, at any gateway: an order
 * must not be paid twice in silence.
 */
const withOrders = (sql: string): string => `WITH found(id) AS MATERIALIZED (${sql})
  SELECT id FROM found
  UNION SELECT o.id FROM found CROSS JOIN payment_transactions t CROSS JOIN payment_transactions o
    WHERE t.id = found.id AND o.reference = t.reference AND o.is_repeat = 0
      AND ((o.paid_at IS NOT NULL AND o.refunded_amount < COALESCE(o.paid_amount, o.amount))
        OR o.alert IS NOT NULL
        OR EXISTS (SELECT 1 FROM payment_alerts a
          WHERE a.transaction_id = o.id AND a.kind = 'late_payment'))`

/** Events of which only the keys are left. */
const FORGOTTEN = `SELECT e.gateway, e.event_id FROM json_each(:event) k
  CROSS JOIN payment_event_keys e WHERE e.gateway = k.value ->> 0 AND e.event_id = k.value ->> 1`

/** Statements of one transaction, and how their results are read together. */
interface Load {
  statements: Statement[]
  read(results: readonly (readonly Row[])[], stored: Omit<Stored, 'forgotten'>): WorkingSet
}

export function loadOf(keys: readonly Key[]): Load {
  const byName = Map.groupBy(keys, ([name]) => name)
  const parts = LOADED.flatMap((table) => {
    const names = NAMES.filter((name) => byName.has(name) && LOOKUPS[name][table] !== undefined)
    if (names.length === 0) return []
    const ids = names.map((name) => LOOKUPS[name][table]).join('\nUNION ')
    const args = Object.assign({}, ...names.map((name) => argsOf(name, byName.get(name) ?? [])))
    const part = table === 'transactions' ? paymentsPart(ids, byName) : rowsPart(table, ids, byName)
    return { ...part, statement: statement(part.sql, args) }
  })
  const events = byName.get('event')
  const forgotten = events ? [statement(FORGOTTEN, argsOf('event', events))] : []
  return {
    statements: [...parts.map((part) => part.statement), ...forgotten],
    read(results, stored) {
      const loaded: { [Name in TableName]?: TableRow[] } = {}
      for (const [at, part] of parts.entries()) {
        const read = part.read(JSON.parse(String(results[at]?.[0]?.rows ?? '[]')))
        // Alerts are found with their payments, and by themselves.
        for (const [name, rows] of read) loaded[name] = [...(loaded[name] ?? []), ...rows]
      }
      const bare = (results[parts.length] ?? []) as unknown as EventKey[]
      return new WorkingSet({ ...stored, forgotten: bare }, loaded as Partial<Rows>)
    },
  }
}

function argsOf(name: keyof Lookups, keys: readonly Key[]): Record<string, Value> {
  const all = keys.map(([, ...by]) => by)
  const claims = all.flatMap(([by]) => (typeof by === 'object' && by !== null ? [by] : []))
  if (claims.length === 0) return { [name]: JSON.stringify(all) }
  // The limit for all of them together. Each takes its own share when it decides.
  const limit = claims.reduce((sum, claim) => sum + claim.limit, 0)
  const latest = (time: 'now' | 'dueBy') =>
    Math.max(...claims.map((claim) => Number({ now: 0, dueBy: 0, ...claim }[time])))
  return { limit, now: latest('now'), due_by: latest('dueBy') }
}

type KeysByName = ReadonlyMap<keyof Lookups, unknown>

interface Part {
  sql: string
  /** `rows`: each as the values of its columns. */
  read(rows: unknown[][]): [TableName, TableRow[]][]
}

const NESTED = ['refunds', 'disputes', 'alerts'] as const

/** A payment's refunds, disputes and alerts are nested in its row. */
function paymentsPart(ids: string, keys: KeysByName): Part {
  // The request is long, and only a check needs it, and a charge that is compared with it.
  const isRequestNeeded = keys.has('dueChecks') || keys.has('check') || keys.has('order')
  const columns = columnsOf('transactions', 't', isRequestNeeded ? undefined : 'request')
  const nested = NESTED.map(
    (name) => `json((SELECT json_group_array(json_array(${columnsOf(name, 'n')}))
        FROM ${TABLES[name].name} n WHERE n.transaction_id = t.id))`,
  )
  const count = TABLES.transactions.names.length
  return {
    sql: `SELECT json_group_array(json_array(${[columns, ...nested].join()})) AS rows
    FROM payment_transactions t WHERE t.id IN (${withOrders(ids)})`,
    read: (rows) => [
      ['transactions', rows.map(TABLES.transactions.rowOf)],
      ...NESTED.map((name, at): [TableName, TableRow[]] => [
        name,
        rows.flatMap((values) =>
          (values[count + at] as unknown[][]).map((nested) => TABLES[name].rowOf(nested)),
        ),
      ]),
    ],
  }
}

/** The longest column of a row, which is not read: as NULL. */
const LEFT: Partial<Record<Loaded, string>> = { webhookEvents: 'raw', outbox: 'payload' }

function rowsPart(name: Exclude<Loaded, 'transactions'>, ids: string, keys: KeysByName): Part {
  const left = keys.has('dueEvents') && name === 'outbox' ? undefined : LEFT[name]
  return {
    sql: `SELECT json_group_array(json_array(${columnsOf(name, 't', left)})) AS rows
    FROM ${TABLES[name].name} t WHERE t.id IN (${ids})`,
    read: (rows) => [[name, rows.map((values) => TABLES[name].rowOf(values))]],
  }
}

const columnsOf = (name: TableName, alias: string, left?: string): string =>
  TABLES[name].names.map((column) => (column === left ? 'NULL' : `${alias}.${column}`)).join(', ')
