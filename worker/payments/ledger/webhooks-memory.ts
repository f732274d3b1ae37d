// Verified events in memory: recorded once, judged by the graph, applied or parked.

import type { PendingEvent } from '../domain/events.ts'
import type { WebhookPayload } from '../domain/payload.ts'
import type { Outcome } from '../domain/status.ts'
import { judge } from '../domain/status.ts'
import type { Paid } from '../domain/transaction.ts'
import type { EventRecord } from '../queries/queries.ts'
import type { Book } from './book-memory.ts'
import { type Arrival, checkArrival, type Recorded } from './ledger.ts'
import {
  type EventRow,
  iso,
  isRefund,
  isUnderWay,
  type PaymentRow,
  paidAmount,
} from './rows-memory.ts'

type Caused<Answer> = Answer & { untold: PendingEvent[] }

export function recordEvent(book: Book, arrival: Arrival): Caused<Recorded> {
  checkArrival(arrival)
  const { payload, id } = arrival
  const known = [...book.events.values()].find(
    ({ record }) => record.gateway === payload.gateway && record.eventId === payload.eventId,
  )
  if (known) {
    const isMine = known.record.id === id
    return isMine
      ? answer(known.record, known.record.outcome, book.untold(id))
      : answer(known.record, 'duplicate', [])
  }
  const row = { arrival: structuredClone(arrival), record: recordOf(arrival) }
  book.events.set(id, row)
  const payment = book.match(payload.gateway, payload)
  const untold = payment ? apply(book, row, payment, arrival.receivedAt) : []
  return answer(row.record, row.record.outcome, untold)
}

/** Parked events that match `to`, or any payment, in the order in which they occurred. */
export function applyParked(
  book: Book,
  { now, limit, to }: { now: number; limit: number; to?: PaymentRow },
): PendingEvent[] {
  const paymentOf = ({ arrival: { payload } }: EventRow) => {
    const payment = book.match(payload.gateway, payload)
    return to && payment !== to ? undefined : payment
  }
  const found = parked(book).filter(paymentOf).slice(0, limit)
  return found.flatMap((row) => {
    // Asked anew: one before it may have given its payment the gateway's name.
    const payment = paymentOf(row)
    const untold = payment ? apply(book, row, payment, now) : []
    if (row.record.isMismatch) book.logMismatch(row.record)
    return untold
  })
}

/** Whether an event waits for a payment that has appeared. */
export const hasParked = (book: Book): boolean =>
  parked(book).some(({ arrival: { payload } }) => book.match(payload.gateway, payload))

const parked = (book: Book): EventRow[] =>
  [...book.events.values()]
    .filter(({ record }) => record.outcome === 'parked')
    .sort((a, b) => occurred(a.arrival) - occurred(b.arrival))

const occurred = ({ payload }: Arrival): number => Date.parse(payload.occurredAt)

function apply(
  book: Book,
  { arrival, record }: EventRow,
  row: PaymentRow,
  now: number,
): PendingEvent[] {
  const { payload, onMismatch } = arrival
  const { transaction } = row
  record.transactionId = transaction.id
  record.fromStatus = transaction.status
  if (payload.alert) {
    record.outcome = 'unchanged'
    failRefund(book, row, payload, now)
    book.raise(payload.alert, record.id, about(book, row, payload, now))
    return []
  }
  const expected = expectedOf(book, row, payload)
  record.isMismatch =
    (payload.status === 'Paid' || (isRefund(payload.status) && transaction.paid !== undefined)) &&
    (payload.amount !== expected.amount || payload.currency !== expected.currency)
  const verdict = judge(transaction.status, payload.status)
  // Money that has gone back has gone back, whatever the policy.
  const mayReject = payload.status === 'Paid' && onMismatch === 'reject'
  const isRejected = verdict === 'applied' && record.isMismatch && mayReject
  record.outcome = isRejected ? 'rejected' : verdict
  const detail = about(book, row, payload, now)
  if (verdict === 'late_payment') book.raise(verdict, record.id, detail)
  if (record.isMismatch) book.raise('amount_mismatch', record.id, detail)
  const isEarlyRefund = record.outcome === 'illegal' && isRefund(payload.status)
  if (isEarlyRefund && transaction.status === 'Pending') row.nextCheckAt = now
  if (record.outcome !== 'applied') return []
  if (payload.gatewayTransactionId) {
    transaction.gatewayTransactionId ??= payload.gatewayTransactionId
  }
  return book.move(row, {
    to: payload.status,
    eventId: record.id,
    now,
    correlationId: arrival.correlationId,
    ...(payload.status === 'Paid' && {
      paid: { amount: payload.amount, currency: payload.currency, at: occurred(arrival) },
    }),
    ...(payload.error && { error: payload.error }),
    refundedAmount: refundedAmount(row, payload),
  })
}

