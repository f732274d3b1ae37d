// What the database must show after a load: each payment that was answered `ok` is Paid, once.

import { setTimeout as sleep } from 'node:timers/promises'
import type { BenchDatabase } from './database.ts'

export interface Stored {
  /** Transactions that are Paid. */
  paid: number
  /** Events that moved one. */
  applied: number
  /** Transactions with more than one such event, or with more than one row of the outbox. */
  twice: number
  /** Rows of the outbox that tell of a payment. */
  told: number
  /** Of them, those whose listeners were not called when we stopped to wait. */
  untold: number
}

const COUNTS = `SELECT
  (SELECT COUNT(*) FROM payment_transactions WHERE status = 'Paid') AS paid,
  (SELECT COUNT(*) FROM payment_webhook_events WHERE outcome = 'applied') AS applied,
  (SELECT COUNT(*) - COUNT(DISTINCT transaction_id) FROM payment_webhook_events)
    + (SELECT COUNT(*) - COUNT(DISTINCT transaction_id) FROM payment_outbox) AS twice,
  (SELECT COUNT(*) FROM payment_outbox WHERE type = 'PaymentSucceeded') AS told,
  (SELECT COUNT(*) FROM payment_outbox WHERE done_at IS NULL) AS untold`

const TELLING_WAIT_MS = 5_000

/** Waits for the outbox to be told, which happens behind the answers. */
export async function storedIn(database: BenchDatabase): Promise<Stored> {
  const endsAt = performance.now() + TELLING_WAIT_MS
  for (;;) {
    const [row = {}] = await database.read(COUNTS)
    const count = (name: keyof Stored) => Number(row[name])
    const stored: Stored = {
      paid: count('paid'),
      applied: count('applied'),
      twice: count('twice'),
      told: count('told'),
      untold: count('untold'),
    }
    if (stored.untold === 0 || performance.now() > endsAt) return stored
    await sleep(100)
  }
}

/**
 * What is wrong, in words. `hasOutbox`: one row of it must stand for each payment. Unanswered
 * callbacks may or may not have been stored; each that was answered must be.
 */
export function faultsIn(
  stored: Stored,
  load: { sent: number; ok: number },
  hasOutbox: boolean,
): string[] {
  const { paid, applied, twice, told, untold } = stored
  return [
    ...(paid < load.ok ? [`${load.ok - paid} answered ok and are not Paid`] : []),
    ...(paid > load.sent ? [`${paid - load.sent} are Paid and were never sent`] : []),
    ...(applied === paid ? [] : [`${applied} events moved ${paid} transactions`]),
    ...(twice > 0 ? [`${twice} transactions moved or told twice`] : []),
    ...(hasOutbox && told !== paid ? [`${told} rows of the outbox for ${paid} payments`] : []),
    ...(hasOutbox && untold > 0 ? [`${untold} rows of the outbox were not told in time`] : []),
  ]
}
