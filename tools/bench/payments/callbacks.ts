// Signed callbacks of the gateway, one per transaction, as the bytes of their requests. All are
// made before the measurement.

import { webhookOf } from '../../../simulator/one-webhook.ts'
import type { BenchStore } from './database.ts'

/** The signing key of the callbacks, for all systems. */
export const API_KEY = 'the-key-of-the-benchmark-that-signs-callbacks'
const CALLBACK_PATH = '/payments/webhooks/redirect'
const AMOUNT = 25_000

const SIGNED_AT_ONCE = 256

const digits = (n: number): string => String(n).padStart(8, '0')

const orderOf = (n: number) => ({
  gateway: 'redirect',
  reference: `order-${n}`,
  externalReference: `6f1c1a5e-0000-5000-8000-0000${digits(n)}`,
  amount: AMOUNT,
  currency: 'IQD',
  description: 'Two lamps and a chair',
  phone: '9647800000000',
  expiresInMs: 0,
})

/** One for each of so many transactions, in their order. */
export async function signCallbacks(count: number): Promise<Buffer[]> {
  const now = Date.now()
  const sign = async (n: number) => {
    const terms = { id: `gt-${n}`, eventId: `ev-${n}`, secret: API_KEY, now }
    return requestOf((await webhookOf(orderOf(n), ['pay'], terms)).body)
  }
  const requests: Buffer[] = []
  while (requests.length < count) {
    const first = requests.length
    const length = Math.min(SIGNED_AT_ONCE, count - first)
    requests.push(...(await Promise.all(Array.from({ length }, (_, n) => sign(first + n)))))
  }
  return requests
}

function requestOf(body: string): Buffer {
  return Buffer.from(
    `POST ${CALLBACK_PATH} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  )
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

const SEEDED_AT_ONCE = 10_000

/** So many pending transactions. */
export async function seed(database: BenchStore, count: number): Promise<void> {
  const now = Date.now()
  for (let from = 0; from < count; from += SEEDED_AT_ONCE) {
    const until = Math.min(from + SEEDED_AT_ONCE, count)
    await database.write(SEED, { from, until, now, amount: AMOUNT })
  }
}
