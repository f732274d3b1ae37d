// What an event does once its outcome stands: the move, its lifecycle event, the alerts, and the
// refund that it settles.

import { eventOf, type PaymentStatus } from '../status.ts'
import type { Audience } from '../telling/events.ts'
import { type Statement, statement } from './database-libsql.ts'
import { tell, tellSql } from './outbox-libsql.ts'
import { alertId } from './upkeep-libsql.ts'

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
  const statements = [
    statement(MOVE, { id, now }),
    ...tell(TELL, { id, outbox_id: id }, { type, audience, now }),
  ]
  if (to === 'Paid') statements.push(statement(ALERT_PAID, { id, now, second_id: alertId(now) }))
  if (to === 'Refunded' || to === 'PartiallyRefunded') {
    statements.push(statement(SETTLE_REFUND, { id, now }))
  }
  return statements
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

const TELL = tellSql({
  correlationId: 'COALESCE(e.correlation_id, t.correlation_id)',
  from: `payment_webhook_events e JOIN payment_transactions t ON t.id = e.transaction_id
    WHERE changes() = 1 AND e.id = :id AND e.from_status <> e.to_status`,
})

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
