// The refunds of a payment, one row each, as its gateway holds them (it lists them all, or reports
// only their sum, or that one has failed), and what follows for the payment. What was refunded is
// the sum of those that were made, and only the end of a row lowers it. Pure, but for new ids.

import { alertAbout, withLateMoneyRefunded } from './alerts.ts'
import type { PaymentError } from './exceptions.ts'
import { newId } from './new-id.ts'
import {
  type Alert,
  type Decision,
  hasLateMoney,
  heldAmount,
  isOvertaken,
  isUnderWay,
  isUnpaid,
  type NewEvent,
  newEvent,
  type Payment,
  paidAmount,
  withRefund,
  withTransaction,
} from './payment.ts'
import { REFUNDS, type RefundRow, type TransactionRow } from './rows.ts'
import { type PaymentStatus, UNPAID_ENDS } from './status.ts'
import type { AlertDetail, RefundSet, ReportedRefund } from './types.ts'

/** Staff made it at the gateway itself, and not through us. */
const isOfStaff = ({ request_hash }: RefundRow): boolean => request_hash === null

const sumOf = (refunds: readonly RefundRow[], ...states: RefundRow['status'][]): number =>
  refunds.reduce((sum, { status, amount }) => (states.includes(status) ? sum + amount : sum), 0)

/** What can be refunded now: what was paid, without what was refunded and what is under way. */
export const refundable = ({ transaction, refunds }: Payment): number =>
  paidAmount(transaction) - sumOf(refunds, 'succeeded', 'accepted', 'claimed')

/** Something was paid, and is still there. */
export const isRefundable = (payment: Payment): boolean =>
  (!isUnpaid(payment.transaction.status) || hasLateMoney(payment)) && heldAmount(payment) > 0

/** The outcome of one is not known: no other is made until then. */
export const isRefunding = ({ refunds }: Payment): boolean =>
  refunds.some(({ status }) => status === 'claimed')

/** Its refunds were read later than `at`. */
export const areReadLater = ({ transaction }: Payment, at: number, now: number): boolean =>
  isOvertaken(at, transaction.refunds_read_at ?? 0, now)

/** The payment with the refunds of this set, unless a later read is stored. */
export function withRefundSet(payment: Payment, set: RefundSet, now: number): Payment {
  if (areReadLater(payment, set.readAt, now)) return payment
  const refunds = rowsIn(set, payment.refunds, payment.transaction.id, now)
  return { ...withTransaction(payment, { refunds_read_at: set.readAt }), refunds }
}

/** Whether the gateway has something of these refunds that is not stored. */
export const differsFrom = (refunds: readonly RefundRow[], set: RefundSet): boolean =>
  areChanged(refunds, rowsIn(set, refunds, '', set.readAt))

/** `after`: no row of `before` is gone. */
export const areChanged = (before: readonly RefundRow[], after: readonly RefundRow[]): boolean =>
  after.some((row, at) => row !== before[at])

/** A row that the set does not list keeps its state: it has not ended. */
function rowsIn(
  set: RefundSet,
  refunds: readonly RefundRow[],
  transactionId: string,
  now: number,
): RefundRow[] {
  const rows = [...refunds]
  const listed = new Set<number>()
  const take = (refund: ReportedRefund, isOf: typeof withItsName): boolean => {
    const at = rows.findIndex((row, index) => !listed.has(index) && isOf(row, refund))
    const row = rows[at]
    if (!row) return false
    rows[at] = reportedAs(row, refund, now)
    listed.add(at)
    return true
  }
  // Names come first: only a refund that has no row yet can be one that was stored without its id.
  const unnamed = set.refunds.filter((refund) => !take(refund, withItsName))
  const others = unnamed.filter((refund) => !WITHOUT_NAME.some((isOf) => take(refund, isOf)))
  // What has no id of its own and has failed is no refund that anybody waits for.
  const made = others.filter(({ id, status }) => id !== undefined || status !== 'failed')
  const isWithdrawn = (row: RefundRow, at: number) =>
    !listed.has(at) && isOfStaff(row) && row.status === 'accepted'
  return [
    ...rows.map((row, at) => (isWithdrawn(row, at) ? ended(row, WITHDRAWN, now) : row)),
    ...made.map((refund) => staffRow(transactionId, refund, now)),
  ]
}

