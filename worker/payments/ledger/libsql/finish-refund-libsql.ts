// The end of a refund's call. The gateway's webhook may tell the same first: whichever comes second
// changes nothing.

import type { Subscribers } from '../../domain/events.ts'
import type { Transaction } from '../../domain/transaction.ts'
import type { RefundEnd } from '../ledger.ts'
import { type Statement, statement } from './database-libsql.ts'
import { isUnderWay, PAID } from './judgement-libsql.ts'
import { tell, tellSql } from './outbox-libsql.ts'
import {
  toPending,
  toTransaction,
  transactionColumns,
  UNTOLD_COLUMNS,
  UNTOLD_DELIVERY,
} from './rows-libsql.ts'
import type { Unit } from './unit-libsql.ts'

export function finishRefundUnit(end: RefundEnd, subscribers: Subscribers): Unit<Transaction> {
  const { refundId: id } = end
  return {
    statements: [...outcome(end, subscribers), statement(ANSWER, { id })],
    read(results) {
      const row = results.at(-1)?.[0]
      if (!row) throw new Error(`there is no refund ${id}`)
      return toTransaction(row)
    },
    pending: (results) => toPending(results.at(-1)?.[0]),
  }
}

function outcome({ refundId: id, now, result }: RefundEnd, subscribers: Subscribers): Statement[] {
  switch (result.kind) {
    case 'done':
      return [
        statement(NAME, { id, name: result.gatewayRefundId ?? null }),
        statement(SUCCEED, { id, now }),
        statement(MOVE, { id, now }),
        ...tell(TELL, [id], { id, now }, subscribers),
        statement(RAISE, { id, now }),
      ]
    case 'accepted':
      return [
        statement(NAME, { id, name: result.gatewayRefundId ?? null }),
        statement(ACCEPT, { id, now }),
        statement(CHECK, { id, next: result.nextCheckAt }),
      ]
    case 'refused':
      return [
        statement(FAIL, { id, now, error: JSON.stringify(result.error) }),
        statement(CHECK, { id, next: null }),
      ]
    case 'unknown':
      return [statement(CHECK_CLAIMED, { id, next: result.nextCheckAt })]
  }
}

const NAME = `UPDATE payment_refunds SET gateway_refund_id = COALESCE(gateway_refund_id, :name)
  WHERE id = :id`

const SUCCEED = `UPDATE payment_refunds SET status = 'succeeded', updated_at = :now
  WHERE id = :id AND ${isUnderWay('payment_refunds')}`

const ACCEPT = `UPDATE payment_refunds SET status = 'accepted', updated_at = :now
  WHERE id = :id AND status = 'claimed'`

const FAIL = `UPDATE payment_refunds SET status = 'failed', error = :error, updated_at = :now
  WHERE id = :id AND ${isUnderWay('payment_refunds')}`

const OF_REFUND = '(SELECT transaction_id FROM payment_refunds WHERE id = :id)'

const CHECK = `UPDATE payment_transactions SET next_check_at = :next
  WHERE changes() = 1 AND id = ${OF_REFUND}`

const CHECK_CLAIMED = `UPDATE payment_transactions SET next_check_at = :next
  WHERE id = (SELECT transaction_id FROM payment_refunds WHERE id = :id AND status = 'claimed')`

/** All that was given back, this refund included, whichever of answer and webhook is first. */
const SUM = `MIN(${PAID}, MAX(t.refunded_amount, r.refunded_before + r.amount))`
const NEW_STATUS = `CASE WHEN ${SUM} = ${PAID} THEN 'Refunded' ELSE 'PartiallyRefunded' END`

const MOVE = `UPDATE payment_transactions AS t SET refunded_amount = ${SUM}, status = ${NEW_STATUS},
    next_check_at = NULL, updated_at = :now
  FROM payment_refunds r
  WHERE changes() = 1 AND r.id = :id AND t.id = r.transaction_id
    AND t.status IN ('Paid', 'PartiallyRefunded') AND t.status <> ${NEW_STATUS}`

const TELL = tellSql({
  id: 'r.id',
  type: `'PaymentRefunded'`,
  now: ':now',
  correlationId: 'COALESCE(r.correlation_id, t.correlation_id)',
  from: `payment_refunds r JOIN payment_transactions t ON t.id = r.transaction_id
    WHERE changes() = 1 AND r.id = :id`,
})

// Another part of what was given back in part before: no change of status, and no event.
const RAISE = `UPDATE payment_transactions AS t SET refunded_amount = ${SUM}, next_check_at = NULL,
    updated_at = :now
  FROM payment_refunds r
  WHERE r.id = :id AND r.status = 'succeeded' AND t.id = r.transaction_id
    AND t.status = 'PartiallyRefunded' AND t.refunded_amount < ${SUM}`

const ANSWER = `SELECT ${transactionColumns('t')}, ${UNTOLD_COLUMNS}
  FROM payment_refunds r JOIN payment_transactions t ON t.id = r.transaction_id
    LEFT JOIN payment_outbox o ON o.id = r.id ${UNTOLD_DELIVERY}
  WHERE r.id = :id`
