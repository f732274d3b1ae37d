// The beginning of a charge: a new payment, the one that the same request has begun before (with
// the same key or, without one, for the same order), or one that takes the place of an open one. It
// is stored before its gateway is called. Pure.

import { canonicalJson } from '../../shared/sha256.ts'
import { externalReference } from '../domain/new-id.ts'
import {
  type Earlier,
  earlierCall,
  isCalled,
  isExpiredPage,
  isRepeatable,
  mayReplace,
  NEVER_CALLED,
  type OpenCharge,
  type Replacement,
  type Replacing,
  takeOver,
} from '../domain/open-charge.ts'
import { isForeign, newEvent, newest } from '../domain/payment.ts'
import { type ChargeKeyRow, TRANSACTIONS, type TransactionRow } from '../domain/rows.ts'
import { UNPAID_ENDS } from '../domain/status.ts'
import type { ChargeRequest, OpenAlert } from '../domain/types.ts'
import type { Act, Key, Paused, Rules, WorkingSet } from './act.ts'
import { recordAudit, store } from './store.ts'

export interface ChargeStart {
  /** ULID: the transaction's, when this begins one. */
  id: string
  /** Validated. */
  request: ChargeRequest
  idempotencyKey?: string | undefined
  /** A paid order is charged again, on purpose. */
  isRepeat?: boolean
  /** An open charge of this order is to be replaced. */
  isReplacing?: boolean
  /** A hash of the request, without the payer's phone. */
  requestHash: string
  /** The gateway may be called. If not, only what the same request made before is found. */
  mayCall: boolean
  correlationId?: string | undefined
  /** The subject that asks for it, for the audit trail. */
  by?: string | undefined
  /** How long this gateway lets a charge be repeated whose outcome is unknown. */
  chargeRepeatableForMs: number
  /** The open charge that this one replaces, if that is still open. */
  replaces?: Replacement | undefined
  now: number
  /** Until then the caller calls the gateway, and the same request is `in_progress`. */
  until: number
}

/** What became of the request, for its caller. */
export type ChargeBegun =
  | NewCharge
  | FoundCharge
  /** It would be new, and its gateway may not be called. */
  | { state: 'not_admitted' }
  | Paused

/** Call the gateway. */
export interface NewCharge {
  state: 'begun'
  transaction: TransactionRow
  earlier: Earlier
}

/** Its gateway is not called. */
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

export function beginCharge(start: ChargeStart, rules: Rules): Act<ChargeBegun> {
  return {
    keys: keysOf(start),
    decide(rows) {
      const known = knownTo(rows, start)
      const way = wayOf(known, start)
      const paused = rows.pause && pausedInstead(rows, way, start)
      if (paused) return paused
      switch (way.to) {
        case 'nothing':
          return { state: 'not_admitted' }
        case 'found':
          return giveFound(rows, way.found, known)
        case 'again':
          rows.put({ transactions: [way.transaction], chargeKeys: way.key ? [way.key] : [] })
          recordCharge(rows, start, way.transaction)
          return begun(way.transaction, known, way.earlier)
        case 'replace': {
          const { replaced, keys, ...own } = takeOver(way, known.keys, start)
          const transaction = newAttempt(known, { ...start, ...own })
          store(rows, replaced, rules)
          storeNew(rows, transaction, start, rules)
          rows.put({ chargeKeys: keys })
          recordCharge(rows, start, transaction, way.stranded.id)
          return begun(transaction, known)
        }
        case 'new': {
          const transaction = newAttempt(known, start)
          storeNew(rows, transaction, start, rules)
          recordCharge(rows, start, transaction)
          return begun(transaction, known)
        }
      }
    },
  }
}

const begun = (row: TransactionRow, known: Known, earlier: Earlier = 'none'): NewCharge => ({
  state: 'begun',
  transaction: withLateAlert(row, known),
  earlier,
})

function giveFound(rows: WorkingSet, found: FoundCharge, known: Known): FoundCharge {
  if (found.state !== 'answered' && found.state !== 'unknown') return found
  if (found.key) rows.put({ chargeKeys: [found.key] })
  return { ...found, transaction: withLateAlert(found.transaction, known) }
}

function storeNew(
  rows: WorkingSet,
  transaction: TransactionRow,
  { id, now }: ChargeStart,
  rules: Rules,
): void {
  const payment = { transaction, refunds: [], disputes: [], alerts: [] }
  const event = newEvent('PaymentInitiated', transaction, { id, now })
  store(rows, { payment, events: [event], alerts: [] }, rules)
}

