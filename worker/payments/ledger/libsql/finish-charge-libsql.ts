// The end of a charge's call: what the gateway said, beside whatever its webhooks made of it.

import type { Subscribers } from '../../domain/events.ts'
import type { Transaction } from '../../domain/transaction.ts'
import type { ChargeEnd } from '../ledger.ts'
import { NEVER_CALLED } from './charges-libsql.ts'
import { type Statement, statement } from './database-libsql.ts'
import type { JudgedEvent } from './move-libsql.ts'
import { tell, tellSql } from './outbox-libsql.ts'
import { PARKED_JSON } from './parked-libsql.ts'
import {
  text,
  toPending,
  toTransaction,
  transactionColumns,
  UNTOLD_COLUMNS,
  UNTOLD_DELIVERY,
} from './rows-libsql.ts'
import type { Unit } from './unit-libsql.ts'

export interface ChargeFinished {
  transaction: Transaction
  /** Events that came before the gateway's answer and are to be applied now. */
  parked: JudgedEvent[]
}

export function finishChargeUnit(end: ChargeEnd, subscribers: Subscribers): Unit<ChargeFinished> {
  const { transactionId: id, eventId: event } = end
  return {
    statements: [...outcome(end, subscribers), statement(ANSWER, { id, event })],
    read(results) {
      const row = results.at(-1)?.[0]
      if (!row) throw new Error(`there is no transaction ${id}`)
      return {
        transaction: toTransaction(row),
        parked: JSON.parse(text(row.parked)) as JudgedEvent[],
      }
    },
    pending: (results) => toPending(results.at(-1)?.[0]),
  }
}

function outcome(end: ChargeEnd, subscribers: Subscribers): Statement[] {
  const { transactionId: id, eventId: event, now, result } = end
  switch (result.kind) {
    case 'answered': {
      const { answer, nextCheckAt } = result
      const args = {
        id,
        now,
        gtid: answer.gatewayTransactionId,
        redirect: answer.redirectUrl ?? null,
        expires: answer.expiresAt === undefined ? null : Date.parse(answer.expiresAt),
        answer: JSON.stringify(answer),
        next: nextCheckAt,
      }
      return [statement(ANSWERED, args)]
    }
    case 'refused': {
      const error = JSON.stringify(result.error)
      return [
        statement(REFUSED, { id, now, error }),
        ...tell(TELL_FAILED, [event], { id, event, now }, subscribers),
        statement(NOT_CALLED, { id }),
      ]
    }
    case 'unknown':
      return [
        statement(UNKNOWN, {
          id,
          now,
          gtid: result.gatewayTransactionId ?? null,
          next: result.nextCheckAt,
        }),
        statement(NOT_CALLED, { id }),
      ]
    case 'unsent':
      return [statement(UNSENT, { id, next: result.nextCheckAt })]
  }
}

/** A name that another payment of the gateway has stays with that one. */
const NAME = `COALESCE(t.gateway_transaction_id, iif(EXISTS (SELECT 1 FROM payment_transactions o
    WHERE o.gateway = t.gateway AND o.gateway_transaction_id = :gtid), NULL, :gtid))`

// A webhook may have moved it before: then nothing is to be checked any more, and it stays so.
const ANSWERED = `UPDATE payment_transactions AS t SET redirect_url = :redirect,
    gateway_transaction_id = ${NAME},
    expires_at = :expires, charge_answer = :answer, called_by = NULL, called_until = NULL,
    next_check_at = CASE WHEN status = 'Pending' THEN :next ELSE next_check_at END,
    updated_at = :now
  WHERE id = :id AND charge_answer IS NULL`

// An answer that somebody else got in the meantime is a payment that can still be paid.
const REFUSED = `UPDATE payment_transactions SET status = 'Failed', error = :error,
    next_check_at = NULL, updated_at = :now
  WHERE id = :id AND status = 'Pending' AND charge_answer IS NULL`

const TELL_FAILED = tellSql({
  id: ':event',
  type: `'PaymentFailed'`,
  now: ':now',
  correlationId: 't.correlation_id',
  from: 'payment_transactions t WHERE changes() = 1 AND t.id = :id',
})

const UNKNOWN = `UPDATE payment_transactions AS t SET gateway_transaction_id = ${NAME},
    next_check_at = CASE WHEN status = 'Pending' THEN :next ELSE next_check_at END,
    updated_at = :now
  WHERE id = :id AND charge_answer IS NULL`

const UNSENT = `UPDATE payment_transactions
  SET called_by = NULL, called_until = ${NEVER_CALLED}, next_check_at = :next
  WHERE id = :id AND status = 'Pending' AND charge_answer IS NULL`

const NOT_CALLED = `UPDATE payment_transactions SET called_by = NULL, called_until = NULL
  WHERE id = :id`

const ANSWER = `SELECT ${transactionColumns('t')}, ${PARKED_JSON} AS parked, ${UNTOLD_COLUMNS}
  FROM payment_transactions t
    LEFT JOIN payment_outbox o ON o.id = :event AND o.transaction_id = t.id ${UNTOLD_DELIVERY}
  WHERE t.id = :id`
