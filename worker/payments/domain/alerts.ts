// The alerts of a payment, which only a person can settle, or what happens later: when each is
// raised, opened again and settled. Pure.

import {
  type Alert,
  type Decision,
  heldAmount,
  isUnpaid,
  keepsLateMoney,
  newest,
  type Payment,
  unchanged,
  withTransaction,
} from './payment.ts'
import { ALERTS, type AlertRow, type TransactionRow, type WebhookEventRow } from './rows.ts'
import { ALERT_KINDS, type AlertKind, DELIVERY_ALERTS } from './status.ts'
import { isoTime } from './time.ts'
import type { AlertDetail, OpenAlert, References } from './types.ts'

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

/** An operator has to find out what became of it. `gatewayStatus`: as it was last reported. */
export function unsettledAlert(
  transaction: TransactionRow,
  now: number,
  gatewayStatus: AlertDetail['gatewayStatus'] = 'none',
): Alert {
  const { amount, currency, created_at } = transaction
  const detail = { amount, currency, since: isoTime(created_at), gatewayStatus }
  return alertAbout(transaction, 'unsettled', now, detail)
}

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
  const created_at = known ? stepAt(known, createdAt) : createdAt
  const detail = JSON.stringify(alert.detail)
  const id = known?.id ?? newId()
  return ALERTS.row({ id, kind, subject, gateway, transaction_id, detail, created_at })
}

/** The same event came before, and raised its alert; its own row may be gone since. */
export const isRaisedBy = (
  { alert, event_id }: WebhookEventRow,
  { alerts }: Pick<Payment, 'alerts'>,
): boolean =>
  alerts.some(
    ({ kind, detail }) =>
      kind === alert && (JSON.parse(detail ?? '{}') as AlertDetail).eventId === event_id,
  )

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

/** As if a person had acknowledged it. */
export const settleAlert = (
  row: AlertRow,
  by: Settler,
  now: number,
  reference?: string,
): AlertRow => acknowledgeAlert(row, by, now, reference)

/** Those of this kind that a refund had settled, which has failed now. */
const reopened = (alerts: readonly AlertRow[], kind: AlertKind, now: number): AlertRow[] =>
  alerts
    .filter((row) => row.kind === kind && row.acknowledged_by === BY_REFUND)
    .map((row) => opened(row, now))

/**
 * Each step of an alert is later than the one before, also where the clock is behind: subscribers
 * leave out what is older.
 */
export const stepAt = ({ created_at, acknowledged_at }: AlertRow, at: number): number =>
  Math.max(at, created_at + 1, (acknowledged_at ?? 0) + 1)

/** Open again, as if it was raised at that time. */
export const opened = (row: AlertRow, at: number): AlertRow => ({
  ...row,
  created_at: stepAt(row, at),
  acknowledged_at: null,
  acknowledged_by: null,
  gateway_reference: null,
})

/** Whether another payment is of the same order, and was not begun to pay it once more. */
export const isOfOrder = (
  { id, gateway, reference }: TransactionRow,
  other: TransactionRow,
  references: References,
): boolean =>
  other.reference === reference &&
  other.id !== id &&
  other.is_repeat === 0 &&
  (references === 'shared' || other.gateway === gateway)

/** A payer's money is there: it was paid, also late, and not all of it was refunded. */
const holdsMoney = (payment: Payment): boolean =>
  isUnpaid(payment.transaction.status) ? keepsLateMoney(payment) : heldAmount(payment) > 0

export const isPaidTwice = (order: readonly Payment[]): boolean =>
  order.filter(holdsMoney).length > 1

/**
 * The decision on a payment, with an alert if another one of its order is paid already; and once
 * all but one are refunded, that on the payments whose alerts are settled by it. If that refund
 * fails, they are open again.
 */
export function decideInOrder(
  before: Payment,
  decision: Decision,
  others: readonly Payment[],
  now: number,
): Decision[] {
  const { payment, alerts } = decision
  const was = holdsMoney(before)
  const is = holdsMoney(payment)
  const held = others.filter(holdsMoney)
  if (was === is || payment.transaction.is_repeat === 1) return [decision]
  const other = newest(held.map(({ transaction }) => transaction))
  if (!is) {
    if (held.length > 1) return [decision]
    const settled = (each: Payment) => withSettled(each, 'double_payment', 'refund', now)
    return [
      { ...decision, payment: settled(payment) },
      ...others.map((each) => unchanged(settled(each))),
    ]
  }
  if (!other) return [decision]
  const isBack = payment.transaction.refunded_amount < before.transaction.refunded_amount
  const again = isBack ? [payment, ...others].map((each) => withReopened(each, now)) : []
  const [first = payment, ...rest] = again
  const isSettled = first !== payment || rest.some((each) => !others.includes(each))
  return isSettled
    ? [{ ...decision, payment: first }, ...rest.map(unchanged)]
    : [{ ...decision, alerts: [...alerts, raised(payment, other, now)] }]
}

const withReopened = (payment: Payment, now: number): Payment =>
  withAlerts(payment, reopened(payment.alerts, 'double_payment', now))

function raised({ transaction }: Payment, other: TransactionRow, createdAt: number): Alert {
  const { paid_amount, paid_currency: currency } = transaction
  return alertAbout(transaction, 'double_payment', createdAt, {
    amount: paid_amount ?? transaction.amount,
    currency: currency ?? transaction.currency,
    otherTransactionId: other.id,
    otherGateway: other.gateway,
  })
}
