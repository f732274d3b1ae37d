// The beginning of a charge: a new payment, or the one that the same request made before. Pure.

import { v5 } from 'uuid'
import { canonicalJson } from '../../shared/sha256.ts'
import { newest } from './match.ts'
import {
  type Decision,
  isCalled,
  isForeign,
  type NewEvent,
  newEvent,
  withTransaction,
} from './payment.ts'
import type { ChargeKeyRow, TransactionRow } from './rows.ts'
import { type PaymentStatus, UNPAID_ENDS } from './status.ts'
import type { ChargeRequest } from './types.ts'

export interface ChargeStart {
  /** ULID: the transaction's, when this begins one. */
  id: string
  /** Validated. */
  request: ChargeRequest
  /** The gateway may be called. If not, only what the same request made before is found. */
  mayCall: boolean
  idempotencyKey?: string
  /** A paid order is charged again, on purpose. */
  isRepeat?: boolean
  /** Of the request, without the payer's phone. */
  requestHash: string
  correlationId?: string
  /** The subject that asks for it, for the audit trail. */
  by?: string
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
  /** The database's own id. */
  installation: string
  /** The row that this very call has stored before. */
  own: TransactionRow | undefined
  byKey: TransactionRow | undefined
  /** Every attempt to pay this order. */
  attempts: readonly TransactionRow[]
  /** Further keys of the charge that is replaced, and maybe others. */
  keys: readonly ChargeKeyRow[]
}

/** `unknown`: an earlier call with this id was sent, and had no definite answer. */
export type Earlier = 'none' | 'unknown'

/** What became of the request, for its caller. */
export type ChargeBegun =
  | { state: 'begun'; transaction: TransactionRow; earlier: Earlier }
  | FoundCharge

export type FoundCharge =
  /**
   * The same request was made before: with the same key or, without one, for the same order. The
   * payment as it is now. `key`: another one than before, which belongs to it from now on.
   */
  | { state: 'answered'; transaction: TransactionRow; key?: ChargeKeyRow }
  /** Until then, unless its call ends sooner. */
  | { state: 'in_progress'; until: number }
  /**
   * It is open, without a page or a code to pay it with: the gateway must not be called twice, is
   * not called now, or returned no page. The sweeper settles it.
   */
  | { state: 'unknown'; transaction: TransactionRow; key?: ChargeKeyRow }
  /** The key, or a payment of this order, belongs to a request with other `fields`. */
  | { state: 'conflict'; over: 'key' | 'reference'; fields: readonly string[] }
  /** The order is paid, and this key is new: is it the same payment, or another one? */
  | { state: 'already_paid'; transactionId: string }
  /** It would be new, and its gateway may not be called. */
  | { state: 'not_admitted' }

export type BegunCharge = NewCharge | FoundCharge

interface NewCharge {
  /** Call the gateway. */
  state: 'begun'
  transaction: TransactionRow
  earlier: Earlier
  events: readonly NewEvent[]
  /** Keys that belong to it from now on. */
  keys: readonly ChargeKeyRow[]
  /** What becomes of the charge that this one replaces. */
  replaced?: Decision
}

/** As `called_until`: of a charge that was begun, and never sent to its gateway. */
export const NEVER_CALLED = 0

export function beginCharge(known: KnownCharges, start: ChargeStart): BegunCharge {
  const { mayCall, replaces } = start
  const before = findTransaction(known, start)
  if (!before) return mayCall ? newCharge(known, start) : { state: 'not_admitted' }
  const isAgain = mayCall && mayCallAgain(before, start)
  const transaction = isAgain ? calledBy(before, start) : before
  const found = foundAs(transaction, known, start)
  if (!mayCall || (found.state !== 'answered' && found.state !== 'unknown')) return found
  if (replaces?.transactionId === before.id && isStranded(before, start.now)) {
    return replacement(before, replaces, found.key, known, start)
  }
  // This call is repeated: the answer to its first try was lost.
  const isMine = found.state === 'unknown' && transaction.called_by === start.id
  if (!isMine) return found
  const keys = found.key ? [found.key] : []
  const earlier = before.id === start.id ? 'none' : earlierCall(before)
  return { state: 'begun', transaction, earlier, events: [], keys }
}

