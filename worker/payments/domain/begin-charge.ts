// The beginning of a charge: a new payment, or the one that the same request made before. Pure.

import { v5 } from 'uuid'
import { newest } from './match.ts'
import { type Decision, isCalled, type NewEvent } from './payment.ts'
import { type Replacement, replaceCharge } from './replace-charge.ts'
import type { TransactionRow } from './rows.ts'
import { UNPAID_ENDS } from './status.ts'
import type { ChargeRequest } from './transaction.ts'

export interface ChargeStart {
  /** ULID: the transaction's, when this begins one. */
  id: string
  /** Validated. */
  request: ChargeRequest
  idempotencyKey?: string
  /** Of the request, without the payer's phone. */
  requestHash: string
  correlationId?: string
  /** Of the gateway: a charge whose outcome is unknown may be repeated. */
  chargeIsIdempotent: boolean
  /** The stranded charge that this one replaces, if that is still stranded. */
  replaces?: Replacement
  now: number
  /** Until then the caller calls the gateway, and the same request is `in_progress`. */
  until: number
}

/** What is known of the request: rows that carry its id, its key or its order. */
export interface KnownCharges {
  /** The row that this very call has stored before. */
  own: TransactionRow | undefined
  byKey: TransactionRow | undefined
  /** Every attempt to pay this order. */
  attempts: readonly TransactionRow[]
}

export type FoundCharge =
  /** The payment as it is now. */
  | { state: 'answered'; transaction: TransactionRow }
  | { state: 'in_progress' }
  /** It is open, without a page or a code to pay it with. The sweeper settles it. */
  | { state: 'unknown'; transaction: TransactionRow }
  /** The key, or an open payment of this order, belongs to another request. */
  | { state: 'conflict'; over: 'key' | 'reference' }

export type BegunCharge =
  | {
      /** Call the gateway. */
      state: 'begun'
      transaction: TransactionRow
      events: readonly NewEvent[]
      /** What becomes of the charge that this one replaces. */
      replaced?: Decision
    }
  | FoundCharge

/** As `called_until`: of a charge that was begun, and never sent to its gateway. */
export const NEVER_CALLED = 0

type NewCharge = Extract<BegunCharge, { state: 'begun' }>

export function beginCharge(known: KnownCharges, start: ChargeStart): BegunCharge {
  const before = findTransaction(known)
  if (!before) return newCharge(known, start)
  const transaction = mayCallAgain(before, start) ? calledBy(before, start) : before
  const found = foundAs(transaction, start)
  const { replaces } = start
  if (found.state === 'unknown' && replaces?.transactionId === transaction.id) {
    return replacement(transaction, replaces, known, start)
  }
  // The same call again: the answer to the first one was lost.
  const isMine = found.state === 'unknown' && transaction.called_by === start.id
  return isMine ? { state: 'begun', transaction, events: [] } : found
}

/** The result of this request before, for a caller that may not call the gateway now. */
export function findCharge(known: KnownCharges, start: ChargeStart): FoundCharge | undefined {
  const transaction = findTransaction(known)
  return transaction && foundAs(transaction, start)
}

/** An order whose payments all failed may be paid again; any other payment is found instead. */
const findTransaction = ({ own, byKey, attempts }: KnownCharges): TransactionRow | undefined =>
  own ?? byKey ?? newest(attempts.filter(({ status }) => !UNPAID_ENDS.includes(status)))

function foundAs(transaction: TransactionRow, start: ChargeStart): FoundCharge {
  const { request_hash, idempotency_key, status, charge_answer } = transaction
  if (request_hash !== start.requestHash) {
    const isKey = start.idempotencyKey !== undefined && idempotency_key === start.idempotencyKey
    return { state: 'conflict', over: isKey ? 'key' : 'reference' }
  }
  if (charge_answer !== null || status !== 'Pending') return { state: 'answered', transaction }
  if (isCalled(transaction, start.now) && transaction.called_by !== start.id)
    return { state: 'in_progress' }
  return { state: 'unknown', transaction }
}

/** Its result is unknown, no call is under way, and a call cannot make a second payment. */
function mayCallAgain(transaction: TransactionRow, start: ChargeStart): boolean {
  const { called_until: until } = transaction
  return (
    (start.chargeIsIdempotent || until === NEVER_CALLED) &&
    transaction.request_hash === start.requestHash &&
    transaction.status === 'Pending' &&
    transaction.charge_answer === null &&
    // A gateway that has given it an id would not give its page again.
    transaction.gateway_transaction_id === null &&
    (until === null || until <= start.now)
  )
}

const calledBy = (transaction: TransactionRow, { id, until }: ChargeStart): TransactionRow => ({
  ...transaction,
  called_by: id,
  called_until: until,
  next_check_at: until,
})

/** Only here is it certain that no other call has ended it or got its page. */
function replacement(
  stranded: TransactionRow,
  replaces: Replacement,
  known: KnownCharges,
  start: ChargeStart,
): BegunCharge {
  const idempotencyKey = start.idempotencyKey ?? stranded.idempotency_key
  const key = idempotencyKey === null ? {} : { idempotencyKey }
  const { id, now, correlationId = null } = start
  const replaced = replaceCharge(stranded, replaces, { id, idempotencyKey, correlationId, now })
  return { ...newCharge(known, { ...start, ...key }), replaced }
}

function newCharge({ attempts }: KnownCharges, start: ChargeStart): NewCharge {
  const { id, now, until, idempotencyKey } = start
  const { customerPhone: _, ...request } = start.request
  const { gateway, reference, amount, currency, description, metadata } = request
  const attempt = Math.max(0, ...attempts.map((row) => row.attempt)) + 1
  const transaction: TransactionRow = {
    id,
    gateway,
    reference,
    attempt,
    gateway_transaction_id: null,
    external_reference_id: externalReference({ ...start, ...request }, attempt),
    idempotency_key: idempotencyKey ?? null,
    request_hash: start.requestHash,
    status: 'Pending',
    amount,
    currency,
    refunded_amount: 0,
    description,
    metadata: metadata ? JSON.stringify(metadata) : null,
    request: JSON.stringify(request),
    redirect_url: null,
    charge_answer: null,
    expires_at: null,
    called_by: id,
    called_until: until,
    // Due when the caller must be done, so that the sweeper finds one that crashed.
    next_check_at: until,
    correlation_id: start.correlationId ?? null,
    error: null,
    created_at: now,
    updated_at: now,
    paid_at: null,
    paid_amount: null,
    paid_currency: null,
    is_repeat: 0,
  }
  const { correlation_id: correlationId } = transaction
  const event = {
    id,
    type: 'PaymentInitiated',
    transaction,
    correlationId,
    createdAt: now,
  } as const
  return { state: 'begun', transaction, events: [event] }
}

/** Generated once. Another one would rename payments that a gateway may still be asked about. */
const NAMESPACE = '2b06684f-c0f2-441b-923c-5be583813473'

/**
 * Our name for a payment at its gateway, a UUIDv5 of the gateway, the caller's key or else the
 * order, and the attempt. It is derived, so that every repetition of a charge has the same one.
 */
export function externalReference(
  charge: { gateway: string; reference: string; idempotencyKey?: string },
  attempt: number,
): string {
  const { gateway, reference, idempotencyKey } = charge
  // As JSON, so that no key looks like an order, and no two orders look alike.
  const key = idempotencyKey === undefined ? reference : { key: idempotencyKey }
  // Two gateways may share an account: without the gateway one payment there would pay two here.
  return v5(JSON.stringify([gateway, key, attempt]), NAMESPACE)
}
