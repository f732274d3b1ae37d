// An open page that is closed at its gateway: for a person who cancels it, or for another attempt.
// Pure.

import {
  CALL_ENDED,
  CLOSED,
  cancelledBy,
  closedBy,
  isCalled,
  isUnpayable,
  type Purpose,
} from '../domain/open-charge.ts'
import { isForeign, newEvent, withTransaction } from '../domain/payment.ts'
import type { TransactionRow } from '../domain/rows.ts'
import { UNPAID_ENDS } from '../domain/status.ts'
import { type Act, type Paused, paymentIn, type Rules, type WorkingSet } from './act.ts'
import { recordAudit, store } from './store.ts'

export interface ClosingStart {
  /** ULID, generated once for each call: of the act, and of the event if there is one at once. */
  id: string
  transactionId: string
  purpose: Purpose
  /** The subject that asks for it, for the audit trail. */
  by?: string | undefined
  correlationId?: string | undefined
  /** Its gateway can close an open page, and reports its end. */
  isClosable: boolean
  /** At its gateway, a charge whose page no payer saw cannot be paid. */
  unseenIsUnpayable: boolean
  now: number
  /** Until then the caller asks the gateway. After that the sweeper does. */
  until: number
}

export type ClosingBegun =
  /** Its gateway has to close its page. */
  | { state: 'begun'; transaction: TransactionRow }
  /** Without money, before or now: it never reached its gateway. */
  | { state: 'ended'; transaction: TransactionRow }
  | { state: 'paid' | 'foreign' | 'unsupported' | 'unknown' }
  /** Its gateway is being called to charge or to close it, until then at the latest. */
  | { state: 'in_progress'; until: number }
  | Paused

export function beginClosing(start: ClosingStart, rules: Rules): Act<ClosingBegun> {
  const { id, transactionId, now, until, correlationId, isClosable } = start
  return {
    keys: [['payment', transactionId]],
    decide(rows) {
      const payment = paymentIn(rows, transactionId)
      const { transaction } = payment
      const { status, gateway_transaction_id: gatewayId, called_until } = transaction
      if (isForeign(transaction, rows.installation)) return { state: 'foreign' }
      if (UNPAID_ENDS.includes(status)) return { state: 'ended', transaction }
      if (status !== 'Pending') return { state: 'paid' }
      // This call is repeated: the answer to its first try was lost.
      const isMine = transaction.called_by === closedBy(start)
      if (!isMine && called_until !== null && isCalled(transaction, now)) {
        return { state: 'in_progress', until: called_until }
      }
      const isOver = isUnpayable(transaction, start)
      if (!isOver && !isClosable) return { state: 'unsupported' }
      if (!isOver && gatewayId === null) return { state: 'unknown' }
      if (rows.pause && !isMine) return { state: 'paused', transactionId }
      recordCancel(rows, start)
      if (isOver) {
        const ended = withTransaction(payment, cancelledBy(CLOSED.cancel, now))
        const event = newEvent('PaymentCancelled', ended.transaction, { id, correlationId, now })
        store(rows, { payment: ended, events: [event], alerts: [] }, rules)
        return { state: 'ended', transaction: ended.transaction }
      }
      const called = { called_by: closedBy(start), called_until: until, next_check_at: until }
      const closing = { ...transaction, ...called }
      rows.put({ transactions: [closing] })
      return { state: 'begun', transaction: closing }
    },
  }
}

function recordCancel(rows: WorkingSet, start: ClosingStart): void {
  const { purpose, now: at, transactionId: transaction_id } = start
  if (purpose === 'cancel') recordAudit(rows, start, { at, action: 'cancel', transaction_id })
}

/** Frees the payment, and answers it as it is now: it may have ended meanwhile. */
export function endClosing(
  closing: Pick<ClosingStart, 'id' | 'transactionId' | 'purpose'>,
): Act<TransactionRow> {
  const { transactionId: id } = closing
  return {
    keys: [['payment', id]],
    decide(rows) {
      const { transaction } = paymentIn(rows, id)
      if (transaction.called_by !== closedBy(closing)) return transaction
      const freed = { ...transaction, ...CALL_ENDED }
      rows.put({ transactions: [freed] })
      return freed
    },
  }
}