function keysOf({ id, idempotencyKey: key, request, replaces }: ChargeStart): Key[] {
  const { gateway, reference } = request
  const keys: Key[] = [
    ['payment', id],
    ['order', gateway, reference],
  ]
  if (key !== undefined) keys.push(['chargeKey', gateway, key])
  if (!replaces) return keys
  const { transactionId } = replaces
  return [...keys, ['keysOf', transactionId], ['alert', 'unsettled', transactionId]]
}

type Way =
  | { to: 'nothing' }
  | { to: 'found'; found: FoundCharge }
  /** Its gateway is called for one that began before: `isOwn`, by an earlier try of this call. */
  | {
      to: 'again'
      isOwn: boolean
      transaction: TransactionRow
      earlier: Earlier
      key: ChargeKeyRow | undefined
    }
  | ({ to: 'replace' } & Replacing)
  | { to: 'new' }

function wayOf(known: Known, start: ChargeStart): Way {
  const { mayCall, replaces } = start
  const before = chargeBefore(known, start)
  if (!before) return { to: mayCall ? 'new' : 'nothing' }
  const found = foundAs(before, known, start)
  if (!mayCall) return { to: 'found', found }
  const key = 'key' in found ? found.key : undefined
  const isOfKey = found.state === 'conflict' && found.over === 'key'
  if (
    replaces?.transactionId === before.id &&
    !isOfKey &&
    mayReplace(before, replaces, start.now)
  ) {
    return { to: 'replace', stranded: before, replaces, key }
  }
  const isOwn = isOwnTry(before, start)
  const isAgain = found.state === 'unknown' && (isOwn || mayBeCalledAgain(before, start))
  if (!isAgain) return { to: 'found', found }
  return {
    to: 'again',
    isOwn,
    transaction: isOwn ? before : calledBy(before, start),
    earlier: before.id === start.id ? 'none' : earlierCall(before),
    key,
  }
}

/** If its gateway would be called for it, or asked to close a page, and was not called before. */
function pausedInstead(
  rows: WorkingSet,
  way: Way,
  { now, isReplacing, replaces }: ChargeStart,
): Paused | undefined {
  if (way.to === 'nothing') return { state: 'paused' }
  if (way.to === 'found') {
    const open = isReplacing ? openBy(way.found, now) : undefined
    return open && { state: 'paused', transactionId: open.transaction.id }
  }
  // It was begun before the pause.
  if (way.to === 'again' && way.isOwn) return undefined
  const replaced = replaces && rows.get('transactions', replaces.transactionId)
  // So was this request, which has closed the page of the attempt that it replaces.
  if (replaces?.closedBy !== undefined && replaced?.called_by === replaces.closedBy)
    return undefined
  return { state: 'paused', ...(way.to === 'again' && { transactionId: way.transaction.id }) }
}

/** `replacedId`: of the attempt that it replaces. */
function recordCharge(
  rows: WorkingSet,
  { id, by, now: at, replaces }: ChargeStart,
  { id: transaction_id, amount, is_repeat }: TransactionRow,
  replacedId?: string,
): void {
  const detail = is_repeat === 1 ? 'repeat' : null
  recordAudit(rows, { id, by }, { at, action: 'charge', transaction_id, amount, detail })
  if (replacedId === undefined || !replaces) return
  const replacing = { at, action: 'replace', transaction_id: replacedId } as const
  recordAudit(rows, { id: replaces.eventId, by }, { ...replacing, about: transaction_id })
}

/** This call has stored that it calls its gateway, and the answer to that was lost. */
const isOwnTry = ({ called_by }: TransactionRow, { id }: ChargeStart): boolean => called_by === id

/** Of one whose result is unknown: no call is under way, and one cannot make a second payment. */
const mayBeCalledAgain = (row: TransactionRow, start: ChargeStart): boolean =>
  (isRepeatable(row, start, start.now) || row.called_until === NEVER_CALLED) &&
  // A gateway that has given it an id would not give its page again.
  row.gateway_transaction_id === null &&
  (row.called_until === null || row.called_until <= start.now)

const calledBy = (transaction: TransactionRow, { id, until }: ChargeStart): TransactionRow => ({
  ...transaction,
  called_by: id,
  called_until: until,
  next_check_at: until,
})

function newAttempt({ attempts, installation }: Known, start: ChargeStart): TransactionRow {
  const { id, now, until, idempotencyKey } = start
  const { customerPhone: _, ...request } = start.request
  const { gateway, reference, amount, currency, description, metadata } = request
  const attempt = Math.max(0, ...attempts.map((row) => row.attempt)) + 1
  return TRANSACTIONS.row({
    id,
    gateway,
    reference,
    attempt,
    external_reference_id: externalReference({ ...start, ...request, installation }, attempt),
    idempotency_key: idempotencyKey ?? null,
    request_hash: start.requestHash,
    status: 'Pending',
    amount,
    currency,
    refunded_amount: 0,
    refund_revision: 0,
    description,
    metadata: metadata ? JSON.stringify(metadata) : null,
    request: JSON.stringify(request),
    called_by: id,
    called_until: until,
    // Due when the caller must be done, so that the sweeper finds one that crashed.
    next_check_at: until,
    correlation_id: start.correlationId ?? null,
    created_at: now,
    updated_at: now,
    is_repeat: start.isRepeat ? 1 : 0,
    installation,
  })
}

