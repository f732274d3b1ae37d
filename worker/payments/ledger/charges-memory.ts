// Charges in memory: begun once, answered the same, never made twice.

import type { PendingEvent } from '../domain/events.ts'
import { externalReference } from '../domain/external-reference.ts'
import { UNPAID_ENDS } from '../domain/status.ts'
import type { Transaction } from '../domain/transaction.ts'
import type { Book } from './book-memory.ts'
import type { ChargeBegun, ChargeEnd, ChargeStart } from './ledger.ts'
import { iso, type PaymentRow } from './rows-memory.ts'
import { applyParked } from './webhooks-memory.ts'

type Caused = ChargeBegun & { untold?: PendingEvent[] }

export function beginCharge(book: Book, start: ChargeStart): Caused {
  const found = find(book, start)
  if (found) return again(book, found, start)
  const { gateway, reference } = start.request
  const [last] = book.attempts(gateway, reference)
  return create(book, start, last?.transaction.attempt ?? 0)
}

/** What this request came to before, for whoever may not call the gateway now; else undefined. */
export function foundCharge(book: Book, start: ChargeStart): ChargeBegun | undefined {
  const row = find(book, start)
  return row && found(row, start)
}

function find(book: Book, start: ChargeStart): PaymentRow | undefined {
  const { idempotencyKey, request } = start
  const byKey =
    idempotencyKey === undefined
      ? undefined
      : [...book.payments.values()].find(
          (row) =>
            row.idempotencyKey === idempotencyKey && row.transaction.gateway === request.gateway,
        )
  return (
    byKey ??
    // What this very call has begun before, whatever became of it.
    book.payments.get(start.id) ??
    book
      .attempts(request.gateway, request.reference)
      .find(({ transaction }) => !cameToNothing(transaction))
  )
}

const cameToNothing = ({ status }: Transaction) => UNPAID_ENDS.includes(status)

function create(book: Book, start: ChargeStart, lastAttempt: number): Caused {
  const { id, idempotencyKey, correlationId, now, until } = start
  const { customerPhone: _, ...request } = structuredClone(start.request)
  const { gateway, reference, amount, currency, description, metadata } = request
  const attempt = lastAttempt + 1
  const key = idempotencyKey === undefined ? {} : { idempotencyKey }
  const transaction: Transaction = {
    id,
    gateway,
    reference,
    attempt,
    externalReferenceId: externalReference({ ...request, ...key }, attempt),
    status: 'Pending',
    amount,
    currency,
    refundedAmount: 0,
    description,
    ...(metadata && { metadata }),
    ...(correlationId !== undefined && { correlationId }),
    createdAt: iso(now),
    updatedAt: iso(now),
  }
  const row: PaymentRow = {
    transaction,
    request,
    idempotencyKey,
    requestHash: start.requestHash,
    calledBy: id,
    calledUntil: until,
    isUnsent: false,
    answer: undefined,
    nextCheckAt: until,
  }
  book.payments.set(id, row)
  const payload = { gateway, request, transaction: structuredClone(transaction) }
  const untold = book.fire(row, 'PaymentInitiated', payload, { eventId: id, now, correlationId })
  return { state: 'begun', transaction, untold }
}

function found(row: PaymentRow, start: ChargeStart): ChargeBegun {
  const { transaction, answer: opened, nextCheckAt } = row
  if (row.requestHash !== start.requestHash) {
    const { idempotencyKey: key } = start
    const isKey = key !== undefined && row.idempotencyKey === key
    return { state: 'conflict', over: isKey ? 'key' : 'reference' }
  }
  if (opened) return { state: 'answered', transaction, opened }
  if (transaction.status !== 'Pending') return { state: 'answered', transaction }
  if (row.calledBy !== start.id && row.calledUntil > start.now) return { state: 'in_progress' }
  return { state: 'unknown', transaction, ...(nextCheckAt !== undefined && { nextCheckAt }) }
}

/** The same request, for a charge that stands. */
function again(book: Book, row: PaymentRow, start: ChargeStart): Caused {
  const before = found(row, start)
  if (before.state !== 'unknown') return before
  const { transaction } = row
  // Its own call again: the outcome of the first was lost on its way back.
  if (row.calledBy === start.id)
    return { state: 'begun', transaction, untold: book.untold(start.id) }
  // A gateway that has named it would not give its page another time.
  if (transaction.gatewayTransactionId !== undefined) return before
  if (!start.chargeIsIdempotent && !row.isUnsent) return before
  row.isUnsent = false
  row.calledBy = start.id
  row.calledUntil = start.until
  row.nextCheckAt = start.until
  return { state: 'begun', transaction, untold: [] }
}

export function finishCharge(
  book: Book,
  { transactionId, eventId, now, result }: ChargeEnd,
): { transaction: Transaction; untold: PendingEvent[] } {
  const row = book.payment(transactionId)
  const { transaction } = row
  const isOpen = transaction.status === 'Pending'
  let untold: PendingEvent[] = []
  if (result.kind === 'refused') {
    const { error } = result
    const failed = { to: 'Failed', eventId, now, correlationId: undefined, error } as const
    // An answer that another call got in the meantime is a payment that can still be paid.
    untold = isOpen && !row.answer ? book.move(row, failed) : book.untold(eventId)
  } else if (!row.answer) {
    if (isOpen) row.nextCheckAt = result.nextCheckAt
    row.calledBy = ''
    row.calledUntil = 0
    row.isUnsent = result.kind === 'unsent'
    if (result.kind === 'unknown') name(book, transaction, result.gatewayTransactionId)
    if (result.kind === 'answered') {
      const { gatewayTransactionId, redirectUrl, expiresAt } = result.answer
      row.answer = structuredClone(result.answer)
      name(book, transaction, gatewayTransactionId)
      transaction.updatedAt = iso(now)
      if (redirectUrl !== undefined) transaction.redirectUrl = redirectUrl
      if (expiresAt !== undefined) transaction.expiresAt = expiresAt
    }
  }
  untold = [...untold, ...applyParked(book, { now, limit: Number.POSITIVE_INFINITY, to: row })]
  return { transaction, untold }
}

/** A name that another payment of the gateway has stays with that one. */
function name(book: Book, transaction: Transaction, gatewayTransactionId: string | undefined) {
  if (gatewayTransactionId === undefined || transaction.gatewayTransactionId !== undefined) return
  const isTaken = [...book.payments.values()].some(
    ({ transaction: of }) =>
      of.gateway === transaction.gateway && of.gatewayTransactionId === gatewayTransactionId,
  )
  if (!isTaken) transaction.gatewayTransactionId = gatewayTransactionId
}
