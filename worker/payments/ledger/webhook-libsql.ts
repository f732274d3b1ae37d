// A webhook's event: recorded, judged, applied and told in one batch. Sent again, it finds its own
// row and changes nothing.

import { ulid } from 'ulid'
import { cameFrom, eventOf, type PaymentStatus, UNPAID_ENDS } from '../status.ts'
import type { Audience } from '../telling/events.ts'
import { type Statement, statement } from './database-libsql.ts'
import { type Arrival, LEASE_MS, type Outcome, type Recorded } from './ledger.ts'
import { text, toUntold, transactionJson, UNTOLD_COLUMNS, UNTOLD_DELIVERY } from './rows-libsql.ts'
import type { Unit } from './unit-libsql.ts'

export function webhookUnit(arrival: Arrival, audience: Audience): Unit<Recorded> {
  const { id, payload, receivedAt: now } = arrival
  const args = {
    id,
    gateway: payload.gateway,
    event_id: payload.eventId,
    gtid: payload.gatewayTransactionId || null,
    extref: payload.externalReferenceId || null,
    reference: payload.reference || null,
    to: payload.status,
    amount: payload.amount,
    currency: payload.currency,
    policy: arrival.onMismatch,
    alert: payload.alert ?? null,
    error: payload.error ? JSON.stringify(payload.error) : null,
    raw: payload.raw,
    correlation_id: arrival.correlationId ?? null,
    occurred_at: payload.occurredAt,
    now,
  }
  return {
    statements: [
      statement(recordSql(payload.status), args),
      ...applied({ id, to: payload.status, alert: payload.alert !== undefined }, audience, now),
      statement(ANSWER, args),
    ],
    read(results) {
      const row = results.at(-1)?.[0]
      if (!row) throw new Error('the event is not there after it was recorded')
      const untold = toUntold(row)
      return {
        outcome: row.mine === 1 ? (text(row.outcome) as Outcome) : 'duplicate',
        isMismatch: row.mismatch === 1,
        ...(row.transaction_id !== null && { transactionId: text(row.transaction_id) }),
        untold: untold ? [untold] : [],
      }
    },
  }
}

/**
 * What follows the statement that gave the event its outcome, and must stand right after it: each
 * of the first two asks whether the one before it changed a row, which is what makes a repetition
 * harmless.
 */
export function applied(
  event: { id: string; to: PaymentStatus; alert: boolean },
  audience: Audience,
  now: number,
): Statement[] {
  const { id, to } = event
  if (event.alert) {
    const alert = [ALERT_EVENT, FAIL_REFUND, FORGET_CHECK]
    return alert.map((sql) => statement(sql, { id, now }))
  }
  if (to === 'Pending') return []
  const type = eventOf(to)
  const done = audience.hasListeners(type) ? null : now
  const statements = [
    statement(MOVE, { id, now }),
    statement(TELL, { id, type, now, until: now + LEASE_MS, done }),
  ]
  if (audience.endpoint !== undefined) statements.push(deliver(id, audience.endpoint, now))
  if (to === 'Paid') statements.push(statement(ALERT_PAID, { id, now, second_id: ulid(now) }))
  if (to === 'Refunded' || to === 'PartiallyRefunded') {
    statements.push(statement(SETTLE_REFUND, { id, now }))
  }
  return statements
}

/** The delivery of an event that this batch may have told. */
export const deliver = (outboxId: string, endpoint: string, now: number): Statement =>
  statement(DELIVER, { id: outboxId, endpoint, now, until: now + LEASE_MS })

const list = (statuses: readonly PaymentStatus[]) => statuses.map((name) => `'${name}'`).join(', ')

/** `e` stands for where the event's values are: parameters of a call, or a parked row. */
export interface EventValues {
  amount: string
  currency: string
  policy: string
  alert: string
}

const isOther = ({ amount, currency }: EventValues) =>
  `(t.amount <> ${amount} OR t.currency <> ${currency})`

