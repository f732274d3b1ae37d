// A refund: it is claimed before its gateway is called, so that it is never made twice, and ends
// with the gateway's answer. A webhook may report the same refund first: it is the same row. Pure.

import type { PaymentError } from '../domain/exceptions.ts'
import {
  type Decision,
  isForeign,
  isUnderWay,
  type Payment,
  paidAmount,
  refundUnderWay,
  unchanged,
  withRefund,
  withTransaction,
} from '../domain/payment.ts'
import { FAILED, isRefundable, isRefunding, refundable, settleRefunds } from '../domain/refunds.ts'
import { REFUNDS, type RefundRow, type TransactionRow } from '../domain/rows.ts'
import { type PaymentStatus, UNPAID_ENDS } from '../domain/status.ts'
import type { RefundResult } from '../domain/types.ts'
import type { Act, Paused, Rules, WorkingSet } from './act.ts'
import { recordAudit, storeWithBooks } from './store.ts'

export interface RefundStart {
  /** ULID: the refund's. */
  id: string
  gateway: string
  /** Ours, or the gateway's. */
  transactionId: string
  /** To be refunded; for a gateway that is `fullOnly`, what was charged. */
  amount: number
  reason: string
  /** The gateway refunds all of a payment or nothing. */
  fullOnly: boolean
  idempotencyKey?: string | undefined
  requestHash: string
  correlationId?: string | undefined
  /** The subject that asks for it, for the audit trail. */
  by?: string | undefined
  /** The gateway may be called. If not, nothing is claimed, and what is impossible is refused. */
  mayCall: boolean
  now: number
  until: number
}

/** What became of the request, for its caller. */
export type RefundBegun =
  /** `amount`: what is refunded, which is what was paid if all is refunded at once. */
  | { state: 'begun'; transaction: TransactionRow; amount: number }
  | RefundRefusal
  /** It could be made, and its gateway may not be called. */
  | { state: 'not_admitted' }
  | Paused

/** Why a refund is not made, or the result of the same request before. */
export type RefundRefusal =
  | { state: 'answered'; result: RefundResult }
  /** This key's refund was refused. */
  | { state: 'refused'; error: PaymentError }
  /** A refund of this transaction is under way, until a check at the latest. */
  | { state: 'in_progress'; nextCheckAt?: number }
  /** The key belongs to another request. */
  | { state: 'conflict' }
  | { state: 'unknown_transaction' }
  /** It was not paid, all of it is refunded already, or a person has settled its late money. */
  | { state: 'not_refundable'; status: PaymentStatus }
  | { state: 'not_full'; transaction: TransactionRow }
  | { state: 'too_much'; left: number; transaction: TransactionRow }

export function beginRefund(start: RefundStart): Act<RefundBegun> {
  const { id, gateway, transactionId, mayCall, now: at } = start
  return {
    keys: [
      ['payment', transactionId],
      ['gatewayId', gateway, transactionId],
    ],
    decide(rows) {
      const payment = refundedPayment(rows, start)
      if (!payment) return { state: 'unknown_transaction' }
      const { transaction } = payment
      const { status } = transaction
      if (isForeign(transaction, rows.installation)) return { state: 'not_refundable', status }
      const refusal = refundRefusal(payment, start)
      if (refusal) return refusal
      const claimed = payment.refunds.find((refund) => refund.id === id)
      const isNew = !mayCall || !claimed
      if (rows.pause && isNew) return { state: 'paused', transactionId: transaction.id }
      if (!mayCall) return { state: 'not_admitted' }
      const refund = claimed ?? newRefund(transaction, start)
      // Due when the caller must be done, so that the sweeper finds one that crashed.
      const due = claimed ? transaction : { ...transaction, next_check_at: start.until }
      rows.put({ transactions: [due], refunds: [refund] })
      const action = UNPAID_ENDS.includes(status) ? 'late_refund' : 'refund'
      const entry = { at, action, transaction_id: transaction.id, amount: refund.amount } as const
      recordAudit(rows, start, { ...entry, about: refund.id })
      return { state: 'begun', transaction: due, amount: refund.amount }
    },
  }
}

/** By our id or by the gateway's, within the gateway. */
function refundedPayment(
  rows: WorkingSet,
  { gateway, transactionId }: RefundStart,
): Payment | undefined {
  const ours = rows.all('transactions').filter((row) => row.gateway === gateway)
  const found =
    ours.find(({ id }) => id === transactionId) ??
    ours.find(({ gateway_transaction_id: id }) => id === transactionId)
  return rows.payment(found?.id)
}

const newRefund = (transaction: TransactionRow, start: RefundStart): RefundRow =>
  REFUNDS.row({
    id: start.id,
    transaction_id: transaction.id,
    amount: amountOf(transaction, start),
    reason: start.reason,
    status: 'claimed',
    idempotency_key: start.idempotencyKey ?? null,
    request_hash: start.requestHash,
    asked_by: start.by ?? null,
    correlation_id: start.correlationId ?? null,
    created_at: start.now,
    updated_at: start.now,
  })

