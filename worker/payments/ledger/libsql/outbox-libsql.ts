// Lifecycle events, stored with the move that they tell of.

import type { Subscribers } from '../../domain/events.ts'
import { LIFECYCLE_EVENTS } from '../../domain/status.ts'
import { LEASE_MS } from '../ledger.ts'
import { type Statement, statement, type Value } from './database-libsql.ts'
import { transactionJson } from './rows-libsql.ts'

/** SQL expressions, and the tables that they are over. */
interface EventSql {
  id: string
  type: string
  now: string
  correlationId: string
  /** Members of the payload beside the transaction. */
  payload?: string
  /** Names the transaction `t`, and says when there is anything to tell. */
  from: string
}

/**
 * SQL that stores an event. It is leased, since whoever caused it tells it at once; what nobody
 * listens to is done at once. One that is known stays as it is.
 */
export const tellSql = ({ id, type, now, correlationId, payload = '', from }: EventSql): string =>
  `INSERT INTO payment_outbox (id, transaction_id, type, payload, correlation_id, created_at,
    leased_until, next_attempt_at, done_at)
  SELECT ${id}, t.id, ${type}, json_object(${payload} 'transaction', ${transactionJson('t')}),
    ${correlationId}, ${now}, ${now} + ${LEASE_MS}, ${now},
    iif(instr(:listened, ${type}) > 0, NULL, ${now})
  FROM ${from}
  ON CONFLICT (id) DO NOTHING`

/** Stores what `sql` tells, of these ids at most, with what it takes to tell it. */
export function tell(
  sql: string,
  outboxIds: readonly string[],
  args: Record<string, Value>,
  subscribers: Subscribers,
): Statement[] {
  const listened = LIFECYCLE_EVENTS.filter((type) => subscribers.hasListeners(type)).join(' ')
  const stored = statement(sql, { ...args, listened })
  const posted = LIFECYCLE_EVENTS.filter((type) => subscribers.endpointFor(type) !== undefined)
  const [first] = posted
  if (first === undefined) return [stored]
  const endpoint = subscribers.endpointFor(first) ?? null
  const outbox_ids = JSON.stringify(outboxIds)
  return [stored, statement(DELIVER, { outbox_ids, endpoint, posted: posted.join(' ') })]
}

const DELIVER = `INSERT INTO payment_deliveries (id, outbox_id, endpoint, leased_until,
    next_attempt_at, created_at)
  SELECT id, id, :endpoint, leased_until, created_at, created_at FROM payment_outbox
  WHERE id IN (SELECT value FROM json_each(:outbox_ids)) AND instr(:posted, type) > 0
  ON CONFLICT DO NOTHING`