/** 1 when `to` is Paid, with another amount or currency than was asked for. */
export const mismatchSql = (to: PaymentStatus, values: EventValues): string =>
  to === 'Paid' ? `t.id IS NOT NULL AND ${isOther(values)}` : '0'

/** The graph as SQL: what becomes of a transaction `t` that is told to be `to`. */
export function outcomeSql(to: PaymentStatus, values: EventValues): string {
  const from = cameFrom(to)
  const illegal =
    to === 'Paid'
      ? `CASE WHEN t.status IN (${list(UNPAID_ENDS)}) THEN 'late_payment' ELSE 'illegal' END`
      : `'illegal'`
  return `CASE WHEN t.id IS NULL THEN 'parked'
    WHEN ${values.alert} IS NOT NULL THEN 'unchanged'
    ${from.includes(to) ? '' : `WHEN t.status = '${to}' THEN 'unchanged'`}
    WHEN t.status NOT IN (${list(from)}) THEN ${illegal}
    ${to === 'Paid' ? `WHEN ${values.policy} = 'reject' AND ${isOther(values)} THEN 'rejected'` : ''}
    ELSE 'applied' END`
}

/** By the gateway's name, then by ours, then by the order's newest row that has no name yet. */
export const matchSql = (gateway: string, gtid: string, extref: string, reference: string) =>
  `COALESCE(
    (SELECT id FROM payment_transactions
      WHERE gateway = ${gateway} AND gateway_transaction_id = ${gtid}),
    (SELECT id FROM payment_transactions
      WHERE gateway = ${gateway} AND external_reference_id = ${extref}),
    (SELECT id FROM payment_transactions
      WHERE gateway = ${gateway} AND reference = ${reference} AND gateway_transaction_id IS NULL
      ORDER BY id DESC LIMIT 1))`

const PARAMETERS = { amount: ':amount', currency: ':currency', policy: ':policy', alert: ':alert' }
const RECORD = new Map<PaymentStatus, string>()

function recordSql(to: PaymentStatus): string {
  const known = RECORD.get(to)
  if (known !== undefined) return known
  const sql = `INSERT INTO payment_webhook_events (id, gateway, event_id, gateway_transaction_id,
      external_reference_id, reference, transaction_id, from_status, to_status, amount, currency,
      mismatch, outcome, alert, error, raw, correlation_id, occurred_at, received_at)
    SELECT :id, :gateway, :event_id, :gtid, :extref, :reference, t.id, t.status, :to, :amount,
      :currency, ${mismatchSql(to, PARAMETERS)}, ${outcomeSql(to, PARAMETERS)}, :alert, :error, :raw,
      :correlation_id, :occurred_at, :now
    FROM (SELECT 1) LEFT JOIN payment_transactions t
      ON t.id = ${matchSql(':gateway', ':gtid', ':extref', ':reference')}
    WHERE true ON CONFLICT (gateway, event_id) DO NOTHING`
  RECORD.set(to, sql)
  return sql
}

// A part that comes back after all was given back counts up to the amount, never beyond it. A check
// that is due stays due only for a refund under way that this event does not cover.
const MOVE = `UPDATE payment_transactions AS t SET status = e.to_status, updated_at = :now,
    gateway_transaction_id = COALESCE(t.gateway_transaction_id, e.gateway_transaction_id),
    paid_at = CASE WHEN e.to_status = 'Paid' THEN e.occurred_at ELSE t.paid_at END,
    error = COALESCE(e.error, t.error),
    refunded_amount = CASE e.to_status WHEN 'Refunded' THEN t.amount
      WHEN 'PartiallyRefunded' THEN MAX(t.refunded_amount, MIN(e.amount, t.amount))
      ELSE t.refunded_amount END,
    next_check_at = CASE WHEN e.to_status = 'PartiallyRefunded' AND EXISTS (
      SELECT 1 FROM payment_refunds r WHERE r.transaction_id = t.id
        AND r.status IN ('claimed', 'accepted') AND r.refunded_before + r.amount > e.amount)
      THEN t.next_check_at END
  FROM payment_webhook_events e
  WHERE changes() = 1 AND e.id = :id AND e.outcome = 'applied' AND t.id = e.transaction_id`

