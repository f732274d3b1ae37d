// An open charge: whether it can still be paid, who closes its page, and whether another attempt
// may take its place. Pure.

import { unsettledAlert } from './alerts.ts'
import type { PaymentError } from './exceptions.ts'
import { type Decision, newEvent, type Payment, withTransaction } from './payment.ts'
import type { ChargeKeyRow, TransactionRow } from './rows.ts'
import { type PaymentStatus, UNPAID_ENDS } from './status.ts'
import { CALL_PATIENCE_MS, hasCome } from './time.ts'
import type { OpenedPayment } from './types.ts'

/** As `called_until`: of a charge that was begun, and never sent to its gateway. */
export const NEVER_CALLED = 0

/** Its gateway is not called for it any more. */
export const CALL_ENDED = { called_by: null, called_until: null } as const

/** Its gateway is being called to charge it. */
export const isCalled = (
  { called_until: until }: Pick<TransactionRow, 'called_until'>,
  now: number,
): boolean => until !== null && !hasCome(until, now, CALL_PATIENCE_MS)

/** `unknown`: an earlier call with this id was sent, and had no definite answer. */
export type Earlier = 'none' | 'unknown'

/** Whether an open charge was sent, for which no call is waiting and that has no answer. */
export const earlierCall = ({ called_until }: TransactionRow): Earlier =>
  called_until === NEVER_CALLED ? 'none' : 'unknown'

/** It was begun, and its gateway was never called for it. */
export const isUnsent = ({ called_until, charge_answer }: TransactionRow): boolean =>
  called_until === NEVER_CALLED && charge_answer === null

/** At the gateway a repetition is the same charge: it still remembers the first. */
export const isRepeatable = (
  { created_at }: Pick<TransactionRow, 'created_at'>,
  { chargeRepeatableForMs }: { chargeRepeatableForMs: number },
  now: number,
): boolean => now - created_at < chargeRepeatableForMs

/** Its gateway can be asked about it: by the id that it gave, or by ours while it knows that. */
export const isAskable = (
  row: TransactionRow,
  gateway: { chargeRepeatableForMs: number },
  now: number,
): boolean =>
  row.gateway_transaction_id !== null ||
  (row.status === 'Pending' && isRepeatable(row, gateway, now))

/** It certainly cannot be paid: it is ended without asking its gateway. */
export const isUnpayable = (
  row: TransactionRow,
  { unseenIsUnpayable = false }: { unseenIsUnpayable?: boolean },
): boolean => row.gateway_transaction_id === null && (isUnsent(row) || unseenIsUnpayable)

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

/** Its page has expired, and its gateway has not reported how it ended. */
export const isExpiredPage = (row: TransactionRow, now: number): boolean =>
  row.charge_answer !== null && isStranded(row, now)

/** It has no end yet, but its page can no longer be paid: it is not offered any more. */
export function withPageClosed(payment: Payment): Payment {
  const { status, charge_answer } = payment.transaction
  if (status !== 'Pending' || charge_answer === null) return payment
  const opened = JSON.parse(charge_answer) as OpenedPayment
  const { redirectUrl: _, expiresAt: _at, qrCode: _qr, ...rest } = opened
  const { readableCode: _code, deepLink: _link, ...answer } = rest
  return withTransaction(payment, {
    charge_answer: JSON.stringify(answer satisfies OpenedPayment),
    redirect_url: null,
    expires_at: null,
  })
}

/** An open charge that is in the way of another attempt. */
export interface OpenCharge {
  transaction: TransactionRow
  /** The payer may have its page, and pay there. */
  isPageOpen: boolean
}

/** What a gateway answers about an open charge, asked once more. */
export interface OpenAnswer {
  /** Undefined: nothing, or that it does not know the payment. */
  answer?: {
    status: PaymentStatus
    /** Still Pending, and the payer may be paying at this moment. */
    isBeingPaid?: boolean
  }
  /** Why it does not cancel it. */
  refusal?: PaymentError
}

/**
 * `unpaid`: its gateway reports no money, and its page is closed or over; late money is still
 * looked for. `open`: it may still be paid, or that is not known.
 */
export type Standing = 'unpaid' | 'paid' | 'open'

/** `isPageOpen`: the payer may have its page, and pay until the gateway reports an end. */
export function standingOf({ answer, refusal }: OpenAnswer, isPageOpen: boolean): Standing {
  if (!answer) return 'open'
  const { status, isBeingPaid = false } = answer
  if (UNPAID_ENDS.includes(status)) return 'unpaid'
  if (status !== 'Pending') return 'paid'
  // A gateway that refuses to cancel may be about to receive money.
  return isPageOpen || isBeingPaid || refusal ? 'open' : 'unpaid'
}

