// Webhooks' events: recorded, judged, applied and told in one batch, all of a group together. Sent
// again, each finds its own row and changes nothing.

import type { PendingEvent, Subscribers } from '../../domain/events.ts'
import type { Outcome } from '../../domain/status.ts'
import type { Arrival, Recorded } from '../ledger.ts'
import { type Row, statement } from './database-libsql.ts'
import { matchSql, mismatchSql, outcomeSql } from './judgement-libsql.ts'
import { follow } from './move-libsql.ts'
import { text, toPending, UNTOLD_COLUMNS, UNTOLD_DELIVERY } from './rows-libsql.ts'
import type { Unit } from './unit-libsql.ts'

export interface WebhooksRecorded {
  /** Undefined for one that is to come again. */
  recorded: (Recorded | undefined)[]
  pending: PendingEvent[]
}

/**
 * Of those that are about one transaction only the first is recorded, since the next must be judged
 * by the state that it leaves.
 */
export function webhooksUnit(
  arrivals: readonly Arrival[],
  subscribers: Subscribers,
): Unit<WebhooksRecorded> {
  const events = JSON.stringify(arrivals.map(toEvent))
  const judged = arrivals.map(({ id, payload }) => ({
    id,
    to: payload.status,
    alert: payload.alert !== undefined,
    ...(payload.refundId !== undefined && { refundId: payload.refundId }),
  }))
  return {
    statements: [
      statement(RECORD, { events }),
      ...follow(judged, subscribers, null),
      statement(ANSWER, { keys: JSON.stringify(arrivals.map(toKey)) }),
    ],
    read(results) {
      const [row] = results.at(-1) ?? []
      const rows = JSON.parse(text(row?.answers)) as Row[]
      const recorded = new Map(rows.map((each) => [each.at, toRecorded(each)]))
      return {
        recorded: arrivals.map((_, at) => recorded.get(at)),
        pending: rows.flatMap(toPending),
      }
    },
  }
}

const toKey = ({ id, payload }: Arrival) => ({
  id,
  gateway: wellFormed(payload.gateway),
  event_id: wellFormed(payload.eventId),
})

const toEvent = (arrival: Arrival) => {
  const { payload } = arrival
  return {
    ...toKey(arrival),
    gtid: wellFormed(payload.gatewayTransactionId) || null,
    extref: wellFormed(payload.externalReferenceId ?? '') || null,
    reference: wellFormed(payload.reference) || null,
    to: payload.status,
    amount: payload.amount,
    currency: wellFormed(payload.currency),
    policy: arrival.onMismatch,
    alert: payload.alert ?? null,
    error: payload.error ? wellFormed(JSON.stringify(payload.error)) : null,
    raw: payload.raw === undefined ? null : JSON.stringify(payload.raw),
    correlation_id: arrival.correlationId ?? null,
    occurred_at: Date.parse(payload.occurredAt),
    now: arrival.receivedAt,
  }
}

/** Half a surrogate pair has no UTF-8: it would be stored, and the row could never be read. */
const wellFormed = (given: string): string => given.toWellFormed()

function toRecorded(row: Row): Recorded | undefined {
  if (row.outcome === null) return undefined
  return {
    outcome: row.mine === 1 ? (text(row.outcome) as Outcome) : 'duplicate',
    isMismatch: row.mismatch === 1,
    ...(row.transaction_id !== null && { transactionId: text(row.transaction_id) }),
  }
}

const value = (name: string) => `(v ->> '${name}')`
const VALUES = {
  from: 't.status',
  to: value('to'),
  amount: value('amount'),
  currency: value('currency'),
  policy: value('policy'),
  alert: value('alert'),
}
const MATCH = matchSql(value('gateway'), value('gtid'), value('extref'), value('reference'))

const copied = (...names: string[]) => names.map(value).join(', ')

const RECORD = `INSERT INTO payment_webhook_events (id, gateway, event_id, gateway_transaction_id,
    external_reference_id, reference, transaction_id, from_status, to_status, amount, currency,
    on_mismatch, mismatch, outcome, alert, error, raw, correlation_id, occurred_at, received_at)
  SELECT ${copied('id', 'gateway', 'event_id', 'gtid', 'extref', 'reference')}, t.id, t.status,
    ${copied('to', 'amount', 'currency', 'policy')}, COALESCE(${mismatchSql(VALUES)}, 0),
    ${outcomeSql(VALUES)}, ${copied('alert', 'error', 'raw', 'correlation_id')},
    ${copied('occurred_at', 'now')}
  FROM (SELECT v, found, row_number() OVER (PARTITION BY found ORDER BY at) AS nth
      FROM (SELECT at, v, ${MATCH} AS found
        FROM (SELECT key AS at, value AS v FROM json_each(:events))))
    LEFT JOIN payment_transactions t ON t.id = found
  WHERE found IS NULL OR nth = 1
  ON CONFLICT (gateway, event_id) DO NOTHING`

const ANSWERS = `SELECT key AS at, e.id = value ->> 'id' AS mine, e.outcome, e.mismatch,
    e.transaction_id, ${UNTOLD_COLUMNS}
  FROM json_each(:keys) LEFT JOIN payment_webhook_events e
      ON e.gateway = value ->> 'gateway' AND e.event_id = value ->> 'event_id'
    LEFT JOIN payment_outbox o ON o.id = e.id AND e.id = value ->> 'id' ${UNTOLD_DELIVERY}`

const ANSWERED = [
  ...['at', 'mine', 'outcome', 'mismatch', 'transaction_id', 'outbox_id', 'type', 'payload'],
  ...['told_correlation_id', 'told_created_at', 'listener_attempts', 'done_at'],
  ...['delivery_id', 'endpoint', 'delivery_attempts'],
]

// All in one value: the client takes some 20 µs to put together a row of so many columns.
const ANSWER = `SELECT json_group_array(json_object(
    ${ANSWERED.map((name) => `'${name}', ${name}`).join(', ')})) AS answers FROM (${ANSWERS})`
