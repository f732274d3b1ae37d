// What events do once their outcome stands: the move, its lifecycle event, the alerts, and the
// refund that it settles. Set by set: preparing a statement costs the server more than running it.

import type { Subscribers } from '../../domain/events.ts'
import type { PaymentStatus } from '../../domain/status.ts'
import { type Statement, statement } from './database-libsql.ts'
import { expectedCurrencySql, expectedSql, isUnderWay, PAID, typeSql } from './judgement-libsql.ts'
import { tell, tellSql } from './outbox-libsql.ts'
import { alertId } from './upkeep-libsql.ts'

export interface JudgedEvent {
  id: string
  to: PaymentStatus
  alert: boolean
  /** Of the refund that failed, where the event tells it. */
  refundId?: string
}

/**
 * For events of which no two are about the same transaction. Each statement asks for itself what is
 * done already, so that a repetition changes nothing. `now`: null for the time when each came.
 */
export function follow(
  events: readonly JudgedEvent[],
  subscribers: Subscribers,
  now: number | null,
): Statement[] {
  const ids = events.map(({ id }) => id)
  const args = { ids: JSON.stringify(ids), now }
  const some = (...to: PaymentStatus[]) => events.some((event) => to.includes(event.to))
  const moved = [statement(MOVE, args), statement(NAME, args)]
  const statements = [...moved, ...tell(TELL, ids, args, subscribers)]
  if (some('PartiallyRefunded')) statements.push(statement(RAISE_AMOUNT, args))
  if (some('Refunded', 'PartiallyRefunded')) {
    statements.push(statement(SETTLE_REFUND, args), statement(ASK_OF_REFUND, args))
  }
  const hasAlert = events.some(({ alert }) => alert)
  const named = { ...args, refunds: JSON.stringify(refundsOf(events)) }
  if (hasAlert) {
    statements.push(statement(FAIL_REFUND, named), statement(FORGET_CHECK, args))
  }
  if (hasAlert || some('Paid', 'Refunded', 'PartiallyRefunded')) {
    const alertIds = events.flatMap(() => [alertId(), alertId()])
    statements.push(statement(ALERT, { ...named, alert_ids: JSON.stringify(alertIds) }))
  }
  return statements
}

/** The refunds that events tell of, by the events' ids. */
const refundsOf = (events: readonly JudgedEvent[]) =>
  Object.fromEntries(
    events.flatMap(({ id, refundId }) => (refundId === undefined ? [] : [[id, refundId]])),
  )

const NOW = 'COALESCE(:now, e.received_at)'
const OURS = 'e.id IN (SELECT value FROM json_each(:ids))'
const UNDER_WAY = `r.transaction_id = t.id AND ${isUnderWay('r')}`

/** A refund came before its payment, and was illegal then: only the gateway knows what holds. */
export const hasEarlyRefund = (transaction: string): string =>
  `EXISTS (SELECT 1 FROM payment_webhook_events early
    WHERE early.transaction_id = ${transaction}.id AND early.outcome = 'illegal'
      AND early.to_status IN ('Refunded', 'PartiallyRefunded'))`

// The event that a change of status fires is stored with it, so where there is one the change was
// made. A check that is due stays due only for a refund under way that this event does not cover.
const MOVE = `UPDATE payment_transactions AS t SET status = e.to_status, updated_at = ${NOW},
    paid_at = iif(e.to_status = 'Paid', e.occurred_at, t.paid_at),
    paid_amount = iif(e.to_status = 'Paid', e.amount, t.paid_amount),
    paid_currency = iif(e.to_status = 'Paid', e.currency, t.paid_currency),
    error = COALESCE(e.error, t.error),
    refunded_amount = CASE e.to_status WHEN 'Refunded' THEN ${PAID}
      WHEN 'PartiallyRefunded' THEN MAX(t.refunded_amount, MIN(e.amount, ${PAID}))
      ELSE t.refunded_amount END,
    next_check_at = CASE WHEN e.to_status = 'PartiallyRefunded' AND EXISTS (SELECT 1
      FROM payment_refunds r WHERE ${UNDER_WAY} AND r.refunded_before + r.amount > e.amount)
      THEN t.next_check_at
      WHEN e.to_status = 'Paid' AND ${hasEarlyRefund('t')} THEN ${NOW} END
  FROM payment_webhook_events e
  WHERE ${OURS} AND e.outcome = 'applied' AND e.from_status <> e.to_status
    AND t.id = e.transaction_id AND t.status = e.from_status
    AND NOT EXISTS (SELECT 1 FROM payment_outbox o WHERE o.id = e.id)`

// Not in MOVE: whatever column an UPDATE names has its place in the index written anew, also with
// the same value.
const NAME = `UPDATE payment_transactions AS t SET gateway_transaction_id = e.gateway_transaction_id
  FROM payment_webhook_events e
  WHERE ${OURS} AND e.outcome = 'applied' AND t.id = e.transaction_id
    AND t.gateway_transaction_id IS NULL AND e.gateway_transaction_id IS NOT NULL`

