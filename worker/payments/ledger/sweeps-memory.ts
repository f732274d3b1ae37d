// What the sweeper takes and gives back, in memory: checks, and events to be told.

import type { AlertDetail } from '../domain/alerts.ts'
import type { Dispatched, PendingEvent } from '../domain/events.ts'
import type { Book } from './book-memory.ts'
import { type Check, type CheckSettled, type EventNames, LEASE_MS } from './ledger.ts'
import { iso, type OutboxRow, type PaymentRow, type Turn, untoldOf } from './rows-memory.ts'

/** Whether there is anything that the gateway could tell. */
const isOpen = (book: Book, { transaction }: PaymentRow): boolean =>
  transaction.status === 'Pending' ||
  book.refundUnderWay(transaction.id) !== undefined ||
  (transaction.status === 'Paid' && book.hasEarlyRefund(transaction.id))

export function checkSoon(book: Book, gateway: string, names: EventNames, now: number): void {
  const row = book.match(gateway, names)
  if (row && row.transaction.status !== 'Refunded')
    row.nextCheckAt = Math.min(row.nextCheckAt ?? now, now)
}

export const dueChecks = (book: Book, now: number): PaymentRow[] =>
  [...book.payments.values()]
    .filter(({ nextCheckAt }) => nextCheckAt !== undefined && nextCheckAt <= now)
    .sort((a, b) => (a.nextCheckAt ?? 0) - (b.nextCheckAt ?? 0))

export function claimChecks(
  book: Book,
  { now, until, limit }: { now: number; until: number; limit: number },
): Check[] {
  return dueChecks(book, now)
    .slice(0, limit)
    .map((row) => {
      row.nextCheckAt = until
      const { transaction, request } = row
      const refund = book.refundUnderWay(transaction.id)
      if (!refund) return { transaction, request }
      const { id, amount, status } = refund.record
      const isAccepted = status === 'accepted'
      return {
        transaction,
        request,
        refund: { id, amount, createdAt: refund.createdAt, isAccepted },
      }
    })
}

export function settleCheck(book: Book, settled: CheckSettled): void {
  const { transactionId, now, nextCheckAt, whileStill, alert, givenUp } = settled
  const row = book.payment(transactionId)
  if (givenUp) giveUpRefund(book, transactionId, givenUp, now)
  const isKept = isOpen(book, row) || row.transaction.status === whileStill
  row.nextCheckAt = isKept ? nextCheckAt : undefined
  if (!alert) return
  const { gateway } = row.transaction
  book.raise(alert.kind, transactionId, { gateway, transactionId, detail: alert.detail, now })
}

function giveUpRefund(
  book: Book,
  transactionId: string,
  { refundId, error }: NonNullable<CheckSettled['givenUp']>,
  now: number,
): void {
  const refund = book.refundUnderWay(transactionId)
  if (refund?.record.id !== refundId) return
  refund.record.status = 'failed'
  refund.record.error = error
  refund.record.updatedAt = iso(now)
}

const isFree =
  (now: number) =>
  ({ nextAttemptAt, leasedUntil }: Turn): boolean =>
    nextAttemptAt <= now && (leasedUntil === undefined || leasedUntil <= now)

export const dueToTell = (book: Book, now: number): OutboxRow[] =>
  [...book.outbox.values()]
    .filter((row) => untoldOf(row, isFree(now)).length > 0)
    .sort((a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1))

export function claimPending(
  book: Book,
  { now, limit }: { now: number; limit: number },
): PendingEvent[] {
  return dueToTell(book, now)
    .slice(0, limit)
    .flatMap((row) => {
      const untold = untoldOf(row, isFree(now))
      for (const { listeners, delivery } of untold) {
        if (listeners) row.listeners.leasedUntil = now + LEASE_MS
        if (delivery && row.delivery) row.delivery.leasedUntil = now + LEASE_MS
      }
      return untold
    })
}

export function settleDispatched(book: Book, told: readonly Dispatched[], now: number): void {
  for (const { outboxId, listeners, delivery } of told) {
    const row = book.outbox.get(outboxId)
    if (!row) throw new Error(`there is no event ${outboxId}`)
    if (listeners) settleListeners(book, row, listeners, now)
    if (delivery) settleDelivery(book, row, delivery, now)
  }
}

function settleListeners(
  book: Book,
  row: OutboxRow,
  went: NonNullable<Dispatched['listeners']>,
  now: number,
): void {
  const { listeners } = row
  if (!listeners.isOpen || !ends(listeners, went)) return
  if (went.ok) listeners.toldAt = now
  listeners.isOpen = !went.ok && went.nextAttemptAt !== undefined
  if (went.ok || listeners.isOpen) return
  book.raise(
    'listener_dead',
    row.id,
    about(book, row, { ...(went.error && { error: went.error }) }, now),
  )
}

function settleDelivery(
  book: Book,
  row: OutboxRow,
  went: NonNullable<Dispatched['delivery']>,
  now: number,
): void {
  const { delivery } = row
  if (delivery?.record.status !== 'pending' || !ends(delivery, went)) return
  const { record } = delivery
  record.attempts = delivery.attempts
  if (went.status !== undefined) record.lastStatus = went.status
  if (went.error !== undefined) record.lastError = went.error
  if (went.ok) {
    record.status = 'delivered'
    record.deliveredAt = iso(now)
  } else if (went.nextAttemptAt === undefined) {
    record.status = 'dead'
    const { status, error } = went
    book.raise(
      'delivery_dead',
      record.id,
      about(
        book,
        row,
        {
          deliveryId: record.id,
          endpoint: record.endpoint,
          ...(status && { lastStatus: status }),
          ...(error && { error }),
        },
        now,
      ),
    )
  }
}

/** Ends an attempt, and says whether there was one: a failure told twice counts once. */
function ends(turn: Turn, went: { ok: boolean; nextAttemptAt?: number }): boolean {
  if (!went.ok && turn.leasedUntil === undefined) return false
  turn.attempts++
  turn.leasedUntil = undefined
  if (went.nextAttemptAt !== undefined) turn.nextAttemptAt = went.nextAttemptAt
  return true
}

export function redeliver(book: Book, deliveryId: string, now: number): boolean {
  const delivery = [...book.outbox.values()].find(
    (row) => row.delivery?.record.id === deliveryId,
  )?.delivery
  if (!delivery) return false
  Object.assign(delivery, { attempts: 0, nextAttemptAt: now, leasedUntil: undefined })
  Object.assign(delivery.record, { status: 'pending', attempts: 0 })
  delete delivery.record.deliveredAt
  return true
}

function about(book: Book, row: OutboxRow, more: AlertDetail, now: number) {
  const { transactionId, id: event, type } = row
  const { gateway, reference, amount, currency } = book.payment(transactionId).transaction
  const detail = { ...more, event, type, reference, amount, currency }
  return { gateway, transactionId, detail, now }
}
