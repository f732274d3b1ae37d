// The beginning of a charge: its row, its event, or the charge that the same request made before.

import type { Subscribers } from '../../domain/events.ts'
import { externalReference } from '../../domain/external-reference.ts'
import { UNPAID_ENDS } from '../../domain/status.ts'
import type { OpenedPayment } from '../../domain/transaction.ts'
import type { ChargeBegun, ChargeStart } from '../ledger.ts'
import { type Row, statement } from './database-libsql.ts'
import { list } from './judgement-libsql.ts'
import { tell, tellSql } from './outbox-libsql.ts'
import {
  presentJson,
  toPending,
  toTransaction,
  transactionColumns,
  UNTOLD_COLUMNS,
  UNTOLD_DELIVERY,
} from './rows-libsql.ts'
import type { Unit } from './unit-libsql.ts'

/** `nextAttempt`: another attempt is due than was assumed, so that nothing was stored. */
export type Begun = ChargeBegun | { state: 'other_attempt'; nextAttempt: number }

/**
 * `attempt` is assumed, because the external reference is derived from it: nearly every order has
 * one attempt.
 */
export function beginChargeUnit(
  start: ChargeStart,
  attempt: number,
  subscribers: Subscribers,
): Unit<Begun> {
  const { id, request, idempotencyKey, now } = start
  const { customerPhone: _, ...stored } = request
  const args = {
    id,
    gateway: request.gateway,
    reference: request.reference,
    key: idempotencyKey ?? null,
    hash: start.requestHash,
    attempt,
    extref: externalReference({ ...start, ...request }, attempt),
    amount: request.amount,
    currency: request.currency,
    description: request.description,
    metadata: request.metadata ? JSON.stringify(request.metadata) : null,
    request: JSON.stringify(stored),
    correlation_id: start.correlationId ?? null,
    is_idempotent: start.chargeIsIdempotent ? 1 : 0,
    now,
    until: start.until,
  }
  return {
    statements: [
      statement(INSERT, args),
      ...tell(TELL, [id], { id, now }, subscribers),
      statement(CALL_AGAIN, args),
      statement(ANSWER, args),
    ],
    read(results) {
      const row = results.at(-1)?.[0]
      if (!row) throw new Error('the charge’s answer has no row')
      if (row.id === null) return { state: 'other_attempt', nextAttempt: Number(row.next_attempt) }
      return toBegun(row, start)
    },
    pending: (results) => toPending(results.at(-1)?.[0]),
  }
}

/** What this request came to before, for whoever may not call the gateway now; else undefined. */
export function foundChargeUnit(start: ChargeStart): Unit<ChargeBegun | undefined> {
  const { id, request, idempotencyKey } = start
  const { gateway, reference } = request
  const args = { id, gateway, reference, key: idempotencyKey ?? null }
  return {
    statements: [statement(ANSWER, args)],
    read(results) {
      const row = results[0]?.[0]
      return row && row.id !== null ? toFound(row, start) : undefined
    },
  }
}

function toFound(row: Row, start: ChargeStart): ChargeBegun {
  if (row.request_hash !== start.requestHash) {
    const isKey = start.idempotencyKey !== undefined && row.idempotency_key === start.idempotencyKey
    return { state: 'conflict', over: isKey ? 'key' : 'reference' }
  }
  const transaction = toTransaction(row)
  if (row.charge_answer !== null || transaction.status !== 'Pending') {
    const opened = presentJson<{ opened: OpenedPayment }>('opened', row.charge_answer)
    return { state: 'answered', transaction, ...opened }
  }
  const isCalled = row.called_until !== null && Number(row.called_until) > start.now
  if (isCalled && row.called_by !== start.id) return { state: 'in_progress' }
  const next = row.next_check_at
  return {
    state: 'unknown',
    transaction,
    ...(typeof next === 'number' && { nextCheckAt: next }),
  }
}

function toBegun(row: Row, start: ChargeStart): ChargeBegun {
  const found = toFound(row, start)
  if (found.state !== 'unknown' || row.called_by !== start.id) return found
  return { state: 'begun', transaction: found.transaction }
}

const NEXT_ATTEMPT = `(SELECT COALESCE(MAX(attempt), 0) + 1 FROM payment_transactions
  WHERE gateway = :gateway AND reference = :reference)`

const BY_KEY = `SELECT id FROM payment_transactions
  WHERE gateway = :gateway AND idempotency_key = :key`

const OPEN = `SELECT id FROM payment_transactions WHERE gateway = :gateway
  AND reference = :reference AND status NOT IN (${list(UNPAID_ENDS)}) ORDER BY id DESC LIMIT 1`

// The check is due when the caller must have come back: so the sweeper finds a crash in between.
const INSERT = `INSERT INTO payment_transactions (id, gateway, reference, attempt,
    external_reference_id, idempotency_key, request_hash, amount, currency, description, metadata,
    request, called_by, called_until, next_check_at, correlation_id, created_at, updated_at)
  SELECT :id, :gateway, :reference, ${NEXT_ATTEMPT}, :extref, :key, :hash, :amount, :currency,
    :description, :metadata, :request, :id, :until, :until, :correlation_id, :now, :now
  WHERE :attempt = ${NEXT_ATTEMPT}
    AND NOT EXISTS (${BY_KEY}) AND NOT EXISTS (${OPEN})
  ON CONFLICT DO NOTHING`

const TELL = tellSql({
  id: 't.id',
  type: `'PaymentInitiated'`,
  now: ':now',
  payload: `'gateway', t.gateway, 'request', json(t.request),`,
  correlationId: 't.correlation_id',
  from: 'payment_transactions t WHERE changes() = 1 AND t.id = :id',
})

/** Ours first: what was just stored, or was by the same call before. */
const FOUND = `COALESCE(
  (SELECT id FROM payment_transactions WHERE id = :id), (${BY_KEY}), (${OPEN}))`

/** As `called_until`: of a charge that was begun, and never sent to its gateway. */
export const NEVER_CALLED = 0

// A charge whose outcome is unknown, and that may be asked for again.
const CALL_AGAIN = `UPDATE payment_transactions
  SET called_by = :id, called_until = :until, next_check_at = :until, updated_at = :now
  WHERE (:is_idempotent = 1 OR called_until = ${NEVER_CALLED})
    AND id = ${FOUND} AND request_hash = :hash AND status = 'Pending'
    AND charge_answer IS NULL AND gateway_transaction_id IS NULL
    AND (called_until IS NULL OR called_until <= :now)`

// A row in any case: without a transaction it tells which attempt would be next.
const ANSWER = `SELECT ${transactionColumns('t')}, t.request_hash, t.idempotency_key,
    t.charge_answer, t.called_by, t.called_until, t.next_check_at,
    ${NEXT_ATTEMPT} AS next_attempt,
    ${UNTOLD_COLUMNS}
  FROM (SELECT 1) LEFT JOIN payment_transactions t ON t.id = ${FOUND}
    LEFT JOIN payment_outbox o ON o.id = t.id AND t.id = :id ${UNTOLD_DELIVERY}`
