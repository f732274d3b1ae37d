// The way of stored lifecycle events to whoever listens: leased, tried, settled.

import type { AlertDetail } from '../../domain/alerts.ts'
import type { Dispatched, PendingEvent } from '../../domain/events.ts'
import { LEASE_MS } from '../ledger.ts'
import { type Statement, statement } from './database-libsql.ts'
import { toPending, untoldColumns } from './rows-libsql.ts'
import type { Unit } from './unit-libsql.ts'
import { raise } from './upkeep-libsql.ts'

const due = (alias: string) => `${alias}.next_attempt_at <= :now
  AND (${alias}.leased_until IS NULL OR ${alias}.leased_until <= :now)`
const LISTENERS_DUE = `o.done_at IS NULL AND ${due('o')}`
const DELIVERY_DUE = `d.status = 'pending' AND ${due('d')}`

/** Whether anything is due to be told at `:now`, in either way. */
export const HAS_UNTOLD = `(EXISTS (SELECT 1 FROM payment_outbox o WHERE ${LISTENERS_DUE})
  OR EXISTS (SELECT 1 FROM payment_deliveries d WHERE ${DELIVERY_DUE}))`

const DUE = `SELECT id FROM (
    SELECT o.id, o.created_at FROM payment_outbox o WHERE ${LISTENERS_DUE}
    UNION SELECT d.outbox_id, d.created_at FROM payment_deliveries d WHERE ${DELIVERY_DUE}
    ORDER BY 2, 1 LIMIT :limit)`

const READ = `SELECT ${untoldColumns(`iif(${LISTENERS_DUE}, NULL, :now)`)}
  FROM payment_outbox o
    LEFT JOIN payment_deliveries d ON d.outbox_id = o.id AND ${DELIVERY_DUE}
  WHERE o.id IN (${DUE}) ORDER BY o.created_at, o.id`

// A lease that is long over: whose deliveries carry it are still due, so that the next statement
// finds the same events, and they get their real lease last.
const MARK_DELIVERIES = `UPDATE payment_deliveries AS d SET leased_until = -1
  WHERE ${DELIVERY_DUE} AND d.outbox_id IN (${DUE})`

const LEASE_LISTENERS = `UPDATE payment_outbox AS o SET leased_until = :until
  WHERE ${LISTENERS_DUE} AND o.id IN (${DUE})`

const LEASE_DELIVERIES = `UPDATE payment_deliveries SET leased_until = :until
  WHERE status = 'pending' AND next_attempt_at <= :now AND leased_until = -1`

/** Sent again it leases others: the first ones are due again when their lease is over. */
export function claimUntoldUnit({
  now,
  limit,
}: {
  now: number
  limit: number
}): Unit<PendingEvent[]> {
  const args = { now, limit, until: now + LEASE_MS }
  const steps = [READ, MARK_DELIVERIES, LEASE_LISTENERS, LEASE_DELIVERIES]
  return {
    statements: steps.map((sql) => statement(sql, args)),
    read: ([rows = []]) => rows.flatMap(toPending),
  }
}

/** What listeners took, which is nearly everything, is one statement however much it is. */
export function settleDispatched(told: readonly Dispatched[], now: number): Statement[] {
  const taken = told.flatMap(({ outboxId, listeners }) => (listeners?.ok ? [outboxId] : []))
  const statements = told.flatMap((each) => settleOne(each, now))
  if (taken.length === 0) return statements
  return [statement(LISTENERS_TOOK, { ids: JSON.stringify(taken), now }), ...statements]
}

/**
 * An attempt ends with its lease, so a failure that is told twice counts once. What was given up
 * is done as well, and the alert says that it was not told.
 */
function settleOne({ outboxId: id, listeners, delivery }: Dispatched, now: number): Statement[] {
  const statements: Statement[] = []
  if (listeners && !listeners.ok) {
    const { nextAttemptAt, error } = listeners
    const isOver = nextAttemptAt === undefined
    const done = isOver ? now : null
    statements.push(statement(LISTENERS_FAILED, { id, done, next: nextAttemptAt ?? null }))
    if (isOver) statements.push(dead('listener_dead', id, { ...(error && { error }) }, now))
  }
  if (delivery) {
    const { ok, nextAttemptAt, status, error } = delivery
    const failed = nextAttemptAt === undefined ? 'dead' : 'pending'
    statements.push(
      statement(SETTLE_DELIVERY, {
        id: delivery.id,
        ok: ok ? 1 : 0,
        status: ok ? 'delivered' : failed,
        delivered: ok ? now : null,
        next: nextAttemptAt ?? null,
        last_status: status ?? null,
        last_error: error ?? null,
      }),
    )
    if (!ok && failed === 'dead') {
      const said = { ...(status && { lastStatus: status }), ...(error && { error }) }
      statements.push(dead('delivery_dead', delivery.id, said, now))
    }
  }
  return statements
}

/** Right after the statement that gave it up. */
function dead(
  kind: 'listener_dead' | 'delivery_dead',
  subject: string,
  said: Pick<AlertDetail, 'lastStatus' | 'error'>,
  now: number,
): Statement {
  const isDelivery = kind === 'delivery_dead'
  const from = `payment_outbox o JOIN payment_transactions t ON t.id = o.transaction_id
    ${isDelivery ? 'JOIN payment_deliveries d ON d.outbox_id = o.id' : ''}
    WHERE changes() = 1 AND ${isDelivery ? 'd' : 'o'}.id = :subject`
  const delivery = isDelivery ? `'deliveryId', d.id, 'endpoint', d.endpoint,` : ''
  const about = `${delivery} 'event', o.id, 'type', o.type, 'reference', t.reference,
    'amount', t.amount, 'currency', t.currency`
  const detail = `json_patch(json_object(${about}), :detail)`
  return raise(from, { kind, subject, detail: JSON.stringify(said), now }, detail)
}

const LISTENERS_TOOK = `UPDATE payment_outbox
  SET attempts = attempts + 1, leased_until = NULL, done_at = :now
  WHERE id IN (SELECT value FROM json_each(:ids)) AND done_at IS NULL`

const LISTENERS_FAILED = `UPDATE payment_outbox SET attempts = attempts + 1, leased_until = NULL,
    done_at = :done, next_attempt_at = COALESCE(:next, next_attempt_at)
  WHERE id = :id AND done_at IS NULL AND leased_until IS NOT NULL`

const SETTLE_DELIVERY = `UPDATE payment_deliveries SET attempts = attempts + 1,
    leased_until = NULL, status = :status, delivered_at = :delivered,
    next_attempt_at = COALESCE(:next, next_attempt_at),
    last_status = COALESCE(:last_status, last_status),
    last_error = COALESCE(:last_error, last_error)
  WHERE id = :id AND status = 'pending' AND (:ok = 1 OR leased_until IS NOT NULL)`

export const redeliverUnit = (id: string, now: number): Unit<boolean> => ({
  statements: [
    statement(
      `UPDATE payment_deliveries SET status = 'pending', attempts = 0, next_attempt_at = :now,
          leased_until = NULL, delivered_at = NULL WHERE id = :id`,
      { id, now },
    ),
    statement('SELECT id FROM payment_deliveries WHERE id = :id', { id }),
  ],
  read: ([, rows = []]) => rows.length > 0,
})