const withItsName = (row: RefundRow, { id, refundId }: ReportedRefund): boolean =>
  row.id === refundId || row.gateway_refund_id === id

/** The first that finds a row, where neither side has a name. */
const WITHOUT_NAME: readonly (typeof withItsName)[] = [
  (row, { id }) => id === undefined && isUnderWay(row),
  (row, { id }) => id === undefined && row.status === 'succeeded',
  // Known only as a part of the sum, until now.
  (row, { id }) => id !== undefined && isOfStaff(row) && row.gateway_refund_id === null,
]

/** Refunds that the gateway itself made, as far as only their sum is known. */
const isOfSum = (row: RefundRow): boolean =>
  isOfStaff(row) && row.gateway_refund_id === null && row.status === 'succeeded'

function reportedAs(row: RefundRow, reported: ReportedRefund, now: number): RefundRow {
  const { id = row.gateway_refund_id, amount } = reported
  // Only its own end changes a refund that was made.
  const isMade = row.status === 'succeeded' && reported.status === 'accepted'
  const status = isMade ? row.status : reported.status
  const isSame = row.status === status && row.amount === amount && row.gateway_refund_id === id
  if (isSame) return row
  const error = status === 'failed' ? errorOf(row, reported) : null
  return { ...row, gateway_refund_id: id, amount, status, error, updated_at: now }
}

/** What it was refused with stays. */
const errorOf = (row: RefundRow, { error }: ReportedRefund): string =>
  row.status === 'failed' && row.error !== null ? row.error : JSON.stringify(error ?? FAILED)

export const FAILED: PaymentError = {
  code: 'refund_failed',
  message: 'The gateway reported that this refund failed.',
}

const WITHDRAWN: PaymentError = {
  code: 'refund_failed',
  message: 'The gateway no longer has this refund, and has not made it.',
}

const ended = (row: RefundRow, error: PaymentError, now: number): RefundRow => ({
  ...row,
  status: 'failed',
  error: JSON.stringify(error),
  updated_at: now,
})

const staffRow = (
  transaction_id: string,
  { id, amount, status, error = FAILED }: ReportedRefund,
  now: number,
): RefundRow =>
  REFUNDS.row({
    id: newId(now),
    transaction_id,
    amount,
    reason: 'Made at the gateway.',
    status,
    gateway_refund_id: id ?? null,
    error: status === 'failed' ? JSON.stringify(error) : null,
    created_at: now,
    updated_at: now,
  })

/** `isAsked`: it contradicts what is stored, so the gateway is asked. */
export interface BySum {
  payment: Payment
  isAsked: boolean
}

/**
 * `at`: the time of the report. The sum is at least this: first of our own refunds under way, as
 * far as they are in it, and then of others, which the gateway's staff made.
 */
export function withRefundSum(payment: Payment, sum: number, at: number, now: number): BySum {
  const known = sumOf(payment.refunds, 'succeeded')
  if (sum === known) return { payment, isAsked: false }
  if (sum < known || areReadLater(payment, at, now)) return { payment, isAsked: true }
  let missing = sum - known
  const refunds = payment.refunds.map((row) => {
    if (!isUnderWay(row) || row.amount > missing) return row
    missing -= row.amount
    return { ...row, status: 'succeeded', updated_at: now } as const
  })
  const settled = { ...payment, refunds }
  if (missing === 0) return { payment: settled, isAsked: false }
  const others = refunds.find(isOfSum)
  if (others) {
    const raised = { ...others, amount: others.amount + missing, updated_at: now }
    return { payment: withRefund(settled, raised), isAsked: false }
  }
  const row = staffRow(payment.transaction.id, { amount: missing, status: 'succeeded' }, now)
  return { payment: { ...settled, refunds: [...refunds, row] }, isAsked: false }
}

