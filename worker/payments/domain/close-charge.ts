// An open page that is closed at its gateway: for a person who cancels it, or for another attempt.
// Pure.

import type { PaymentError } from './exceptions.ts'
import {
  type Decision,
  isCalled,
  newEvent,
  type Payment,
  unchanged,
  withTransaction,
} from './payment.ts'
import { cancelledBy, isUnsent } from './replace-charge.ts'
import type { TransactionRow } from './rows.ts'
import { UNPAID_ENDS } from './status.ts'

export type Purpose = 'cancel' | 'replace'

export interface ClosingStart {
  /** ULID, generated once for each call: of the act, and of the event if there is one at once. */
  id: string
  transactionId: string
  purpose: Purpose
  /** The subject that asks for it, for the audit trail. */
  by?: string
  correlationId?: string
  /** Its gateway can close an open page, and reports its end. */
  isClosable: boolean
  /** At its gateway, a charge whose page nobody saw cannot be paid. */
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

type Closing = Exclude<ClosingBegun, { state: 'ended' | 'begun' }> | ClosingDecision
interface ClosingDecision {
  state: 'ended' | 'begun'
  decision: Decision
}

export function beginClosing(payment: Payment, start: ClosingStart): Closing {
  const { transaction } = payment
  const { status, gateway_transaction_id: gatewayId, called_until } = transaction
  const { id, now, until, correlationId, isClosable, unseenIsUnpayable } = start
  if (UNPAID_ENDS.includes(status)) return { state: 'ended', decision: unchanged(payment) }
  if (status !== 'Pending') return { state: 'paid' }
  // This call is repeated: the answer to its first try was lost.
  const isMine = transaction.called_by === closedBy(start)
  if (!isMine && called_until !== null && isCalled(transaction, now)) {
    return { state: 'in_progress', until: called_until }
  }
  if (gatewayId === null && (isUnsent(transaction) || unseenIsUnpayable)) {
    const ended = withTransaction(payment, cancelledBy(ERRORS.cancel, now))
    const event = newEvent('PaymentCancelled', ended.transaction, { id, correlationId, now })
    return { state: 'ended', decision: { payment: ended, events: [event], alerts: [] } }
  }
  if (!isClosable) return { state: 'unsupported' }
  if (gatewayId === null) return { state: 'unknown' }
  const called = { called_by: closedBy(start), called_until: until, next_check_at: until }
  return { state: 'begun', decision: unchanged(withTransaction(payment, called)) }
}

/** As `called_by`, of a charge whose page is being closed. */
export const closedBy = ({ purpose, id }: Pick<ClosingStart, 'purpose' | 'id'>): string =>
  `${purpose} ${id}`

const ERRORS: Record<Purpose, PaymentError> = {
  cancel: { code: 'cancelled', message: 'It was cancelled here.' },
  replace: { code: 'replaced', message: 'Another attempt replaces it.' },
}

/**
 * Why it ends now, if its page is being closed. A webhook may report that before the gateway's
 * answer is stored: without it, a shop would take the end for the payer's doing.
 */
export function closingError(row: TransactionRow, now: number): PaymentError | undefined {
  const [purpose = ''] = row.called_by?.split(' ') ?? []
  const isClosing = purpose === 'cancel' || purpose === 'replace'
  return isClosing && isCalled(row, now) ? ERRORS[purpose] : undefined
}

/** Its gateway has not reported an end: it is checked soon, and may be closed again. */
export const endClosing = (payment: Payment, by: string): Payment =>
  payment.transaction.called_by === by
    ? withTransaction(payment, { called_by: null, called_until: null })
    : payment
