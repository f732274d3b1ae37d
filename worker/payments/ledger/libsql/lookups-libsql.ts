// Which rows the keys of a group of operations find, as SQL that selects ids. No rule is here.
//
// `json_each(…) k CROSS JOIN t WHERE …` keeps the keys as the outer loop. With `JOIN … ON` the
// planner scans the table instead: forty times as long among 36,000 payments.

import { type DueClaim, type EventClaim, HURRIED_AT_ONCE, type Keys } from '../../acts/operation.ts'
import type { TableName } from '../../domain/rows.ts'
import {
  CHECK_DUE,
  DELIVERY_DUE,
  LISTENERS_DUE,
  PARKED_WITH_PAYMENT,
  WAITS_FOR,
} from './due-libsql.ts'
import type { Value } from './statement-libsql.ts'

/** SQL that selects ids of a table, with the keys that it looks for. */
export interface Lookup {
  sql: string
  args: Record<string, Value>
}

type LookedUp = Exclude<TableName, 'refunds' | 'disputes' | 'audit' | 'movements'>

/** By table. Refunds and disputes are found with their payments. */
export function lookupsOf(keys: Keys): (Lookup & { table: LookedUp })[] {
  const lookups: Record<LookedUp, Lookup[]> = {
    transactions: transactionLookups(keys),
    chargeKeys: chargeKeyLookups(keys),
    webhookEvents: webhookEventLookups(keys),
    outbox: outboxLookups(keys),
    deliveries: deliveryLookups(keys),
    alerts: alertLookups(keys),
  }
  return Object.entries(lookups).flatMap(([table, all]) =>
    all.length === 0
      ? []
      : {
          table: table as LookedUp,
          sql: withOrders(table, all.map(({ sql }) => sql).join('\nUNION ')),
          args: Object.assign({}, ...all.map(({ args }) => args)),
        },
  )
}

/**
 * With each payment, the others of its order that may have been paid, at any gateway: an order
 * must not be paid twice in silence.
 */
const withOrders = (table: string, sql: string): string =>
  table === 'transactions'
    ? `WITH found(id) AS MATERIALIZED (${sql}) SELECT id FROM found
  UNION SELECT o.id FROM found CROSS JOIN payment_transactions t CROSS JOIN payment_transactions o
    WHERE t.id = found.id AND o.reference = t.reference AND o.is_repeat = 0
      AND ((o.paid_at IS NOT NULL AND o.refunded_amount < COALESCE(o.paid_amount, o.amount))
        OR o.alert IS NOT NULL
        OR EXISTS (SELECT 1 FROM payment_alerts a
          WHERE a.transaction_id = o.id AND a.kind = 'late_payment'))`
    : sql

const keyed = (sql: string, name: string, keys: readonly unknown[] | undefined): Lookup[] =>
  keys === undefined || keys.length === 0 ? [] : [{ sql, args: { [name]: JSON.stringify(keys) } }]

const isGiven = (...values: unknown[]): boolean => values.every((value) => value != null)

function transactionLookups({ payments = [], checks = [], orders = [], ...keys }: Keys): Lookup[] {
  const pairs = (name: Exclude<keyof (typeof payments)[number], 'id' | 'gateway'>) =>
    payments.flatMap((key) => (isGiven(key.gateway, key[name]) ? [[key.gateway, key[name]]] : []))
  const ids = [...payments.flatMap(({ id }) => id ?? []), ...checks]
  const charges = keys.charges?.map(({ id, gateway_transaction_id: given }) => [id, given])
  const by = (condition: string, list: string) =>
    `SELECT t.id FROM json_each(:${list}) k CROSS JOIN payment_transactions t WHERE ${condition}`
  const byPair = (column: string, list: string) =>
    by(`t.gateway = k.value ->> 0 AND t.${column} = k.value ->> 1`, list)
  return [
    ...keyed(by('t.id = k.value', 'ids'), 'ids', ids),
    ...keyed(
      byPair('gateway_transaction_id', 'gateway_ids'),
      'gateway_ids',
      pairs('gateway_transaction_id'),
    ),
    ...keyed(
      byPair('external_reference_id', 'external_ids'),
      'external_ids',
      pairs('external_reference_id'),
    ),
    ...keyed(byPair('idempotency_key', 'keys'), 'keys', idempotencyKeys(payments)),
    ...keyed(FURTHER_KEYS('transaction_id'), 'keys', idempotencyKeys(payments)),
    ...keyed(
      byPair('reference', 'orders'),
      'orders',
      orders.map(({ gateway, reference }) => [gateway, reference]),
    ),
    // The plus keeps SQLite from the index of ids, which would find every payment without one.
    ...keyed(
      `${byPair('reference', 'without_id')} AND +t.gateway_transaction_id IS NULL`,
      'without_id',
      pairs('reference'),
    ),
    ...keyed(CHARGES, 'charges', charges),
    ...keyed(paymentsOf(PARKED), 'charges', charges),
    ...keyed(paymentsOf(PARKED_BY_ID), 'parked', keys.parked),
    ...keyed(OF_REFUNDS, 'refunds', keys.refunds),
    ...keyed(OF_OUTBOX, 'of_outbox', keys.paymentsOfOutbox),
    ...keyed(OF_ALERTS, 'of_alerts', keys.alertIds),
    ...keyed(OF_GONE('transaction_id'), 'deliveries', keys.deliveries),
    ...due(DUE_CHECKS, keys.dueChecks),
  ]
}

