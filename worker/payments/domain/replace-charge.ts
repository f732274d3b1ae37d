// The way out for a stranded charge: it is open and cannot be paid, because its page or its
// code never came, or has expired. It becomes Cancelled, and the order gets another attempt. Pure.

import { type Decision, isCalled, type NewEvent, withTransaction } from './payment.ts'
import type { TransactionRow } from './rows.ts'
import { type PaymentStatus, UNPAID_ENDS } from './status.ts'

/** What is known of a stranded charge when its gateway was asked once more. */
export interface AskedAgain {
  /** The gateway has given it an id. Without one, its status cannot be asked for. */
  isNamed: boolean
  /** A repeated charge is the same charge to this gateway: it can be repeated instead. */
  chargeIsIdempotent: boolean
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
  const { isNamed, chargeIsIdempotent, answer, cancellation } = asked
  // Its code was lost, so it cannot be paid, and its status cannot be checked.
  if (!isNamed) return chargeIsIdempotent ? 'wait' : 'replace'
  if (!answer) return 'wait'
  const { status, isBeingPaid = false } = answer
  if (UNPAID_ENDS.includes(status)) return 'replace'
  if (status !== 'Pending') return 'apply'
  // A gateway that refuses to cancel may be about to receive money.
  return isBeingPaid || cancellation === 'refused' ? 'wait' : 'replace'
}

/** A stranded charge that is to be replaced: `wayOut` said so. */
export interface Replacement {
  transactionId: string
  /** ULID, for the event of its end. */
  eventId: string
  /**
   * Its gateway is asked once more at that time, so that a late payment is found even if its
   * webhook was lost. Undefined: it cannot be asked, and an alert is raised.
   */
  nextCheckAt?: number
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

/** `by`: the attempt that replaces it, and takes over its key. */
export function replaceCharge(
  stranded: TransactionRow,
  { eventId, nextCheckAt }: Replacement,
  by: { id: string; correlationId: string | null; now: number },
): Decision {
  const { id: transactionId, gateway, reference, amount, currency } = stranded
  const { now } = by
  const error = { code: 'replaced', message: `Another attempt has replaced it: ${by.id}.` }
  const replaced = withTransaction(
    { transaction: stranded, refunds: [], webhookEvents: [], alerts: [] },
    {
      status: 'Cancelled',
      error: JSON.stringify(error),
      idempotency_key: null,
      next_check_at: nextCheckAt ?? null,
      updated_at: now,
      called_by: null,
      called_until: null,
    },
  )
  const { transaction } = replaced
  const event: NewEvent = {
    id: eventId,
    type: 'PaymentCancelled',
    transaction,
    correlationId: by.correlationId ?? transaction.correlation_id,
    createdAt: now,
  }
  if (nextCheckAt !== undefined) return { payment: replaced, events: [event], alerts: [] }
  const since = new Date(stranded.created_at).toISOString()
  const detail = { reference, amount, currency, since, said: 'nothing' } as const
  const about = { subject: transactionId, gateway, transactionId, detail, createdAt: now }
  return { payment: replaced, events: [event], alerts: [{ kind: 'unsettled', ...about }] }
}