/**
 * An order whose payments all failed may be paid again, and a paid one with `repeat`; any other
 * payment is found instead. Not so an open one of another installation: its page is theirs.
 */
const findTransaction = (
  { installation, own, byKey, attempts }: KnownCharges,
  { isRepeat = false }: ChargeStart,
) =>
  own ??
  byKey ??
  newest(
    attempts.filter((row) =>
      row.status === 'Pending'
        ? !isForeign(row, installation)
        : !isRepeat && !UNPAID_ENDS.includes(row.status),
    ),
  )

function foundAs(
  transaction: TransactionRow,
  { own, byKey }: KnownCharges,
  start: ChargeStart,
): FoundCharge {
  const { id, request_hash, status, charge_answer } = transaction
  const isNewKey = start.idempotencyKey !== undefined && !own && !byKey
  if (isNewKey && status !== 'Pending') return { state: 'already_paid', transactionId: id }
  if (request_hash !== start.requestHash) {
    const over = byKey ? 'key' : 'reference'
    return { state: 'conflict', over, fields: differencesIn(transaction, start) }
  }
  const { called_until: until, called_by } = transaction
  const isWaiting = charge_answer === null && status === 'Pending'
  if (isWaiting && until !== null && isCalled(transaction, start.now) && called_by !== start.id)
    return { state: 'in_progress', until }
  const key = isNewKey ? { key: keyOf(transaction, start) } : {}
  return { state: isWaiting ? 'unknown' : 'answered', transaction, ...key }
}

/** A request with this key gets this payment from now on, also when it has ended. */
const keyOf = ({ id: transaction_id, gateway }: TransactionRow, start: ChargeStart) => ({
  id: start.id,
  gateway,
  transaction_id,
  idempotency_key: start.idempotencyKey ?? '',
})

/** The fields of the request that are not as they were, by name. */
function differencesIn({ request }: TransactionRow, start: ChargeStart): string[] {
  if (request === null) return []
  const before = JSON.parse(request) as Record<string, unknown>
  const { customerPhone: _, ...now }: Record<string, unknown> = { ...start.request }
  return Object.keys({ ...before, ...now }).filter(
    (name) => canonicalJson(before[name]) !== canonicalJson(now[name]),
  )
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

/** Of an open charge that no call is waiting for, and that has no answer. */
export const earlierCall = ({ called_until }: TransactionRow): Earlier =>
  called_until === NEVER_CALLED ? 'none' : 'unknown'

const calledBy = (transaction: TransactionRow, { id, until }: ChargeStart): TransactionRow => ({
  ...transaction,
  called_by: id,
  called_until: until,
  next_check_at: until,
})

/**
 * Only here is it certain that no other call has ended it or got its page. The new attempt takes
 * over all of its keys. `given`: the key of this request, if it is a new one.
 */
function replacement(
  stranded: TransactionRow,
  replaces: Replacement,
  given: ChargeKeyRow | undefined,
  known: KnownCharges,
  start: ChargeStart,
): BegunCharge {
  const { id, now, correlationId = null } = start
  const first = stranded.idempotency_key ?? given?.idempotency_key
  const further = known.keys.filter(({ transaction_id }) => transaction_id === stranded.id)
  if (given && given.idempotency_key !== first) further.push(given)
  const { idempotencyKey: _, ...unkeyed } = start
  const begun = newCharge(known, {
    ...unkeyed,
    ...(first !== undefined && { idempotencyKey: first }),
    isRepeat: start.isRepeat === true || stranded.is_repeat === 1,
  })
  const keys = further.map((key) => ({ ...key, transaction_id: id }))
  return { ...begun, keys, replaced: replaceCharge(stranded, replaces, { id, correlationId, now }) }
}

function newCharge({ attempts, installation }: KnownCharges, start: ChargeStart): NewCharge {
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
    external_reference_id: externalReference({ ...start, ...request, installation }, attempt),
    idempotency_key: idempotencyKey ?? null,
    request_hash: start.requestHash,
    status: 'Pending',
    amount,
    currency,
    refunded_amount: 0,
    refund_revision: 0,
    refunds_read_at: null,
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
    is_repeat: start.isRepeat ? 1 : 0,
    unreadable_event: null,
    alert: null,
    installation,
  }
  const event = newEvent('PaymentInitiated', transaction, { id, now })
  return { state: 'begun', transaction, earlier: 'none', events: [event], keys: [] }
}

