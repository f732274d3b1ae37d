// Pending payments, a signed callback of the gateway for each of them, as the bytes of its request,
// and what a database must have afterwards.

import { setTimeout as sleep } from 'node:timers/promises'
import { webhookOf } from '../../../simulator/one-webhook.ts'
import type { PaymentsDatabase } from '../../harness/database.ts'
import { API_KEY } from '../programs.ts'
import { postOf } from './load.ts'

const AMOUNT = 25_000
const SEEDED_AT_ONCE = 10_000

const orderOf = (n: number) => ({
  gateway: 'redirect',
  reference: `order-${n}`,
  externalReference: `6f1c1a5e-0000-5000-8000-0000${String(n).padStart(8, '0')}`,
  amount: AMOUNT,
  currency: 'IQD',
  description: 'Two lamps and a chair',
  phone: '9647800000000',
  expiresInMs: 0,
})

/** One for each of so many payments, in their order. */
export function signCallbacks(length: number): Promise<Buffer[]> {
  const now = Date.now()
  const sign = async (_: unknown, n: number) => {
    const terms = { id: `gt-${n}`, eventId: `ev-${n}`, secret: API_KEY, now }
    const { body } = await webhookOf(orderOf(n), ['pay'], terms)
    return postOf('/payments/webhooks/redirect', body)
  }
  return Promise.all(Array.from({ length }, sign))
}

// Like a row after a charge: with the id of the gateway, and a status check that is due later.
const SEED = `WITH RECURSIVE numbers (n) AS (
    SELECT :from UNION ALL SELECT n + 1 FROM numbers WHERE n + 1 < :until)
  INSERT INTO payment_transactions (id, gateway, reference, gateway_transaction_id,
    external_reference_id, request_hash, status, amount, currency, description, redirect_url,
    next_check_at, correlation_id, created_at, updated_at)
  SELECT printf('01K0000000000000BN%08d', n), 'redirect', 'order-' || n, 'gt-' || n,
    printf('6f1c1a5e-0000-5000-8000-0000%08d', n), printf('%064d', n), 'Pending', :amount, 'IQD',
    'Two lamps and a chair', 'https://gateway.test/pay/gt-' || n, :now + 300000,
    printf('01K0000000000000CR%08d', n), :now, :now
  FROM numbers`

/** So many pending payments. */
export async function seed({ query }: PaymentsDatabase, count: number): Promise<void> {
  const now = Date.now()
  for (let from = 0; from < count; from += SEEDED_AT_ONCE) {
    const until = Math.min(from + SEEDED_AT_ONCE, count)
    await query(SEED, { from, until, now, amount: AMOUNT })
  }
}

/** `twice`: with more than one event that changed them, or more than one row of the outbox. */
const COUNTS = `SELECT
  (SELECT COUNT(*) FROM payment_transactions WHERE status = 'Paid') AS paid,
  (SELECT COUNT(*) FROM payment_webhook_events WHERE outcome = 'applied') AS applied,
  (SELECT COUNT(*) - COUNT(DISTINCT transaction_id) FROM payment_webhook_events)
    + (SELECT COUNT(*) - COUNT(DISTINCT transaction_id) FROM payment_outbox) AS twice,
  (SELECT COUNT(*) FROM payment_outbox WHERE type = 'PaymentSucceeded') AS events,
  (SELECT COUNT(*) FROM payment_outbox WHERE done_at IS NULL) AS pending`

/** Listeners take their events behind the answers. */
const DISPATCH_WAIT_MS = 5_000

/**
 * What is wrong, in words: each payment with the answer `ok` is Paid exactly once, with one event
 * that its listener has taken; one without an answer may be.
 */
export async function faultsIn(
  { query }: PaymentsDatabase,
  { sent, ok }: { sent: number; ok: number },
): Promise<string[]> {
  const until = performance.now() + DISPATCH_WAIT_MS
  for (;;) {
    const [row = {}] = await query(COUNTS)
    const [paid = 0, applied, twice, events, pending] = Object.values(row).map(Number)
    if (pending !== 0 && performance.now() < until) {
      await sleep(100)
      continue
    }
    const faults: [string, boolean][] = [
      [`${ok - paid} answered ok and are not Paid`, paid < ok],
      [`${paid - sent} are Paid and were never sent`, paid > sent],
      [`${applied} events moved ${paid} transactions`, applied !== paid],
      [`${twice} transactions moved or with two events`, twice !== 0],
      [`${events} rows of the outbox for ${paid} payments`, events !== paid],
      [`${pending} events were not taken in time`, pending !== 0],
    ]
    return faults.flatMap(([fault, isSo]) => (isSo ? [fault] : []))
  }
}