/** As the gateway counts it, but never less than before and never more than was paid. */
function refundedAmount({ transaction }: PaymentRow, payload: WebhookPayload): number {
  const paid = paidAmount(transaction)
  if (payload.status === 'Refunded') return paid
  if (payload.status !== 'PartiallyRefunded') return transaction.refundedAmount
  return Math.max(transaction.refundedAmount, Math.min(payload.amount, paid))
}

function failRefund(
  book: Book,
  row: PaymentRow,
  { error, refundId }: WebhookPayload,
  now: number,
): void {
  const refund = book.refundUnderWay(row.transaction.id)
  if (!refund || !isUnderWay(refund)) return
  const { id, gatewayRefundId } = refund.record
  // Another one may have failed: an earlier one, or one that was made at the gateway itself.
  if (refundId !== undefined && refundId !== id && refundId !== gatewayRefundId) return
  refund.record.status = 'failed'
  refund.record.updatedAt = iso(now)
  if (error) refund.record.error = error
  const { id: payment, status } = row.transaction
  // A refund that came before its payment is still to be asked about.
  if (status !== 'Paid' || !book.hasEarlyRefund(payment)) row.nextCheckAt = undefined
}

/** What the event should have told: what was asked for or, once it was paid, what came of that. */
function expectedOf(book: Book, { transaction }: PaymentRow, payload: WebhookPayload): Paid {
  const { amount, currency, paid } = transaction
  if (!paid) return { amount, currency }
  if (!isRefund(payload.status)) return paid
  const most = paidAmount(transaction)
  if (payload.status === 'Refunded' || payload.amount > most) {
    return { amount: most, currency: paid.currency }
  }
  const sums = [...book.refunds.values()].flatMap(({ transactionId, refundedBefore, record }) => {
    const sum = refundedBefore + record.amount
    const isOurs = transactionId === transaction.id && record.status !== 'failed'
    return isOurs && refundedBefore < payload.amount && payload.amount < sum ? [sum] : []
  })
  // Below ours and not passed over by one of our own refunds: an older sum, told late.
  return { amount: sums.length > 0 ? Math.min(...sums) : payload.amount, currency: paid.currency }
}

const about = (book: Book, row: PaymentRow, payload: WebhookPayload, now: number) => {
  const { transaction } = row
  const expected = expectedOf(book, row, payload)
  return {
    gateway: transaction.gateway,
    transactionId: transaction.id,
    detail: {
      reference: transaction.reference,
      eventId: payload.eventId,
      amount: payload.amount,
      currency: payload.currency,
      expectedAmount: expected.amount,
      expectedCurrency: expected.currency,
      ...(payload.status !== 'Paid' && { said: payload.status }),
      ...(payload.refundId !== undefined && { refundId: payload.refundId }),
      ...(payload.error && { error: payload.error }),
    },
    now,
  }
}

function recordOf(arrival: Arrival): EventRecord {
  const { id, payload, receivedAt, correlationId } = arrival
  const { gatewayTransactionId, reference, error, raw } = payload
  return {
    id,
    gateway: payload.gateway,
    eventId: payload.eventId,
    ...(gatewayTransactionId && { gatewayTransactionId }),
    ...(reference && { reference }),
    toStatus: payload.status,
    amount: payload.amount,
    currency: payload.currency,
    isMismatch: false,
    outcome: 'parked',
    ...(error && { error: { ...error } }),
    ...(raw !== undefined && { raw: structuredClone(raw) }),
    ...(correlationId !== undefined && { correlationId }),
    occurredAt: iso(occurred(arrival)),
    receivedAt: iso(receivedAt),
  }
}

const answer = (
  { isMismatch, transactionId }: EventRecord,
  outcome: Outcome | 'duplicate',
  untold: PendingEvent[],
): Caused<Recorded> => ({
  outcome,
  isMismatch,
  ...(transactionId !== undefined && { transactionId }),
  untold,
})
