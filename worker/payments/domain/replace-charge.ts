// An open charge whose place another attempt takes: it is stranded (it cannot be paid, because its
// page or its code never came, or has expired), or its order has changed. Pure.

import type { PaymentError } from './exceptions.ts'
import { type Decision, isCalled, NEVER_CALLED, newEvent, withTransaction } from './payment.ts'
import type { TransactionRow } from './rows.ts'
import { type PaymentStatus, UNPAID_ENDS } from './status.ts'

/** What is known of an open charge when its gateway was asked once more. */
export interface AskedAgain {
  /** The gateway has given it an id. Without one, its status cannot be asked for. */
  hasGatewayId: boolean
  /** The payer may have its page: it may be paid until its gateway reports an end. */
  isPageOpen?: boolean
  /** Nothing of it was ever sent. */
  isUnsent?: boolean
  /** A repeated charge is the same charge to this gateway, or was for a time. */
  isRepeatable: boolean
  /** A charge whose page nobody saw cannot be paid there. */
  unseenIsUnpayable?: boolean
  /** What the gateway reports now. Undefined: nothing, or that it does not know the payment. */
  answer?: {
    status: PaymentStatus
    /** Still Pending, and somebody may be paying at this moment. */
    isBeingPaid?: boolean
  }
  /** How the gateway took our cancellation. Undefined: it was not asked for one. */
  cancellation?: 'accepted' | 'refused'
}

/**
 * `replace`: it is certainly not paid. `apply`: it was paid, and the gateway's answer is applied as
 * a webhook would be. `wait`: its status is not known, so nothing changes.
 */
export type WayOut = 'replace' | 'apply' | 'wait'

export function wayOut(asked: AskedAgain): WayOut {
  const { hasGatewayId, isPageOpen, answer, cancellation } = asked
  const { isRepeatable, unseenIsUnpayable, isUnsent } = asked
  if (isUnsent) return 'replace'
  // Its code was lost, so it cannot be paid, and its status cannot be checked.
  if (!hasGatewayId) return isRepeatable && !unseenIsUnpayable ? 'wait' : 'replace'
  if (!answer) return 'wait'
  const { status, isBeingPaid = false } = answer
  if (UNPAID_ENDS.includes(status)) return 'replace'
  if (status !== 'Pending') return 'apply'
  // A gateway that refuses to cancel may be about to receive money.
  return isPageOpen || isBeingPaid || cancellation === 'refused' ? 'wait' : 'replace'
}

/** An open charge that is to be replaced, as `wayOut` decided. */
export interface Replacement {
  transactionId: string
  /** ULID, for the event of its end. */
  eventId: string
  /**
   * Its gateway is asked once more at that time, so that a late payment is found even if its
   * webhook was lost. Undefined: it cannot be asked, and an alert is raised if it may be paid.
   */
  nextCheckAt?: number
  /** Nobody saw its page, and so it cannot be paid at its gateway. */
  isUnpayable?: boolean
  /** Its page was open. For that caller its gateway has reported an end without money. */
  closedBy?: string
}

/**
 * It is open and cannot be paid: it has no page and no code, and no call is waiting for one, or
 * they have expired, and the gateway has not reported how it ended.
 */
export const isStranded = (
  row: Pick<TransactionRow, 'status' | 'charge_answer' | 'called_until' | 'expires_at'>,
  now: number,
): boolean =>
  row.status === 'Pending' &&
  (row.charge_answer === null
    ? !isCalled(row, now)
    : row.expires_at !== null && row.expires_at <= now)

/** It was begun, and its gateway was never called for it. */
export const isUnsent = ({ called_until, charge_answer }: TransactionRow): boolean =>
  called_until === NEVER_CALLED && charge_answer === null

/** `by`: the attempt that replaces it. */
export function replaceCharge(
  stranded: TransactionRow,
  { eventId, nextCheckAt, isUnpayable }: Replacement,
  by: { id: string; correlationId: string | null; now: number },
): Decision {
  const { id: transactionId, gateway, reference, amount, currency } = stranded
  const { now } = by
  const error = { code: 'replaced', message: `Another attempt has replaced it: ${by.id}.` }
  const replaced = withTransaction(
    { transaction: stranded, refunds: [], disputes: [], alerts: [] },
    { ...cancelledBy(error, now), next_check_at: nextCheckAt ?? null },
  )
  const { transaction } = replaced
  const event = newEvent('PaymentCancelled', transaction, { ...by, id: eventId })
  if (nextCheckAt !== undefined || isUnpayable) {
    return { payment: replaced, events: [event], alerts: [] }
  }
  const since = new Date(stranded.created_at).toISOString()
  const detail = { reference, amount, currency, since, gatewayStatus: 'none' } as const
  const about = { subject: transactionId, gateway, transactionId, detail, createdAt: now }
  return { payment: replaced, events: [event], alerts: [{ kind: 'unsettled', ...about }] }
}

export const cancelledBy = (error: PaymentError, now: number): Partial<TransactionRow> => ({
  status: 'Cancelled',
  error: JSON.stringify(error),
  next_check_at: null,
  updated_at: now,
  called_by: null,
  called_until: null,
})
