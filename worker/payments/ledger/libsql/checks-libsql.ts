// What the sweeper asks the gateways about, and when again.

import type { ChargeRequest } from '../../domain/transaction.ts'
import type { Listed } from '../../queries/queries.ts'
import type { Check, CheckSettled, EventNames } from '../ledger.ts'
import { type Row, type Statement, statement } from './database-libsql.ts'
import { isUnderWay, matchSql } from './judgement-libsql.ts'
import { hasEarlyRefund } from './move-libsql.ts'
import { isoTime, listed, text, toTransaction, transactionColumns } from './rows-libsql.ts'
import type { Unit } from './unit-libsql.ts'
import { raise } from './upkeep-libsql.ts'

const UNDER_WAY = `SELECT 1 FROM payment_refunds r
  WHERE r.transaction_id = payment_transactions.id AND ${isUnderWay('r')}`
/** There is something that the gateway could tell. */
const IS_OPEN = `(status = 'Pending' OR EXISTS (${UNDER_WAY})
  OR status = 'Paid' AND ${hasEarlyRefund('payment_transactions')})`

export const checkSoon = (gateway: string, names: EventNames, now: number): Statement =>
  statement(
    `UPDATE payment_transactions SET next_check_at = :now
      WHERE id = ${matchSql(':gateway', ':gtid', ':extref', ':reference')}
        AND status <> 'Refunded'
        AND (next_check_at IS NULL OR next_check_at > :now)`,
    {
      gateway,
      gtid: names.gatewayTransactionId || null,
      extref: names.externalReferenceId || null,
      reference: names.reference || null,
      now,
    },
  )

const DUE = `SELECT id FROM payment_transactions WHERE next_check_at <= :now
  ORDER BY next_check_at, id LIMIT :limit`

// Both see the same rows. Sent again, it finds none: those of the first time are due at `until`.
export const claimChecksUnit = (claim: {
  now: number
  until: number
  limit: number
}): Unit<Listed<Check>[]> => ({
  statements: [
    statement(
      `SELECT ${transactionColumns('t')}, t.request, r.id AS refund_id, r.amount AS refund_amount,
        r.created_at AS refund_created_at, r.status AS refund_status
      FROM payment_transactions t LEFT JOIN payment_refunds r ON r.transaction_id = t.id
        AND ${isUnderWay('r')}
      WHERE t.id IN (${DUE}) ORDER BY t.next_check_at, t.id`,
      claim,
    ),
    statement(`UPDATE payment_transactions SET next_check_at = :until WHERE id IN (${DUE})`, claim),
  ],
  read: ([rows = []]) => rows.map(listed(toCheck)),
})

function toCheck(row: Row): Check {
  const transaction = toTransaction(row)
  const { gateway, reference, amount, currency, description = '' } = transaction
  const request: ChargeRequest =
    row.request === null
      ? { gateway, reference, amount, currency, description }
      : (JSON.parse(text(row.request)) as ChargeRequest)
  return {
    transaction,
    request,
    ...(typeof row.refund_id === 'string' && {
      refund: {
        id: row.refund_id,
        amount: Number(row.refund_amount),
        createdAt: Date.parse(isoTime(row, 'refund_created_at')),
        isAccepted: row.refund_status === 'accepted',
      },
    }),
  }
}

export function settleCheck(settled: CheckSettled): Statement[] {
  const { transactionId: id, now, nextCheckAt, whileStill, alert, givenUp } = settled
  const statements: Statement[] = []
  if (givenUp) {
    const { refundId, error } = givenUp
    const args = { id, refund: refundId, now, error: JSON.stringify(error) }
    statements.push(statement(GIVE_UP_REFUND, args))
  }
  const next = { id, next: nextCheckAt ?? null, still: whileStill ?? null }
  statements.push(statement(CHECK_NEXT, next))
  if (alert) {
    const from = 'payment_transactions t WHERE t.id = :subject'
    const detail = JSON.stringify(alert.detail)
    statements.push(raise(from, { kind: alert.kind, subject: id, detail, now }))
  }
  return statements
}

// A refund that began meanwhile is another one.
const GIVE_UP_REFUND = `UPDATE payment_refunds
  SET status = 'failed', error = :error, updated_at = :now
  WHERE id = :refund AND transaction_id = :id AND ${isUnderWay('payment_refunds')}`

// What the check has settled is not checked again.
const CHECK_NEXT = `UPDATE payment_transactions
  SET next_check_at = CASE WHEN ${IS_OPEN} OR status = :still THEN :next END WHERE id = :id`
