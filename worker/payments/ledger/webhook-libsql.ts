// A webhook's event: recorded, judged, applied and told in one batch. Sent again, it finds its own
// row and changes nothing.

import type { PaymentStatus } from '../status.ts'
import type { Audience } from '../telling/events.ts'
import { statement } from './database-libsql.ts'
import { matchSql, mismatchSql, outcomeSql } from './judgement-libsql.ts'
import type { Arrival, Outcome, Recorded } from './ledger.ts'
import { applied } from './move-libsql.ts'
import { text, toUntold, UNTOLD_COLUMNS, UNTOLD_DELIVERY } from './rows-libsql.ts'
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

const PARAMETERS = { amount: ':amount', currency: ':currency', policy: ':policy', alert: ':alert' }
const RECORD = new Map<PaymentStatus, string>()

function recordSql(to: PaymentStatus): string {
  const known = RECORD.get(to)
  if (known !== undefined) return known
  const sql = `INSERT INTO payment_webhook_events (id, gateway, event_id, gateway_transaction_id,
      external_reference_id, reference, transaction_id, from_status, to_status, amount, currency,
      on_mismatch, mismatch, outcome, alert, error, raw, correlation_id, occurred_at, received_at)
    SELECT :id, :gateway, :event_id, :gtid, :extref, :reference, t.id, t.status, :to, :amount,
      :currency, :policy, ${mismatchSql(to, PARAMETERS)}, ${outcomeSql(to, PARAMETERS)}, :alert,
      :error, :raw, :correlation_id, :occurred_at, :now
    FROM (SELECT 1) LEFT JOIN payment_transactions t
      ON t.id = ${matchSql(':gateway', ':gtid', ':extref', ':reference')}
    WHERE true ON CONFLICT (gateway, event_id) DO NOTHING`
  RECORD.set(to, sql)
  return sql
}

const ANSWER = `SELECT e.id = :id AS mine, e.outcome, e.mismatch, e.transaction_id,
    ${UNTOLD_COLUMNS}
  FROM payment_webhook_events e LEFT JOIN payment_outbox o ON o.id = e.id AND e.id = :id
    ${UNTOLD_DELIVERY}
  WHERE e.gateway = :gateway AND e.event_id = :event_id`
