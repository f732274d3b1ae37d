// A payment with all that its rules need, the conditions that several rules share, and its alerts:
// what only a person can settle. Pure.

import {
  ALERTS,
  type AlertRow,
  type DisputeRow,
  type RefundRow,
  type TransactionRow,
} from './rows.ts'
import {
  ALERT_KINDS,
  type AlertKind,
  DELIVERY_ALERTS,
  type DurableEvent,
  type PaymentStatus,
  UNPAID_ENDS,
} from './status.ts'
import { hasCome } from './time.ts'
import type { AlertDetail, OpenAlert, RaisedAlert, SettledAlert } from './types.ts'

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

/** A durable event that a decision causes, with the transaction as it is at this moment. */
export interface NewEvent {
  id: string
  type: DurableEvent
  /** Only `AlertRaised` and `AlertSettled` have it. */
  alert?: RaisedAlert | SettledAlert
  /** Only `RefundAmountChanged` has it. */
  previousRefundedAmount?: number
  transaction: TransactionRow
  correlationId: string | null
  createdAt: number
}

/** `by.correlationId`: of what caused it, if that has one of its own. */
export const newEvent = (
  type: DurableEvent,
  transaction: TransactionRow,
  by: { id: string; correlationId?: string | null | undefined; now: number },
): NewEvent => ({
  id: by.id,
  type,
  transaction,
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

/** The payment with these alerts, new or changed: its row has the most urgent that is open. */
export function withAlerts(payment: Payment, changed: readonly AlertRow[]): Payment {
  if (changed.length === 0) return payment
  const others = payment.alerts.filter(({ id }) => changed.every((row) => row.id !== id))
  const alerts = [...others, ...changed]
  return { ...withTransaction(payment, { alert: openAlert(alerts) }), alerts }
}

function openAlert(alerts: readonly AlertRow[]): string | null {
  const [first] = alerts
    .filter(({ kind, acknowledged_at: at }) => at === null && !DELIVERY_ALERTS.includes(kind))
    .toSorted((a, b) => urgency(a) - urgency(b) || (a.id < b.id ? -1 : 1))
  return first ? JSON.stringify({ id: first.id, kind: first.kind } satisfies OpenAlert) : null
}

const urgency = ({ kind }: AlertRow): number => ALERT_KINDS.indexOf(kind)

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

/** Who settles an alert without a person, by what happened: that is no acknowledgement. */
const SETTLERS = ['refund', 'gateway', 'capture', 'delivery'] as const
export type Settler = (typeof SETTLERS)[number]
const BY_REFUND: Settler = 'refund'

export const isSettler = (by: string | null): boolean => SETTLERS.some((settler) => settler === by)

/** Once all of the late money was refunded, its alerts are settled; if that fails, open again. */
export function withLateMoneyRefunded(payment: Payment, now: number): Payment {
  const { alerts, refunds } = payment
  if (heldAmount(payment) > 0) return withAlerts(payment, reopened(alerts, 'late_payment', now))
  const last = refunds.findLast(({ status }) => status === 'succeeded')
  const reference = last?.gateway_refund_id ?? last?.id
  return withSettled(payment, 'late_payment', BY_REFUND, now, reference)
}

/** Its open alerts of this kind are settled. */
export function withSettled(
  payment: Payment,
  kind: AlertKind,
  by: Settler,
  now: number,
  reference?: string,
): Payment {
  const open = payment.alerts.filter((row) => row.kind === kind && row.acknowledged_at === null)
  return withAlerts(
    payment,
    open.map((row) => settleAlert(row, by, now, reference)),
  )
}

/** As if somebody had acknowledged it. */
export const settleAlert = (
  row: AlertRow,
  by: Settler,
  now: number,
  reference?: string,
): AlertRow => acknowledgeAlert(row, by, now, reference)

/** Those of this kind that a refund had settled, which has failed now. */
export const reopened = (alerts: readonly AlertRow[], kind: AlertKind, now: number): AlertRow[] =>
  alerts
    .filter((row) => row.kind === kind && row.acknowledged_by === BY_REFUND)
    .map((row) => opened(row, now))

/**
 * Each step of an alert is later than the one before, also where the clock is behind: subscribers
 * leave out what is older.
 */
const after = ({ created_at, acknowledged_at }: AlertRow, at: number): number =>
  Math.max(at, created_at + 1, (acknowledged_at ?? 0) + 1)

/** Open again, as if it was raised at that time. */
export const opened = (row: AlertRow, at: number): AlertRow => ({
  ...row,
  created_at: after(row, at),
  acknowledged_at: null,
  acknowledged_by: null,
  gateway_reference: null,
})

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

/** A call has ended by then, and the ledger has had 25 s to store its result. */
export const CALL_PATIENCE_MS = 60_000

/**
 * A report of the gateway of the time `at` is older than what is stored. Not so where that was
 * stored with a clock that ran ahead: until the time has come, nothing would be read.
 */
export const isOvertaken = (at: number, storedAt: number, now: number): boolean =>
  at < storedAt && storedAt <= now + CALL_PATIENCE_MS

/** As `called_until`: of a charge that was begun, and never sent to its gateway. */
export const NEVER_CALLED = 0

/** Its gateway is being called to charge it. */
export const isCalled = (
  { called_until: until }: Pick<TransactionRow, 'called_until'>,
  now: number,
): boolean => until !== null && !hasCome(until, now, CALL_PATIENCE_MS)

/**
 * Another installation began it: this database is a copy. That one calls its gateway, so nothing
 * is sent, checked or cancelled here.
 */
export const isForeign = (
  { installation: its }: Pick<TransactionRow, 'installation'>,
  installation: string,
): boolean => its !== null && its !== installation

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

/** An alert about a payment, with its reference. */
export const alertAbout = (
  { id, gateway, reference }: TransactionRow,
  kind: AlertKind,
  createdAt: number,
  detail: AlertDetail,
  subject = id,
): Alert => ({
  kind,
  subject,
  gateway,
  transactionId: id,
  detail: { reference, ...detail },
  createdAt,
})

/** It is not only described anew: to be raised and to be settled have a time each. */
export const isRaisedOrSettled = (before: AlertRow | undefined, after: AlertRow): boolean =>
  before?.created_at !== after.created_at || before.acknowledged_at !== after.acknowledged_at

/**
 * The row of a raised alert. `known` is the alert of this kind and subject: while it is open
 * nothing changes, and once it was acknowledged it is opened again. Not so by an event: its subject
 * is all that it reports, so it was sent again.
 */
export function raiseAlert(
  alert: Alert,
  known: AlertRow | undefined,
  newId: () => string,
): AlertRow | undefined {
  const isOfEvent = alert.detail.eventId !== undefined
  if (known && (known.acknowledged_at === null || isOfEvent)) return undefined
  const { kind, subject, gateway, transactionId: transaction_id, createdAt } = alert
  const created_at = known ? after(known, createdAt) : createdAt
  const detail = JSON.stringify(alert.detail)
  const id = known?.id ?? newId()
  return ALERTS.row({ id, kind, subject, gateway, transaction_id, detail, created_at })
}

/** Two ids of one kind. What is not carried contradicts nothing. */
export const differs = (own: string | null | undefined, carried: string | null | undefined) =>
  own != null && carried != null && own !== carried

/**
 * The ids that its gateway `carried`, for the payment or for its charge, are not those of one
 * payment. `other`: the payment that has one of them.
 */
export function idMismatch(
  transaction: TransactionRow,
  carried: { gatewayId: string | null; external: string | null },
  other: TransactionRow | undefined,
  detail: AlertDetail,
  createdAt: number,
): Alert {
  const { gatewayId, external } = carried
  const about = {
    ...detail,
    ...(gatewayId !== null && { gatewayTransactionId: gatewayId }),
    ...(external !== null && { externalReferenceId: external }),
    ...(other && { otherTransactionId: other.id }),
  }
  // Other events with the same ids have the same cause.
  const subject = [transaction.id, gatewayId, external].join(' ')
  return alertAbout(transaction, 'id_mismatch', createdAt, about, subject)
}

/** Marks it as seen. The first person is kept. `gatewayReference`: of what was done about it. */
export const acknowledgeAlert = (
  row: AlertRow,
  by: string,
  now: number,
  gatewayReference: string | null = null,
): AlertRow =>
  row.acknowledged_at === null
    ? {
        ...row,
        // Not before it was raised, by whatever clock.
        acknowledged_at: Math.max(now, row.created_at),
        acknowledged_by: by,
        gateway_reference: gatewayReference,
      }
    : row

/** The last attempt of an order. Ids would not say it: the clock may have been set back. */
export const newest = <Row extends { attempt: number }>(rows: readonly Row[]): Row | undefined =>
  rows.reduce<Row | undefined>(
    (last, row) => (last && last.attempt > row.attempt ? last : row),
    undefined,
  )
