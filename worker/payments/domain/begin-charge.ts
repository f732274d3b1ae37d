// The beginning of a charge: a new payment, or the one that the same request made before. Pure.

import { v5 } from 'uuid'
import { canonicalJson } from '../../shared/sha256.ts'
import { newest } from './match.ts'
import {
  type Decision,
  isCalled,
  isForeign,
  NEVER_CALLED,
  type NewEvent,
  newEvent,
} from './payment.ts'
import { isStranded, type Replacement, replaceCharge } from './replace-charge.ts'
import type { ChargeKeyRow, TransactionRow } from './rows.ts'
import { UNPAID_ENDS } from './status.ts'
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
  /** An open charge of this order is to be replaced. */
  isReplacing?: boolean
  /** A hash of the request, without the payer's phone. */
  requestHash: string
  correlationId?: string
  /** The subject that asks for it, for the audit trail. */
  by?: string
  /** How long this gateway lets a charge be repeated whose outcome is unknown. */
  chargeRepeatableForMs: number
  /** The open charge that this one replaces, if that is still open. */
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
  /** The key, or this payment of the order, belongs to a request with other `fields`. */
  | {
      state: 'conflict'
      over: 'key' | 'reference'
      fields: readonly string[]
      transaction: TransactionRow
    }
  /** The order is paid, and this key is new: is it the same payment, or another one? */
  | { state: 'already_paid'; transactionId: string }
  /** It would be new, and its gateway may not be called. */
  | { state: 'not_admitted' }

export type BegunCharge = NewCharge | FoundCharge

/** An open charge that is in the way of another attempt. */
export interface OpenCharge {
  transaction: TransactionRow
  /** The payer may have its page, and pay there. */
  isPageOpen: boolean
}

/** Its page has expired, and its gateway has not reported how it ended. */
export const isExpiredPage = (row: TransactionRow, now: number): boolean =>
  row.charge_answer !== null && isStranded(row, now)

/**
 * It is open and cannot be paid: it has no page and no code, or they have expired. Or it is open
 * for another request.
 */
export function openBy(begun: FoundCharge, now: number): OpenCharge | undefined {
  switch (begun.state) {
    case 'unknown':
      return { transaction: begun.transaction, isPageOpen: false }
    case 'answered': {
      const { transaction } = begun
      return isExpiredPage(transaction, now) ? { transaction, isPageOpen: false } : undefined
    }
    case 'conflict': {
      const { transaction, over } = begun
      const isOpen = over === 'reference' && transaction.status === 'Pending'
      return isOpen ? { transaction, isPageOpen: true } : undefined
    }
    default:
      return undefined
  }
}

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

export function beginCharge(known: KnownCharges, start: ChargeStart): BegunCharge {
  const { mayCall, replaces } = start
  const before = findTransaction(known, start)
  if (!before) return mayCall ? newCharge(known, start) : { state: 'not_admitted' }
  const isAgain = mayCall && mayCallAgain(before, start)
  const transaction = isAgain ? calledBy(before, start) : before
  const found = foundAs(transaction, known, start)
  if (!mayCall) return found
  if (replaces?.transactionId === before.id && mayReplace(before, found, replaces, start.now)) {
    return replacement(before, replaces, found, known, start)
  }
  if (found.state !== 'unknown' || transaction.called_by !== start.id) return found
  // This call is repeated: the answer to its first try was lost.
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
  const newKey = own || byKey ? undefined : start.idempotencyKey
  if (newKey !== undefined && status !== 'Pending') {
    return { state: 'already_paid', transactionId: id }
  }
  const { called_until: until, called_by } = transaction
  const isWaiting = charge_answer === null && status === 'Pending'
  const isUnderWay = isWaiting && isCalled(transaction, start.now) && called_by !== start.id
  // A changed order may replace it, as soon as its call has ended.
  const isNext = isUnderWay && start.isReplacing === true && !byKey
  if (request_hash !== start.requestHash && !isNext) {
    const over = byKey ? 'key' : 'reference'
    return { state: 'conflict', over, fields: differencesIn(transaction, start), transaction }
  }
  if (isUnderWay && until !== null) return { state: 'in_progress', until }
  const key = newKey === undefined ? {} : { key: keyOf(transaction, start.id, newKey) }
  return { state: isWaiting ? 'unknown' : 'answered', transaction, ...key }
}