const idempotencyKeys = (payments: NonNullable<Keys['payments']>) =>
  payments.flatMap(({ gateway, idempotency_key: key }) => (key == null ? [] : [[gateway, key]]))

const FURTHER_KEYS = (column: string) => `SELECT n.${column} FROM json_each(:keys) k
  CROSS JOIN payment_charge_keys n
  WHERE n.gateway = k.value ->> 0 AND n.idempotency_key = k.value ->> 1`

const chargeKeyLookups = ({ payments = [], chargeKeysOf }: Keys): Lookup[] => [
  ...keyed(FURTHER_KEYS('id'), 'keys', idempotencyKeys(payments)),
  ...keyed(
    `SELECT n.id FROM json_each(:keys_of) k CROSS JOIN payment_charge_keys n
      WHERE n.transaction_id = k.value`,
    'keys_of',
    chargeKeysOf,
  ),
]

/** The charge, and the payment that has the id which its gateway gave it. */
const CHARGES = `SELECT t.id FROM json_each(:charges) k CROSS JOIN payment_transactions t
    WHERE t.id = k.value ->> 0
  UNION SELECT o.id FROM json_each(:charges) k CROSS JOIN payment_transactions t
    CROSS JOIN payment_transactions o
    WHERE t.id = k.value ->> 0 AND o.gateway = t.gateway
      AND o.gateway_transaction_id = k.value ->> 1`

/** The payments that have an id of these webhook events, as match.ts decides between them. */
function paymentsOf(events: string): string {
  const by = (condition: string) => `SELECT t.id FROM found CROSS JOIN payment_webhook_events e
    CROSS JOIN payment_transactions t
    WHERE e.id = found.id AND t.gateway = e.gateway AND ${condition}`
  return `SELECT id FROM (WITH found(id) AS MATERIALIZED (${events})
  ${by('t.gateway_transaction_id = e.gateway_transaction_id')}
  UNION ${by('t.external_reference_id = e.external_reference_id')}
  UNION ${by('t.reference = e.reference AND +t.gateway_transaction_id IS NULL')})`
}

const OF_REFUNDS = `SELECT r.transaction_id FROM json_each(:refunds) k
  CROSS JOIN payment_refunds r WHERE r.id = k.value`

const OF_OUTBOX = `SELECT o.transaction_id FROM json_each(:of_outbox) k
  CROSS JOIN payment_outbox o WHERE o.id = k.value`

const OF_ALERTS = `SELECT a.transaction_id FROM json_each(:of_alerts) k
  CROSS JOIN payment_alerts a WHERE a.id = k.value`

/** The open alerts about the endpoints of these deliveries. */
const OF_GONE = (column: string) => `SELECT a.${column} FROM json_each(:deliveries) k
  CROSS JOIN payment_deliveries d CROSS JOIN payment_alerts a
  WHERE d.id = k.value AND a.kind = 'endpoint_gone' AND a.subject = d.endpoint`

const DUE_CHECKS = `SELECT id FROM (SELECT id FROM payment_transactions
  WHERE ${CHECK_DUE} ORDER BY next_check_at, id LIMIT :limit)`

const due = (sql: string, asked: DueClaim | Required<EventClaim> | undefined): Lookup[] => {
  if (!asked) return []
  const { now, limit } = asked
  return [{ sql, args: { now, limit, ...('dueBy' in asked && { due_by: asked.dueBy }) } }]
}

function webhookEventLookups(keys: Keys): Lookup[] {
  const known = keys.webhookEvents?.map(({ gateway, event_id }) => [gateway, event_id])
  const charges = keys.charges?.map(({ id, gateway_transaction_id: given }) => [id, given])
  return [
    ...keyed(
      `SELECT e.id FROM json_each(:known) k CROSS JOIN payment_webhook_events e
        WHERE e.gateway = k.value ->> 0 AND e.event_id = k.value ->> 1`,
      'known',
      known,
    ),
    ...keyed(PARKED_BY_ID, 'parked', keys.parked),
    ...(keys.dueParked ? [{ sql: DUE_PARKED, args: { ...keys.dueParked } }] : []),
    ...keyed(PARKED, 'charges', charges),
  ]
}

const parkedBy = (condition: string) => `SELECT e.id FROM json_each(:charges) k
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

const PARKED_BY_ID = `SELECT e.id FROM json_each(:parked) k CROSS JOIN payment_webhook_events e
  WHERE e.id = k.value`

const DUE_PARKED = `SELECT id FROM (SELECT e.id FROM payment_webhook_events e
  WHERE ${PARKED_WITH_PAYMENT} ORDER BY e.occurred_at, e.id LIMIT :limit)`

const outboxLookups = (keys: Keys): Lookup[] => [
  ...keyed(
    `SELECT d.outbox_id FROM json_each(:redelivered) k CROSS JOIN payment_deliveries d
      WHERE d.id = k.value`,
    'redelivered',
    keys.redelivered,
  ),
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
  ...keyed(
    `SELECT d.id FROM json_each(:redelivered) k CROSS JOIN payment_deliveries d
      WHERE d.id = k.value`,
    'redelivered',
    keys.redelivered,
  ),
  ...keyed(
    `SELECT id FROM (SELECT d.id FROM json_each(:waiting_for) k CROSS JOIN payment_deliveries d
      WHERE ${WAITS_FOR} ORDER BY d.created_at, d.id LIMIT ${HURRIED_AT_ONCE})`,
    'waiting_for',
    keys.waitingFor?.map(({ endpoint, now, since }) => [endpoint, now, since]),
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
  ...keyed(OF_GONE('id'), 'deliveries', keys.deliveries),
]
