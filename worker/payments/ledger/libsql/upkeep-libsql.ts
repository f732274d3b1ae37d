// Alerts, which a person acknowledges, and the forgetting of old events.

import { monotonicFactory } from 'ulid'
import type { AlertKind } from '../../domain/alerts.ts'
import { type Statement, statement } from './database-libsql.ts'
import type { Unit } from './unit-libsql.ts'

/** Lists are ordered by id: those of one millisecond rise as well. */
export const alertId = monotonicFactory()

/**
 * Raises an alert of the transaction `t`, once for each kind and subject. `from` names the tables
 * and says when; `detail` may be an expression over them that holds `:detail`.
 */
export const raise = (
  from: string,
  alert: { kind: AlertKind; subject: string; detail: string; now: number },
  detail = ':detail',
): Statement =>
  statement(
    `INSERT INTO payment_alerts (id, kind, subject, gateway, transaction_id, detail, created_at)
      SELECT :id, :kind, :subject, t.gateway, t.id, ${detail}, :now FROM ${from}
      ON CONFLICT (kind, subject) DO UPDATE SET acknowledged_at = NULL, acknowledged_by = NULL,
        detail = excluded.detail, created_at = excluded.created_at
      WHERE acknowledged_at IS NOT NULL`,
    { ...alert, id: alertId(alert.now) },
  )

export const acknowledgeUnit = (id: string, by: string, now: number): Unit<boolean> => ({
  statements: [
    statement(
      `UPDATE payment_alerts SET acknowledged_at = :now, acknowledged_by = :by
        WHERE id = :id AND acknowledged_at IS NULL`,
      { id, by, now },
    ),
    statement('SELECT id FROM payment_alerts WHERE id = :id', { id }),
  ],
  read: ([, rows = []]) => rows.length > 0,
})

/** A parked event may be somebody's money: it stays until its payment appears. */
export const forgetUnit = (before: number, limit: number): Unit<number> => ({
  statements: [
    statement(
      `DELETE FROM payment_webhook_events WHERE id IN (SELECT id FROM payment_webhook_events
        WHERE received_at < :before AND outcome <> 'parked' ORDER BY received_at LIMIT :limit)
        RETURNING id`,
      { before, limit },
    ),
  ],
  read: ([rows = []]) => rows.length,
})
