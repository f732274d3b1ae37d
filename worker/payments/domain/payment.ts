// A payment with all that its rules need, what a decision on it leaves behind, and the conditions
// that several rules share. Pure.

import type { AlertRow, DisputeRow, RefundRow, TransactionRow } from './rows.ts'
import {
  type AlertKind,
  type CheckStatus,
  type DurableEvent,
  type PaymentStatus,
  UNPAID_ENDS,
} from './status.ts'
import { CALL_PATIENCE_MS } from './time.ts'
import type { AlertDetail, PaymentEvents, RaisedAlert, Report, SettledAlert } from './types.ts'

export interface Payment {
  readonly transaction: TransactionRow
  /** The oldest first. */
  readonly refunds: readonly RefundRow[]
  readonly disputes: readonly DisputeRow[]
  /** Open and acknowledged ones. */
  readonly alerts: readonly AlertRow[]
}

/** What a decision leaves behind. Rows that it did not change are the same objects as before. */
export interface Decision {
  payment: Payment
  events: readonly NewEvent[]
  alerts: readonly Alert[]
}

/** An alert that a decision raises. Its id is given when it is stored. */
export interface Alert {
  kind: AlertKind
  /** What it is about: with the kind it is unique. */
  subject: string
  gateway: string
  /** NULL: its payment is not known. */
  transactionId: string | null
  detail: AlertDetail
  createdAt: number
}

/** What the payload of an event has of its own. */
type More<Type extends DurableEvent> = Omit<PaymentEvents[Type], 'transaction' | 'alert'>

/** A durable event that a decision causes, with the transaction as it is at this moment. */
export interface NewEvent {
  id: string
  type: DurableEvent
  /** Only `AlertRaised` and `AlertSettled` have it. */
  alert?: RaisedAlert | SettledAlert
  transaction: TransactionRow
  more?: More<DurableEvent>
  correlationId: string | null
  createdAt: number
}

/** `by.correlationId`: of what caused it, if that has one of its own. */
export const newEvent = <Type extends DurableEvent>(
  type: Type,
  transaction: TransactionRow,
  by: { id: string; correlationId?: string | null | undefined; now: number },
  more?: More<Type>,
): NewEvent => ({
  id: by.id,
  type,
  transaction,
  ...(more && { more }),
  correlationId: by.correlationId ?? transaction.correlation_id,
  createdAt: by.now,
})

export const unchanged = (payment: Payment): Decision => ({ payment, events: [], alerts: [] })

export const withTransaction = (payment: Payment, changes: Partial<TransactionRow>): Payment => ({
  ...payment,
  transaction: { ...payment.transaction, ...changes },
})

export const withRefund = (payment: Payment, changed: RefundRow): Payment => ({
  ...payment,
  refunds: payment.refunds.map((refund) => (refund.id === changed.id ? changed : refund)),
})

/** Its next check is at that time, or sooner. */
export const withCheckBy = (row: TransactionRow, at: number): TransactionRow =>
  row.next_check_at !== null && row.next_check_at <= at ? row : { ...row, next_check_at: at }

export const withPaymentCheckBy = (payment: Payment, at: number): Payment =>
  withTransaction(payment, withCheckBy(payment.transaction, at))

/** The gateway was asked about it: also a check that changed nothing is seen. */
export const withCheck = (payment: Payment, status: CheckStatus, now: number): Payment =>
  withTransaction(payment, { last_check_at: now, last_check_status: status })

const isLateMoney = ({ kind, acknowledged_at: at }: AlertRow): boolean =>
  kind === 'late_payment' && at === null

/** It was paid after it had ended without money, and that is not settled. */
export const hasLateMoney = ({ transaction, alerts }: Payment): boolean =>
  UNPAID_ENDS.includes(transaction.status) && alerts.some(isLateMoney)

/**
 * What is still there of what was paid. Whether money is held, or can be given back, is this, never
 * the status: a refund that was made may fail later.
 */
export const heldAmount = ({ transaction }: Pick<Payment, 'transaction'>): number =>
  isUnpaid(transaction.status) && transaction.paid_at === null
    ? 0
    : paidAmount(transaction) - transaction.refunded_amount

/**
 * The money that came late is still there. An alert that was acknowledged without the gateway's
 * reference of a refund was only seen.
 */
export const keepsLateMoney = (payment: Payment): boolean =>
  UNPAID_ENDS.includes(payment.transaction.status) &&
  payment.alerts.every(
    ({ kind, gateway_reference: sent }) => kind !== 'late_payment' || sent === null,
  ) &&
  heldAmount(payment) > 0

/** Two ids of one kind. What is not carried contradicts nothing. */
export const differs = (own: string | null | undefined, carried: string | null | undefined) =>
  own != null && carried != null && own !== carried

/** It is about another payment, so it settles nothing of this one. */
export const isOfAnother = (
  asked: TransactionRow,
  { gatewayTransactionId, externalReferenceId }: Report,
): boolean =>
  differs(asked.gateway_transaction_id, gatewayTransactionId) ||
  differs(asked.external_reference_id, externalReferenceId)

/** The last attempt of an order. Not by their ids: the clock may have been set back. */
export const newest = <Row extends { attempt: number }>(rows: readonly Row[]): Row | undefined =>
  rows.reduce<Row | undefined>(
    (last, row) => (last && last.attempt > row.attempt ? last : row),
    undefined,
  )

export const isRefund = (status: PaymentStatus): boolean =>
  status === 'Refunded' || status === 'PartiallyRefunded'

/** Nothing was paid. */
export const isUnpaid = (status: PaymentStatus): boolean =>
  status === 'Pending' || UNPAID_ENDS.includes(status)

/** The most that can be refunded. A gateway may report a negative amount: then it is nothing. */
export const paidAmount = ({ paid_amount, amount }: TransactionRow): number =>
  Math.max(0, paid_amount ?? amount)

export const isUnderWay = ({ status }: RefundRow): boolean =>
  status === 'claimed' || status === 'accepted'

/** That is waited for: one whose outcome is not known, else the oldest that was accepted. */
export const refundUnderWay = ({ refunds }: Payment): RefundRow | undefined =>
  refunds.find(({ status }) => status === 'claimed') ?? refunds.find(isUnderWay)

/** A refund was reported before its payment: only the gateway knows the status. */
export const hasEarlyRefund = ({ transaction, refunds }: Payment): boolean =>
  transaction.refunds_read_at !== null && refunds.length === 0

/** The gateway may have news about it. */
export const isOpen = (payment: Payment): boolean => {
  const { status } = payment.transaction
  return (
    status === 'Pending' ||
    refundUnderWay(payment) !== undefined ||
    (status === 'Paid' && hasEarlyRefund(payment))
  )
}

/**
 * A report of the gateway of the time `at` is older than what is stored. Not so where that was
 * stored with a clock that ran ahead: until the time has come, nothing would be read.
 */
export const isOvertaken = (at: number, storedAt: number, now: number): boolean =>
  at < storedAt && storedAt <= now + CALL_PATIENCE_MS

/**
 * Another installation began it: this database is a copy. That one calls its gateway, so nothing
 * is sent, checked or cancelled here.
 */
export const isForeign = (
  { installation: its }: Pick<TransactionRow, 'installation'>,
  installation: string,
): boolean => its !== null && its !== installation
