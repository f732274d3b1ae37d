// Checks a database after a load: each payment with the answer `ok` is Paid exactly once.

import { setTimeout as sleep } from 'node:timers/promises'
import type { BenchStore } from './database.ts'

export interface Stored {
  /** Paid transactions. */
  paid: number
  /** Events that changed a transaction. */
  applied: number
  /** Transactions with more than one such event, or more than one row in the outbox. */
  twice: number
  /** Rows of the outbox about a payment. */
  events: number
  /** Those whose listeners had not taken them when we stopped to wait. */
  pending: number
}

const COUNTS = `SELECT
  (SELECT COUNT(*) FROM payment_transactions WHERE status = 'Paid') AS paid,
  (SELECT COUNT(*) FROM payment_webhook_events WHERE outcome = 'applied') AS applied,
  (SELECT COUNT(*) - COUNT(DISTINCT transaction_id) FROM payment_webhook_events)
    + (SELECT COUNT(*) - COUNT(DISTINCT transaction_id) FROM payment_outbox) AS twice,
  (SELECT COUNT(*) FROM payment_outbox WHERE type = 'PaymentSucceeded') AS events,
  (SELECT COUNT(*) FROM payment_outbox WHERE done_at IS NULL) AS pending`

const DISPATCH_WAIT_MS = 5_000

/** Waits until all events were dispatched, which happens behind the answers. */
export async function storedIn(database: BenchStore): Promise<Stored> {
  const endsAt = performance.now() + DISPATCH_WAIT_MS
  for (;;) {
    const [row = {}] = await database.read(COUNTS)
    const count = (name: keyof Stored) => Number(row[name])
    const stored: Stored = {
      paid: count('paid'),
      applied: count('applied'),
      twice: count('twice'),
      events: count('events'),
      pending: count('pending'),
    }
    if (stored.pending === 0 || performance.now() > endsAt) return stored
    await sleep(100)
  }
}

/**
 * What is wrong, in words. `hasOutbox`: one row of it must stand for each payment, and its listener
 * has taken it. Unanswered callbacks may or may not have been stored; each that was answered must be.
 */
export function faultsIn(
  { paid, applied, twice, events, pending }: Stored,
  load: { sent: number; ok: number },
  { hasOutbox }: { hasOutbox: boolean },
): string[] {
  const isMissing = hasOutbox && events !== paid
  return [
    ...(paid < load.ok ? [`${load.ok - paid} answered ok and are not Paid`] : []),
    ...(paid > load.sent ? [`${paid - load.sent} are Paid and were never sent`] : []),
    ...(applied === paid ? [] : [`${applied} events moved ${paid} transactions`]),
    ...(twice > 0 ? [`${twice} transactions moved or with two events`] : []),
    ...(isMissing ? [`${events} rows of the outbox for ${paid} payments`] : []),
    ...(hasOutbox && pending > 0 ? [`${pending} events were not taken in time`] : []),
  ]
}
