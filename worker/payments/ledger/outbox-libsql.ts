// Lifecycle events, stored with the move that they tell of.

import type { LifecycleEvent } from '../status.ts'
import type { Audience } from '../telling/events.ts'
import { type Statement, statement, type Value } from './database-libsql.ts'
import { LEASE_MS } from './ledger.ts'
import { transactionJson } from './rows-libsql.ts'

/**
 * SQL that stores an event of the transaction `t`. `from` names the tables and says when: it should
 * hold `changes() = 1`, so that only the statement before it, when it moved something, is told.
 */
export const tellSql = (event: {
  from: string
  correlationId: string
  /** Members of the payload beside the transaction. */
  payload?: string
}): string => `INSERT INTO payment_outbox (id, transaction_id, type, payload, correlation_id,
    created_at, leased_until, next_attempt_at, done_at)
  SELECT :outbox_id, t.id, :type,
    json_object(${event.payload ?? ''} 'transaction', ${transactionJson('t')}),
    ${event.correlationId}, :now, :until, :now, :done
  FROM ${event.from}`

/**
 * Stores an event with what it takes to tell it. It is leased, since whoever caused it tells it at
 * once; what nobody listens to is done at once.
 */
export function tell(
  sql: string,
  args: Record<string, Value> & { outbox_id: string },
  told: { type: LifecycleEvent; audience: Audience; now: number },
): Statement[] {
  const { type, audience, now } = told
  const done = audience.hasListeners(type) ? null : now
  const lease = { now, until: now + LEASE_MS }
  const statements = [statement(sql, { ...args, ...lease, type, done })]
  const { endpoint } = audience
  if (endpoint !== undefined) {
    statements.push(statement(DELIVER, { outbox_id: args.outbox_id, endpoint, ...lease }))
  }
  return statements
}

const DELIVER = `INSERT INTO payment_deliveries (id, outbox_id, endpoint, leased_until,
    next_attempt_at, created_at)
  SELECT id, id, :endpoint, :until, :now, :now FROM payment_outbox WHERE id = :outbox_id
  ON CONFLICT DO NOTHING`
