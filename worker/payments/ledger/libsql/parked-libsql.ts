// Events that came before their transaction: found when it has appeared, and then treated by the
// same graph and rules as any other.

import type { Fields } from '../../../shared/log.ts'
import type { Subscribers } from '../../domain/events.ts'
import type { Transaction } from '../../domain/transaction.ts'
import { statement } from './database-libsql.ts'
import { matchSql, mismatchSql, outcomeSql } from './judgement-libsql.ts'
import { follow, type JudgedEvent } from './move-libsql.ts'
import {
  toPending,
  toTransaction,
  transactionColumns,
  UNTOLD_COLUMNS,
  UNTOLD_DELIVERY,
} from './rows-libsql.ts'
import type { Unit } from './unit-libsql.ts'

const MATCH = matchSql(
  'e.gateway',
  'e.gateway_transaction_id',
  'e.external_reference_id',
  'e.reference',
)

const AS_JSON = `json_object('id', e.id, 'to', e.to_status,
  'alert', json(iif(e.alert IS NULL, 'false', 'true')))`

/** A JSON array of what is parked and belongs to the transaction `t`, in the order it occurred. */
export const PARKED_JSON = `(SELECT json_group_array(json(parked)) FROM (
    SELECT ${AS_JSON} AS parked FROM payment_webhook_events e
    WHERE e.outcome = 'parked' AND e.gateway = t.gateway
      AND (e.gateway_transaction_id = t.gateway_transaction_id
        OR e.external_reference_id = t.external_reference_id OR e.reference = t.reference)
      AND ${MATCH} = t.id
    ORDER BY e.occurred_at, e.id))`

/** Whether the transaction of anything that is parked has appeared. */
export const HAS_PARKED = `EXISTS (SELECT 1 FROM payment_webhook_events e
  WHERE e.outcome = 'parked' AND ${MATCH} IS NOT NULL)`

/** Of every transaction, in the order it occurred. */
export const findParkedUnit = (limit: number): Unit<JudgedEvent[]> => ({
  statements: [
    statement(
      `SELECT ${AS_JSON} AS parked FROM payment_webhook_events e
        WHERE e.outcome = 'parked' AND ${MATCH} IS NOT NULL
        ORDER BY e.occurred_at, e.id LIMIT :limit`,
      { limit },
    ),
  ],
  read: ([rows = []]) => rows.map(({ parked }) => JSON.parse(String(parked)) as JudgedEvent),
})

/**
 * Settles these, each on the state that the one before it left. Answers those of another amount
 * than they should be, as fields for the log.
 */
export function parkedUnit(
  events: readonly JudgedEvent[],
  subscribers: Subscribers,
  now: number,
): Unit<Fields[]> {
  const ids = JSON.stringify(events.map(({ id }) => id))
  return {
    statements: [
      ...events.flatMap((event) => [
        statement(SETTLE, { id: event.id }),
        ...follow([event], subscribers, now),
      ]),
      statement(TOLD, { ids, now }),
      statement(MISMATCHES, { ids, now }),
    ],
    read: (results) => (results.at(-1) ?? []).map((row) => ({ ...row })),
    pending: (results) => (results.at(-2) ?? []).flatMap(toPending),
  }
}

/** A transaction as it is, when nothing waits before it. */
export const transactionUnit = (id: string): Unit<Transaction> => ({
  statements: [statement(TRANSACTION, { id })],
  read([rows = []]) {
    const [row] = rows
    if (!row) throw new Error(`there is no transaction ${id}`)
    return toTransaction(row)
  },
})

const TRANSACTION = `SELECT ${transactionColumns('t')} FROM payment_transactions t WHERE t.id = :id`

const VALUES = {
  from: 't.status',
  to: 'e.to_status',
  amount: 'e.amount',
  currency: 'e.currency',
  policy: 'e.on_mismatch',
  alert: 'e.alert',
}

const SETTLE = `UPDATE payment_webhook_events AS e SET transaction_id = t.id,
    from_status = t.status, mismatch = ${mismatchSql(VALUES)}, outcome = ${outcomeSql(VALUES)}
  FROM payment_transactions t
  WHERE e.id = :id AND e.outcome = 'parked' AND t.id = ${MATCH}`

// Only what was stored now: who settled them since they were found tells what they caused.
const TOLD = `SELECT ${UNTOLD_COLUMNS} FROM json_each(:ids) each
    JOIN payment_outbox o ON o.id = each.value AND o.created_at = :now ${UNTOLD_DELIVERY}
  ORDER BY each.key`

const MISMATCHES = `SELECT e.gateway, e.correlation_id AS correlationId, e.event_id AS eventId,
    e.to_status AS status, e.transaction_id AS transactionId, e.outcome, e.amount, e.currency
  FROM json_each(:ids) each JOIN payment_webhook_events e ON e.id = each.value
    JOIN payment_alerts a ON a.kind = 'amount_mismatch' AND a.subject = e.id AND a.created_at = :now
  ORDER BY each.key`
