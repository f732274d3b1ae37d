// The beginning of a refund: claimed when it is possible, one of a transaction at a time.

import type { PaymentError } from '../../domain/exceptions.ts'
import type { RefundBegun, RefundStart } from '../ledger.ts'
import { type Row, statement } from './database-libsql.ts'
import { isUnderWay, PAID } from './judgement-libsql.ts'
import { text, toTransaction, transactionColumns } from './rows-libsql.ts'
import type { Unit } from './unit-libsql.ts'

/** Why it cannot be claimed, or what its key came to before; undefined: it can be. */
export const barredRefundUnit = (start: RefundStart): Unit<RefundBegun | undefined> => ({
  statements: [statement(ANSWER, argsOf(start))],
  read: ([rows = []]) => barred(rows, start),
})

export function beginRefundUnit(start: RefundStart): Unit<RefundBegun> {
  const args = argsOf(start)
  return {
    statements: [statement(CLAIM, args), statement(CHECK_LATER, args), statement(ANSWER, args)],
    read([, , rows = []]) {
      const found = barred(rows, start)
      if (found) return found
      const mine = rows.find(isMine(start))
      if (!mine) throw new Error('a refund that is possible was not claimed')
      const amount = Number(mine.refund_amount)
      return { state: 'begun', transaction: toTransaction(mine), amount }
    },
  }
}

function argsOf(start: RefundStart) {
  return {
    id: start.id,
    gateway: start.gateway,
    transaction: start.transactionId,
    amount: start.amount,
    reason: start.reason,
    full_only: start.fullOnly ? 1 : 0,
    key: start.idempotencyKey ?? null,
    hash: start.requestHash,
    correlation_id: start.correlationId ?? null,
    now: start.now,
    until: start.until,
  }
}

const isMine = (start: RefundStart) => (row: Row) => row.refund_id === start.id

/** `rows`: the transaction, with each refund of it that bears on this one. */
function barred(rows: readonly Row[], start: RefundStart): RefundBegun | undefined {
  const [row] = rows
  if (!row) return { state: 'unknown_transaction' }
  const transaction = toTransaction(row)
  const mine = rows.find(isMine(start))
  // Claimed by this very call, the first time that it was sent.
  if (mine?.refund_status === 'claimed') return undefined
  const { idempotencyKey } = start
  const same =
    mine ??
    (idempotencyKey === undefined
      ? undefined
      : rows.find(({ refund_key: key }) => key === idempotencyKey))
  if (same) return known(same, start)

  const { status, amount } = transaction
  const left = Number(row.left_over)
  if ((status !== 'Paid' && status !== 'PartiallyRefunded') || left <= 0) {
    return { state: 'not_refundable', status }
  }
  const isUnderWay = rows.some(
    ({ refund_status: refund }) => refund === 'claimed' || refund === 'accepted',
  )
  if (isUnderWay) return { state: 'in_progress' }
  if (start.fullOnly && start.amount !== amount) return { state: 'not_full', transaction }
  return Number(row.given) > left ? { state: 'too_much', left, transaction } : undefined
}

function known(refund: Row, start: RefundStart): RefundBegun {
  if (refund.refund_hash !== start.requestHash) return { state: 'conflict' }
  switch (refund.refund_status) {
    case 'claimed':
      return { state: 'in_progress' }
    case 'failed':
      return { state: 'refused', error: JSON.parse(text(refund.refund_error)) as PaymentError }
    default:
      return {
        state: 'answered',
        result: {
          success: true,
          refundId: text(refund.gateway_refund_id ?? refund.refund_id),
          refundedAmount: Number(refund.refund_amount),
        },
      }
  }
}

export const NAMED = `COALESCE(
  (SELECT id FROM payment_transactions WHERE id = :transaction AND gateway = :gateway),
  (SELECT id FROM payment_transactions
    WHERE gateway = :gateway AND gateway_transaction_id = :transaction))`

/** What can still be given back. */
const LEFT = `(${PAID} - t.refunded_amount)`
/** All is asked for by the charge's amount, and what goes back is what came in. */
const GIVEN = `iif(:full_only = 1, ${PAID}, :amount)`

// Conflicts are the same call again, the same key, or another refund under way.
const CLAIM = `INSERT INTO payment_refunds (id, transaction_id, amount, refunded_before, reason,
    idempotency_key, request_hash, correlation_id, created_at, updated_at)
  SELECT :id, t.id, ${GIVEN}, t.refunded_amount, :reason, :key, :hash, :correlation_id, :now, :now
  FROM payment_transactions t
  WHERE t.id = ${NAMED} AND t.status IN ('Paid', 'PartiallyRefunded')
    AND ${GIVEN} BETWEEN 1 AND ${LEFT} AND (:full_only = 0 OR :amount = t.amount)
  ON CONFLICT DO NOTHING`

// Due when the caller must have come back: so the sweeper finds a crash in between.
const CHECK_LATER = `UPDATE payment_transactions SET next_check_at = :until
  WHERE changes() = 1 AND id = (SELECT transaction_id FROM payment_refunds WHERE id = :id)`

const ANSWER = `SELECT ${transactionColumns('t')}, ${LEFT} AS left_over, ${GIVEN} AS given,
    r.id AS refund_id, r.status AS refund_status, r.amount AS refund_amount,
    r.idempotency_key AS refund_key, r.request_hash AS refund_hash,
    r.gateway_refund_id, r.error AS refund_error
  FROM payment_transactions t LEFT JOIN payment_refunds r ON r.transaction_id = t.id
    AND (r.id = :id OR r.idempotency_key = :key OR ${isUnderWay('r')})
  WHERE t.id = ${NAMED}`