/** What is known of the request: rows that carry its id, its key or its order. */
interface Known {
  /** The database's own id. */
  installation: string
  /** The row that this very call has stored before. */
  own: TransactionRow | undefined
  /** Never an open one of another installation: in a copy those have given up their keys. */
  byKey: TransactionRow | undefined
  /** Every attempt to pay this order. */
  attempts: readonly TransactionRow[]
  /** Further keys of the charge that is replaced, and maybe others. */
  keys: readonly ChargeKeyRow[]
}

function knownTo(rows: WorkingSet, { id, idempotencyKey, request }: ChargeStart): Known {
  const isOurs = ({ gateway }: { gateway: string }) => gateway === request.gateway
  const ofGateway = rows.all('transactions').filter(isOurs)
  const keys = rows.all('chargeKeys').filter(isOurs)
  const further = keys.find(({ idempotency_key: key }) => key === idempotencyKey)
  return {
    installation: rows.installation,
    own: rows.get('transactions', id),
    byKey: ofGateway.find(
      (row) =>
        row.id === further?.transaction_id ||
        (idempotencyKey !== undefined && row.idempotency_key === idempotencyKey),
    ),
    attempts: ofGateway.filter(({ reference }) => reference === request.reference),
    keys,
  }
}

/**
 * An order whose payments all failed may be paid again, and a paid one with `repeat`; any other
 * payment is found instead. Not so an open one of another installation: its page is theirs.
 */
const chargeBefore = (
  { installation, own, byKey, attempts }: Known,
  { isRepeat = false }: ChargeStart,
): TransactionRow | undefined =>
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
  { own, byKey }: Known,
  start: ChargeStart,
): FoundCharge {
  const { id, gateway, request_hash, status, charge_answer } = transaction
  const newKey = own || byKey ? undefined : start.idempotencyKey
  if (newKey !== undefined && status !== 'Pending') {
    return { state: 'already_paid', transactionId: id }
  }
  const { called_until: until } = transaction
  const isWaiting = charge_answer === null && status === 'Pending'
  const isUnderWay = isWaiting && isCalled(transaction, start.now) && !isOwnTry(transaction, start)
  // A changed order may replace it, as soon as its call has ended.
  const isNext = isUnderWay && start.isReplacing === true && !byKey
  if (request_hash !== start.requestHash && !isNext) {
    const over = byKey ? 'key' : 'reference'
    return { state: 'conflict', over, fields: differencesIn(transaction, start), transaction }
  }
  if (isUnderWay && until !== null) return { state: 'in_progress', until }
  const state = isWaiting ? 'unknown' : 'answered'
  if (newKey === undefined) return { state, transaction }
  // A request with this key gets this payment from now on, also when it has ended.
  const key = { id: start.id, gateway, transaction_id: id, idempotency_key: newKey }
  return { state, transaction, key }
}

/** The fields of the request that are not as they were, by name. */
function differencesIn({ request }: TransactionRow, start: ChargeStart): string[] {
  if (request === null) return []
  const before = JSON.parse(request) as Record<string, unknown>
  const { customerPhone: _, ...now }: Record<string, unknown> = { ...start.request }
  return Object.keys({ ...before, ...now }).filter(
    (name) => canonicalJson(before[name]) !== canonicalJson(now[name]),
  )
}

/** With the alert of late money of any attempt: the order must not be paid again. */
function withLateAlert(row: TransactionRow, { attempts }: Known): TransactionRow {
  const isLate = ({ alert }: TransactionRow) =>
    alert !== null && (JSON.parse(alert) as OpenAlert).kind === 'late_payment'
  const { alert } = attempts.find(isLate) ?? row
  return { ...row, alert }
}

/**
 * It is open and cannot be paid: it has no page and no code, or they have expired. Or it is open
 * for another request.
 */
export function openBy(found: FoundCharge, now: number): OpenCharge | undefined {
  if (!('transaction' in found)) return undefined
  const { transaction, state } = found
  if (state === 'conflict') {
    const isOpen = found.over === 'reference' && transaction.status === 'Pending'
    return isOpen ? { transaction, isPageOpen: true } : undefined
  }
  const isLost = state === 'unknown' || isExpiredPage(transaction, now)
  return isLost ? { transaction, isPageOpen: false } : undefined
}