/**
 * Of a charge without a gateway's id. Its code was lost, so it cannot be paid, and its status
 * cannot be asked for: unless a repeated charge is the same charge to its gateway, or was for a
 * time.
 */
export const standingUnnamed = (
  row: TransactionRow,
  gateway: { chargeRepeatableForMs: number; unseenIsUnpayable?: boolean },
): Standing =>
  gateway.chargeRepeatableForMs === 0 || isUnpayable(row, gateway) ? 'unpaid' : 'open'

/** For a person who cancels it, or for another attempt. */
export type Purpose = 'cancel' | 'replace'

/** As `called_by`, of a charge whose page is being closed. */
export const closedBy = ({ purpose, id }: { purpose: Purpose; id: string }): string =>
  `${purpose} ${id}`

export const CLOSED: Readonly<Record<Purpose, PaymentError>> = {
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
  return isClosing && isCalled(row, now) ? CLOSED[purpose] : undefined
}

export const cancelledBy = (error: PaymentError, now: number): Partial<TransactionRow> => ({
  status: 'Cancelled',
  error: JSON.stringify(error),
  next_check_at: null,
  updated_at: now,
  ...CALL_ENDED,
})

/**
 * An open charge that is to be replaced: its gateway reports no money, and its page is closed or
 * over. Late money is still looked for.
 */
export interface Replacement {
  transactionId: string
  /** ULID, for the event of its end. */
  eventId: string
  /**
   * Its gateway is asked once more at that time, so that a late payment is found even if its
   * webhook was lost. Undefined: it cannot be asked, and an alert is raised if it may be paid.
   */
  nextCheckAt?: number
  /** No payer saw its page, and so it cannot be paid at its gateway. */
  isUnpayable?: boolean
  /** Its page was open. For that caller its gateway has reported an end without money. */
  closedBy?: string
}

/** Only here is it certain that no other call has ended it or got its page. */
export function mayReplace(
  before: TransactionRow,
  { closedBy }: Replacement,
  now: number,
): boolean {
  if (closedBy === undefined) return isStranded(before, now)
  const isFree = before.called_by === closedBy || !isCalled(before, now)
  return before.status === 'Pending' && isFree
}

export interface Replacing {
  stranded: TransactionRow
  replaces: Replacement
  /** That of the new request, if it is another one than before. */
  key: ChargeKeyRow | undefined
}

interface Successor {
  id: string
  requestHash: string
  idempotencyKey?: string | undefined
  isRepeat?: boolean
  correlationId?: string | undefined
  now: number
}

/**
 * The end of a charge, and what the attempt that replaces it has of it. For the same request, that
 * takes over all keys. For another one no key moves: an old key goes on naming the old request.
 */
export function takeOver(
  { stranded, replaces, key }: Replacing,
  known: readonly ChargeKeyRow[],
  by: Successor,
): { replaced: Decision; keys: ChargeKeyRow[] } & Pick<Successor, 'idempotencyKey' | 'isRepeat'> {
  const isRepeat = stranded.is_repeat === 1
  if (stranded.request_hash !== by.requestHash) {
    const { idempotencyKey } = by
    return { replaced: replaced(stranded, replaces, by), keys: [], idempotencyKey, isRepeat }
  }
  const first = stranded.idempotency_key ?? key?.idempotency_key
  const further = known.filter(({ transaction_id }) => transaction_id === stranded.id)
  if (key && key.idempotency_key !== first) further.push(key)
  return {
    replaced: replaced({ ...stranded, idempotency_key: null }, replaces, by),
    keys: further.map((each) => ({ ...each, transaction_id: by.id })),
    idempotencyKey: first,
    isRepeat: by.isRepeat === true || isRepeat,
  }
}

function replaced(
  stranded: TransactionRow,
  { eventId, nextCheckAt, isUnpayable }: Replacement,
  by: Successor,
): Decision {
  const { id, correlationId, now } = by
  const error = { code: 'replaced', message: `Another attempt has replaced it: ${id}.` }
  const payment = withTransaction(
    { transaction: stranded, refunds: [], disputes: [], alerts: [] },
    { ...cancelledBy(error, now), next_check_at: nextCheckAt ?? null },
  )
  const end = { id: eventId, correlationId, now }
  const events = [newEvent('PaymentCancelled', payment.transaction, end)]
  if (nextCheckAt !== undefined || isUnpayable) return { payment, events, alerts: [] }
  return { payment, events, alerts: [unsettledAlert(stranded, now)] }
}
