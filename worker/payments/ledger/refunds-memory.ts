// Refunds in memory: one at a time, never more than was paid.

import type { PendingEvent } from '../domain/events.ts'
import { judge } from '../domain/status.ts'
import type { Transaction } from '../domain/transaction.ts'
import type { Book } from './book-memory.ts'
import type { RefundBegun, RefundEnd, RefundStart } from './ledger.ts'
import { iso, isUnderWay, type PaymentRow, paidAmount, type RefundRow } from './rows-memory.ts'

export function beginRefund(book: Book, start: RefundStart): RefundBegun {
  const found = barredRefund(book, start)
  if (found) return found
  const row = book.find(start.gateway, start.transactionId)
  if (!row) throw new Error('there is no payment of this refund')
  if (!book.refunds.has(start.id)) claim(book, row, start)
  return { state: 'begun', transaction: row.transaction, amount: givenBy(row, start) }
}

/** All is asked for by the charge's amount, and what goes back is what came in. */
const givenBy = ({ transaction }: PaymentRow, { fullOnly, amount }: RefundStart): number =>
  fullOnly ? paidAmount(transaction) : amount

/** Why it cannot be claimed, or what its key came to before; undefined: it can be. */
export function barredRefund(book: Book, start: RefundStart): RefundBegun | undefined {
  const row = book.find(start.gateway, start.transactionId)
  if (!row) return { state: 'unknown_transaction' }
  const { transaction } = row
  const { idempotencyKey, requestHash, amount } = start
  const mine = book.refunds.get(start.id)
  // Claimed by this very call, the first time that it was sent.
  if (mine) return mine.record.status === 'claimed' ? undefined : again(mine)
  const byKey =
    idempotencyKey === undefined
      ? undefined
      : [...book.refunds.values()].find(
          (refund) =>
            refund.transactionId === transaction.id && refund.idempotencyKey === idempotencyKey,
        )
  if (byKey) return byKey.requestHash === requestHash ? again(byKey) : { state: 'conflict' }
  if (book.refundUnderWay(transaction.id)) return { state: 'in_progress' }
  const { status } = transaction
  const left = paidAmount(transaction) - transaction.refundedAmount
  if ((status !== 'Paid' && status !== 'PartiallyRefunded') || left <= 0) {
    return { state: 'not_refundable', status }
  }
  if (start.fullOnly && amount !== transaction.amount) return { state: 'not_full', transaction }
  return givenBy(row, start) > left ? { state: 'too_much', left, transaction } : undefined
}

function claim(book: Book, row: PaymentRow, start: RefundStart): void {
  const { id, reason, correlationId, now } = start
  row.nextCheckAt = start.until
  book.refunds.set(id, {
    transactionId: row.transaction.id,
    refundedBefore: row.transaction.refundedAmount,
    idempotencyKey: start.idempotencyKey,
    requestHash: start.requestHash,
    createdAt: now,
    record: {
      id,
      amount: givenBy(row, start),
      reason,
      status: 'claimed',
      ...(correlationId !== undefined && { correlationId }),
      createdAt: iso(now),
      updatedAt: iso(now),
    },
  })
}

/** The same request, for a refund that stands. */
function again({ record }: RefundRow): RefundBegun {
  const { id, status, gatewayRefundId, amount, error } = record
  if (status === 'claimed') return { state: 'in_progress' }
  if (status === 'failed') {
    const failed = { code: 'refund_failed', message: 'The gateway did not give it back.' }
    return { state: 'refused', error: error ?? failed }
  }
  const result = { success: true, refundId: gatewayRefundId ?? id, refundedAmount: amount }
  return { state: 'answered', result }
}

export function finishRefund(
  book: Book,
  { refundId, now, result }: RefundEnd,
): { transaction: Transaction; untold: PendingEvent[] } {
  const refund = book.refunds.get(refundId)
  if (!refund) throw new Error(`there is no refund ${refundId}`)
  const row = book.payment(refund.transactionId)
  const { transaction } = row
  const { record } = refund
  if ('gatewayRefundId' in result && result.gatewayRefundId !== undefined) {
    record.gatewayRefundId ??= result.gatewayRefundId
  }
  // A webhook, the sweeper or this call itself has settled it before.
  if (!isUnderWay(refund)) return { transaction, untold: book.untold(refundId) }
  record.updatedAt = iso(now)
  switch (result.kind) {
    case 'done':
      return { transaction, untold: giveBack(book, row, refund, now) }
    case 'refused':
      record.status = 'failed'
      record.error = result.error
      row.nextCheckAt = undefined
      break
    case 'accepted':
    case 'unknown':
      // One that the gateway has taken is checked when its first answer said.
      if (record.status !== 'claimed') break
      if (result.kind === 'accepted') record.status = 'accepted'
      row.nextCheckAt = result.nextCheckAt
  }
  return { transaction, untold: [] }
}

function giveBack(book: Book, row: PaymentRow, refund: RefundRow, now: number): PendingEvent[] {
  const { transaction } = row
  const { record, refundedBefore } = refund
  const paid = paidAmount(transaction)
  const sum = Math.min(refundedBefore + record.amount, paid)
  const refundedAmount = Math.max(transaction.refundedAmount, sum)
  const to = refundedAmount === paid ? 'Refunded' : 'PartiallyRefunded'
  if (judge(transaction.status, to) !== 'applied') {
    throw new Error(`a ${transaction.status} payment cannot become ${to}`)
  }
  const { correlationId } = record
  return book.move(row, { to, eventId: record.id, now, correlationId, refundedAmount })
}