/** Undefined: it can be made, or was claimed by this very call before. */
function refundRefusal(payment: Payment, start: RefundStart): RefundRefusal | undefined {
  const { transaction, refunds } = payment
  const { id, idempotencyKey: key, fullOnly } = start
  const mine = refunds.find((refund) => refund.id === id)
  if (mine?.status === 'claimed') return undefined
  const same = mine ?? refunds.find((refund) => refund.idempotency_key === key)
  if (same) return madeBefore(same, transaction, start)
  const { status, amount } = transaction
  if (!isRefundable(payment)) return { state: 'not_refundable', status }
  const left = refundable(payment)
  if (left <= 0 || isRefunding(payment)) return underWay(transaction)
  if (fullOnly && start.amount !== amount) return { state: 'not_full', transaction }
  return amountOf(transaction, start) > left ? { state: 'too_much', left, transaction } : undefined
}

/** A full refund is requested with the charge's amount, and refunds what was paid. */
const amountOf = (transaction: TransactionRow, { fullOnly, amount }: RefundStart): number =>
  fullOnly ? paidAmount(transaction) : amount

const UNSENT: PaymentError = {
  code: 'not_sent',
  message: 'No refund was sent: the database failed before, or the gateway.',
}

const underWay = ({ next_check_at: at }: TransactionRow): RefundRefusal => ({
  state: 'in_progress',
  ...(at !== null && { nextCheckAt: at }),
})

function madeBefore(
  refund: RefundRow,
  transaction: TransactionRow,
  start: RefundStart,
): RefundRefusal {
  if (refund.request_hash !== start.requestHash) return { state: 'conflict' }
  const { id, status, gateway_refund_id, amount, error } = refund
  if (status === 'claimed') return underWay(transaction)
  if (status === 'failed') {
    return {
      state: 'refused',
      error: error === null ? FAILED : (JSON.parse(error) as PaymentError),
    }
  }
  const refundId = gateway_refund_id ?? id
  return { state: 'answered', result: { success: true, refundId, refundedAmount: amount } }
}

export type RefundOutcome =
  | { kind: 'done'; gatewayRefundId?: string }
  /** The gateway will report the result later. */
  | { kind: 'accepted'; gatewayRefundId?: string; nextCheckAt: number }
  | { kind: 'refused'; error: PaymentError }
  | { kind: 'unknown'; nextCheckAt: number }
  /** Nothing was sent to the gateway: the same request, by the same key, may call it. */
  | { kind: 'unsent' }

export interface RefundEnd {
  refundId: string
  now: number
  result: RefundOutcome
}

/** The end of a refund's call. A webhook, the sweeper or the same call may have ended it before. */
export function finishRefund(end: RefundEnd, rules: Rules): Act<TransactionRow> {
  const { refundId, now } = end
  return {
    keys: [['refund', refundId]],
    decide(rows) {
      const refund = rows.get('refunds', refundId)
      const payment = rows.payment(refund?.transaction_id)
      if (!refund || !payment) throw new Error(`there is no refund ${refundId}`)
      const decision = finished(payment, refund, end)
      storeWithBooks(rows, { before: payment, decision, now }, rules)
      return decision.payment.transaction
    },
  }
}

function finished(payment: Payment, refund: RefundRow, { now, result }: RefundEnd): Decision {
  const identified =
    'gatewayRefundId' in result ? withGatewayRefundId(refund, result.gatewayRefundId) : refund
  const stays = unchanged(withRefund(payment, identified))
  const stored = (changed: RefundRow, next_check_at: number | null): Payment => {
    const after = withRefund(payment, changed)
    const isOther = next_check_at === null && refundUnderWay(after) !== undefined
    return isOther ? after : withTransaction(after, { next_check_at })
  }
  switch (result.kind) {
    case 'done': {
      if (!isUnderWay(refund)) return stays
      const after = stored({ ...identified, status: 'succeeded', updated_at: now }, null)
      const by = { id: refund.id, correlationId: refund.correlation_id, now }
      return settleRefunds(payment, after, by)
    }
    case 'accepted': {
      // One that was accepted before keeps the time of its check.
      if (refund.status !== 'claimed') return stays
      const accepted = { ...identified, status: 'accepted', updated_at: now } as const
      return unchanged(stored(accepted, result.nextCheckAt))
    }
    case 'refused': {
      if (!isUnderWay(refund)) return stays
      const error = JSON.stringify(result.error)
      // The gateway may have refunds that we do not know, so it is asked for them.
      return unchanged(stored({ ...identified, status: 'failed', error, updated_at: now }, now))
    }
    case 'unknown':
      return refund.status === 'claimed' ? unchanged(stored(identified, result.nextCheckAt)) : stays
    case 'unsent': {
      if (!isUnderWay(refund)) return stays
      const unsent = { status: 'failed', error: JSON.stringify(UNSENT) } as const
      return unchanged(
        stored({ ...refund, ...unsent, idempotency_key: null, updated_at: now }, null),
      )
    }
  }
}

const withGatewayRefundId = (refund: RefundRow, id: string | undefined): RefundRow =>
  refund.gateway_refund_id === null && id !== undefined
    ? { ...refund, gateway_refund_id: id }
    : refund