const TELL = `INSERT INTO payment_outbox (id, transaction_id, type, payload, correlation_id,
    created_at, leased_until, next_attempt_at, done_at)
  SELECT e.id, t.id, :type, json_object('transaction', ${transactionJson('t')}),
    COALESCE(e.correlation_id, t.correlation_id), :now, :until, :now, :done
  FROM payment_webhook_events e JOIN payment_transactions t ON t.id = e.transaction_id
  WHERE changes() = 1 AND e.id = :id AND e.from_status <> e.to_status`

const DELIVER = `INSERT INTO payment_deliveries (id, outbox_id, endpoint, leased_until,
    next_attempt_at, created_at)
  SELECT id, id, :endpoint, :until, :now, :now FROM payment_outbox WHERE id = :id
  ON CONFLICT DO NOTHING`

const DETAIL = `json_object('eventId', e.event_id, 'amount', e.amount, 'currency', e.currency,
  'expectedAmount', t.amount, 'expectedCurrency', t.currency, 'error', json(e.error))`

const ALERT_PAID = `INSERT INTO payment_alerts (id, kind, subject, gateway, transaction_id, detail,
    created_at)
  SELECT CASE kind WHEN 'late_payment' THEN e.id ELSE :second_id END, kind, e.id, e.gateway, t.id,
    ${DETAIL}, :now
  FROM payment_webhook_events e JOIN payment_transactions t ON t.id = e.transaction_id
    JOIN (SELECT 'late_payment' AS kind UNION ALL SELECT 'amount_mismatch')
  WHERE e.id = :id AND (e.outcome = 'late_payment' OR e.mismatch = 1)
    AND CASE kind WHEN 'late_payment' THEN e.outcome = kind ELSE e.mismatch = 1 END
  ON CONFLICT (kind, subject) DO NOTHING`

const ALERT_EVENT = `INSERT INTO payment_alerts (id, kind, subject, gateway, transaction_id, detail,
    created_at)
  SELECT e.id, e.alert, e.id, e.gateway, t.id, ${DETAIL}, :now
  FROM payment_webhook_events e JOIN payment_transactions t ON t.id = e.transaction_id
  WHERE e.id = :id ON CONFLICT (kind, subject) DO NOTHING`

// Only when the alert is new: repeated, it would fail a refund that began in between.
const FAIL_REFUND = `UPDATE payment_refunds AS r SET status = 'failed', updated_at = :now,
    error = e.error
  FROM payment_webhook_events e
  WHERE changes() = 1 AND e.id = :id AND r.transaction_id = e.transaction_id
    AND r.status IN ('claimed', 'accepted')`

const FORGET_CHECK = `UPDATE payment_transactions SET next_check_at = NULL, updated_at = :now
  WHERE changes() = 1 AND id = (SELECT transaction_id FROM payment_webhook_events WHERE id = :id)`

const SETTLE_REFUND = `UPDATE payment_refunds AS r SET status = 'succeeded', updated_at = :now
  FROM payment_webhook_events e
  WHERE e.id = :id AND e.outcome = 'applied' AND r.transaction_id = e.transaction_id
    AND r.status IN ('claimed', 'accepted')
    AND (e.to_status = 'Refunded' OR e.amount >= r.refunded_before + r.amount)`

const ANSWER = `SELECT e.id = :id AS mine, e.outcome, e.mismatch, e.transaction_id,
    ${UNTOLD_COLUMNS}
  FROM payment_webhook_events e LEFT JOIN payment_outbox o ON o.id = e.id AND e.id = :id
    ${UNTOLD_DELIVERY}
  WHERE e.gateway = :gateway AND e.event_id = :event_id`