const TELL = tellSql({
  id: 'e.id',
  type: typeSql('e.to_status'),
  now: NOW,
  correlationId: 'COALESCE(e.correlation_id, t.correlation_id)',
  from: `payment_webhook_events e JOIN payment_transactions t ON t.id = e.transaction_id
    WHERE ${OURS} AND e.outcome = 'applied' AND e.from_status <> e.to_status`,
})

// Another part: no change of status, and no event. It counts up to what was paid, and never down.
const RAISE_AMOUNT = `UPDATE payment_transactions AS t
  SET refunded_amount = MIN(e.amount, ${PAID}), updated_at = ${NOW},
    next_check_at = CASE WHEN EXISTS (SELECT 1
      FROM payment_refunds r WHERE ${UNDER_WAY} AND r.refunded_before + r.amount > e.amount)
      THEN t.next_check_at END
  FROM payment_webhook_events e
  WHERE ${OURS} AND e.outcome = 'applied' AND e.from_status = e.to_status
    AND t.id = e.transaction_id AND t.status = e.to_status
    AND MIN(e.amount, ${PAID}) > t.refunded_amount`

// A refund that begins later is not covered: what was given back before it counts into its sum.
const SETTLE_REFUND = `UPDATE payment_refunds AS r SET status = 'succeeded', updated_at = ${NOW}
  FROM payment_webhook_events e
  WHERE ${OURS} AND e.outcome = 'applied' AND r.transaction_id = e.transaction_id
    AND ${isUnderWay('r')} AND (e.to_status = 'Refunded'
      OR e.to_status = 'PartiallyRefunded' AND e.amount >= r.refunded_before + r.amount)`

const ASK_OF_REFUND = `UPDATE payment_transactions AS t SET next_check_at = ${NOW}
  FROM payment_webhook_events e
  WHERE ${OURS} AND e.outcome = 'illegal' AND t.id = e.transaction_id AND t.status = 'Pending'
    AND e.to_status IN ('Refunded', 'PartiallyRefunded')`

// The alert is raised after it: where there is one, this was done, and another refund may be under
// way by now.
const IS_NEW_ALERT = `e.alert IS NOT NULL AND NOT EXISTS (SELECT 1 FROM payment_alerts a
  WHERE a.kind = e.alert AND a.subject = e.id)`

// Another refund may have failed: an earlier one, or one that was made at the gateway itself.
const FAIL_REFUND = `UPDATE payment_refunds AS r
  SET status = 'failed', updated_at = ${NOW}, error = e.error
  FROM payment_webhook_events e
  WHERE ${OURS} AND ${IS_NEW_ALERT} AND r.transaction_id = e.transaction_id
    AND ${isUnderWay('r')}
    AND COALESCE(:refunds ->> e.id, r.id) IN (r.id, r.gateway_refund_id)`

// A refund that came before its payment is still to be asked about.
const FORGET_CHECK = `UPDATE payment_transactions AS t SET next_check_at = NULL
  FROM payment_webhook_events e
  WHERE ${OURS} AND ${IS_NEW_ALERT} AND t.id = e.transaction_id AND t.status <> 'Pending'
    AND NOT EXISTS (SELECT 1 FROM payment_refunds r WHERE ${UNDER_WAY})
    AND NOT (t.status = 'Paid' AND ${hasEarlyRefund('t')})`

const TOLD = { from: 'e.from_status', to: 'e.to_status', amount: 'e.amount' }

// An event may raise two: late, and with another amount. The patch leaves out what is NULL.
const ALERT = `INSERT INTO payment_alerts (id, kind, subject, gateway, transaction_id, detail,
    created_at)
  SELECT :alert_ids ->> (2 * each.key + nth),
    iif(nth = 1, 'amount_mismatch', COALESCE(e.alert, 'late_payment')), e.id, e.gateway, t.id,
    json_patch('{}', json_object('reference', t.reference, 'eventId', e.event_id,
      'amount', e.amount, 'currency', e.currency,
      'expectedAmount', ${expectedSql(TOLD)},
      'expectedCurrency', ${expectedCurrencySql(TOLD.from)},
      'said', iif(e.to_status = 'Paid', NULL, e.to_status),
      'refundId', :refunds ->> e.id, 'error', json(e.error))), ${NOW}
  FROM json_each(:ids) each JOIN payment_webhook_events e ON e.id = each.value
    JOIN payment_transactions t ON t.id = e.transaction_id
    JOIN (SELECT 0 AS nth UNION ALL SELECT 1)
  WHERE iif(nth = 1, e.mismatch = 1, e.alert IS NOT NULL OR e.outcome = 'late_payment')
  ON CONFLICT (kind, subject) DO NOTHING`