/** A request with this key gets this payment from now on, also when it has ended. */
const keyOf = (
  { id: transaction_id, gateway }: TransactionRow,
  id: string,
  idempotency_key: string,
) => ({ id, gateway, transaction_id, idempotency_key })

/** The fields of the request that are not as they were, by name. */
function differencesIn({ request }: TransactionRow, start: ChargeStart): string[] {
  if (request === null) return []
  const before = JSON.parse(request) as Record<string, unknown>
  const { customerPhone: _, ...now }: Record<string, unknown> = { ...start.request }
  return Object.keys({ ...before, ...now }).filter(
    (name) => canonicalJson(before[name]) !== canonicalJson(now[name]),
  )
}

/** At the gateway a repetition is the same charge: it still remembers the first. */
export const isRepeatable = (
  { created_at }: Pick<TransactionRow, 'created_at'>,
  { chargeRepeatableForMs }: { chargeRepeatableForMs: number },
  now: number,
): boolean => now - created_at < chargeRepeatableForMs

/** Its result is unknown, no call is under way, and a call cannot make a second payment. */
function mayCallAgain(transaction: TransactionRow, start: ChargeStart): boolean {
  const { called_until: until } = transaction
  return (
    (isRepeatable(transaction, start, start.now) || until === NEVER_CALLED) &&
    transaction.request_hash === start.requestHash &&
    transaction.status === 'Pending' &&
    transaction.charge_answer === null &&
    // A gateway that has given it an id would not give its page again.
    transaction.gateway_transaction_id === null &&
    (until === null || until <= start.now)
  )
}

/** Whether an open charge was sent, for which no call is waiting and that has no answer. */
export const earlierCall = ({ called_until }: TransactionRow): Earlier =>
  called_until === NEVER_CALLED ? 'none' : 'unknown'

const calledBy = (transaction: TransactionRow, { id, until }: ChargeStart): TransactionRow => ({
  ...transaction,
  called_by: id,
  called_until: until,
  next_check_at: until,
})

/** Only here is it certain that no other call has ended it or got its page. */
function mayReplace(
  before: TransactionRow,
  found: FoundCharge,
  { closedBy }: Replacement,
  now: number,
): boolean {
  if (found.state === 'conflict' && found.over === 'key') return false
  if (closedBy === undefined) return isStranded(before, now)
  const isFree = before.called_by === closedBy || !isCalled(before, now)
  return before.status === 'Pending' && isFree
}

/**
 * For the same request, the new attempt takes over all keys of the stranded one. For another one no
 * key moves: an old key goes on naming the old request.
 */
function replacement(
  stranded: TransactionRow,
  replaces: Replacement,
  found: FoundCharge,
  known: KnownCharges,
  start: ChargeStart,
): BegunCharge {
  const { id, now, correlationId = null } = start
  const by = { id, correlationId, now }
  if (stranded.request_hash !== start.requestHash) {
    const isRepeat = stranded.is_repeat === 1
    const begun = newCharge(known, { ...start, isRepeat })
    return { ...begun, replaced: replaceCharge(stranded, replaces, by) }
  }
  const given = 'key' in found ? found.key : undefined
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
  const unnamed = { ...stranded, idempotency_key: null }
  return { ...begun, keys, replaced: replaceCharge(unnamed, replaces, by) }
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
    last_check_at: null,
    last_check_status: null,
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
 * @forTests Ids that must never change.
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
