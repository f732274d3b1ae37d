// The charge that the same request has begun before: with the same key or, without one, for the
// same order. Pure.

import { canonicalJson } from '../../shared/sha256.ts'
import { newest } from '../domain/match.ts'
import { isExpiredPage } from '../domain/open-charge.ts'
import { isCalled, isForeign } from '../domain/payment.ts'
import type { ChargeKeyRow, TransactionRow } from '../domain/rows.ts'
import { UNPAID_ENDS } from '../domain/status.ts'
import type { ChargeRequest, OpenAlert } from '../domain/types.ts'
import type { WorkingSet } from './working-set.ts'

/** What is compared with earlier requests. */
export interface ChargeAsked {
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
  now: number
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

/** What is known of the request: rows that carry its id, its key or its order. */
export interface Known {
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

export function knownTo(rows: WorkingSet, { id, idempotencyKey, request }: ChargeAsked): Known {
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
export const chargeBefore = (
  { installation, own, byKey, attempts }: Known,
  { isRepeat = false }: ChargeAsked,
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

export function foundAs(
  transaction: TransactionRow,
  { own, byKey }: Known,
  start: ChargeAsked,
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
function differencesIn({ request }: TransactionRow, start: ChargeAsked): string[] {
  if (request === null) return []
  const before = JSON.parse(request) as Record<string, unknown>
  const { customerPhone: _, ...now }: Record<string, unknown> = { ...start.request }
  return Object.keys({ ...before, ...now }).filter(
    (name) => canonicalJson(before[name]) !== canonicalJson(now[name]),
  )
}

/** With the alert of late money of any attempt: the order must not be paid again. */
export function withLateAlert(row: TransactionRow, { attempts }: Known): TransactionRow {
  const isLate = ({ alert }: TransactionRow) =>
    alert !== null && (JSON.parse(alert) as OpenAlert).kind === 'late_payment'
  const { alert } = attempts.find(isLate) ?? row
  return { ...row, alert }
}

/** An open charge that is in the way of another attempt. */
export interface OpenCharge {
  transaction: TransactionRow
  /** The payer may have its page, and pay there. */
  isPageOpen: boolean
}

/**
 * It is open and cannot be paid: it has no page and no code, or they have expired. Or it is open
 * for another request.
 */
export function openBy(found: FoundCharge, now: number): OpenCharge | undefined {
  switch (found.state) {
    case 'unknown':
      return { transaction: found.transaction, isPageOpen: false }
    case 'answered': {
      const { transaction } = found
      return isExpiredPage(transaction, now) ? { transaction, isPageOpen: false } : undefined
    }
    case 'conflict': {
      const { transaction, over } = found
      const isOpen = over === 'reference' && transaction.status === 'Pending'
      return isOpen ? { transaction, isPageOpen: true } : undefined
    }
    default:
      return undefined
  }
}