/** Generated once. Another one would rename payments that were charged after a backup. */
const NAMESPACE = '2b06684f-c0f2-441b-923c-5be583813473'

/**
 * Our name for a payment at its gateway, a UUIDv5 of the gateway, the caller's key or else the
 * order, and the attempt, in the namespace of the installation: others may share its account, and
 * have an order of this name. It is derived, so that a restored backup gives a charge that it has
 * lost the same one.
 */
export function externalReference(
  charge: { installation: string; gateway: string; reference: string; idempotencyKey?: string },
  attempt: number,
): string {
  const { installation, gateway, reference, idempotencyKey } = charge
  // As JSON, so that no key looks like an order, and no two orders look alike.
  const key = idempotencyKey === undefined ? reference : { key: idempotencyKey }
  // Two gateways may share an account: without the gateway one payment there would pay two here.
  return v5(JSON.stringify([gateway, key, attempt]), v5(installation, NAMESPACE))
}

// The way out for a stranded charge: it is open and cannot be paid, because its page or its code
// never came, or has expired. It becomes Cancelled, and the order gets another attempt.

/** What is known of a stranded charge when its gateway was asked once more. */
export interface AskedAgain {
  /** The gateway has given it an id. Without one, its status cannot be asked for. */
  hasGatewayId: boolean
  /** A repeated charge is the same charge to this gateway: it can be repeated instead. */
  chargeIsIdempotent: boolean
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
  const { hasGatewayId, chargeIsIdempotent, unseenIsUnpayable, answer, cancellation } = asked
  // Its code was lost, so it cannot be paid, and its status cannot be checked.
  if (!hasGatewayId) return chargeIsIdempotent && !unseenIsUnpayable ? 'wait' : 'replace'
  if (!answer) return 'wait'
  const { status, isBeingPaid = false } = answer
  if (UNPAID_ENDS.includes(status)) return 'replace'
  if (status !== 'Pending') return 'apply'
  // A gateway that refuses to cancel may be about to receive money.
  return isBeingPaid || cancellation === 'refused' ? 'wait' : 'replace'
}

/** A stranded charge that is to be replaced, as `wayOut` decided. */
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
function replaceCharge(
  stranded: TransactionRow,
  { eventId, nextCheckAt, isUnpayable }: Replacement,
  by: { id: string; correlationId: string | null; now: number },
): Decision {
  const { id: transactionId, gateway, reference, amount, currency } = stranded
  const { now } = by
  const error = { code: 'replaced', message: `Another attempt has replaced it: ${by.id}.` }
  const replaced = withTransaction(
    { transaction: stranded, refunds: [], alerts: [] },
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
  const event = newEvent('PaymentCancelled', transaction, { ...by, id: eventId })
  if (nextCheckAt !== undefined || isUnpayable) {
    return { payment: replaced, events: [event], alerts: [] }
  }
  const since = new Date(stranded.created_at).toISOString()
  const detail = { reference, amount, currency, since, gatewayStatus: 'none' } as const
  const about = { subject: transactionId, gateway, transactionId, detail, createdAt: now }
  return { payment: replaced, events: [event], alerts: [{ kind: 'unsettled', ...about }] }
}