/**
 * One has failed. `refundId`: ours or the gateway's; missing: the one under way, or else the one
 * that had refunded everything. Undefined: it is not known which, or the report was overtaken.
 */
export function failedRefund(
  payment: Payment,
  refundId: string | undefined,
  at: number,
  now: number,
): RefundRow | undefined {
  const { refunds, transaction } = payment
  if (areReadLater(payment, at, now)) return undefined
  if (refundId !== undefined) {
    return refunds.find(({ id, gateway_refund_id }) => [id, gateway_refund_id].includes(refundId))
  }
  const all = paidAmount(transaction)
  return (
    refunds.find(isUnderWay) ??
    refunds.find(({ status, amount }) => status === 'succeeded' && amount === all)
  )
}

/** What changed its refunds. */
interface Cause {
  id: string
  correlationId: string | null
  now: number
  /** The gateway's event. */
  eventId?: string
  /** The status that follows, where its refunds do not decide it. */
  to?: PaymentStatus
}

/**
 * The payment after its refunds changed: its sum, its status, its events and alerts. The status
 * never moves back. A payment that was not paid yet has no event of it.
 */
export function settleRefunds(before: Payment, after: Payment, cause: Cause): Decision {
  const { transaction } = after
  const alerts = failedSince(before, after, cause)
  const isLate = UNPAID_ENDS.includes(transaction.status)
  const isPaid = transaction.status !== 'Pending' && !(isLate && transaction.paid_at === null)
  const sum = Math.min(paidAmount(transaction), sumOf(after.refunds, 'succeeded'))
  const status = isLate ? transaction.status : (cause.to ?? statusAfter(transaction, sum))
  const previous = transaction.refunded_amount
  const isChanged = sum !== previous || status !== transaction.status
  if (!isPaid || !isChanged) return { payment: after, events: [], alerts }
  const changed = withTransaction(after, {
    status,
    refunded_amount: sum,
    updated_at: cause.now,
    refund_revision: transaction.refund_revision + 1,
  })
  const payment = isLate ? withLateMoneyRefunded(changed, cause.now) : changed
  return { payment, events: [eventFor(payment.transaction, transaction, cause)], alerts }
}

function statusAfter(transaction: TransactionRow, sum: number): PaymentStatus {
  const { status } = transaction
  if (sum > 0 && sum === paidAmount(transaction)) return 'Refunded'
  return sum > 0 && status === 'Paid' ? 'PartiallyRefunded' : status
}

/** One event for a change: that of the status, else that of the amount. */
function eventFor(after: TransactionRow, before: TransactionRow, cause: Cause): NewEvent {
  if (after.status !== before.status) return newEvent('PaymentRefunded', after, cause)
  const more = { previousRefundedAmount: before.refunded_amount }
  return newEvent('RefundAmountChanged', after, cause, more)
}

const failedSince = (before: Payment, after: Payment, cause: Cause): Alert[] =>
  after.refunds.flatMap((row) => {
    const was = before.refunds.find(({ id }) => id === row.id)
    if (row.status !== 'failed' || was?.status === 'failed') return []
    return refundAlert(after.transaction, row, cause)
  })

function refundAlert(
  transaction: TransactionRow,
  refund: RefundRow,
  { now, eventId }: Cause,
): Alert {
  const { error } = refund
  const detail = {
    ...refundDetail(transaction, refund),
    ...(eventId !== undefined && { eventId }),
    ...(error !== null && { error: JSON.parse(error) as PaymentError }),
  }
  return alertAbout(transaction, 'refund_failed', now, detail, refund.id)
}

/** What an alert about a refund has of it. */
export function refundDetail(
  { reference, currency, paid_currency }: TransactionRow,
  { id, amount, gateway_refund_id: gatewayId, asked_by: askedBy, ...row }: RefundRow,
): AlertDetail {
  const refundId = row.request_hash === null ? (gatewayId ?? id) : id
  return {
    reference,
    amount,
    currency: paid_currency ?? currency,
    refundId,
    ...(gatewayId !== null && gatewayId !== refundId && { gatewayRefundId: gatewayId }),
    ...(askedBy !== null && { askedBy }),
  }
}
