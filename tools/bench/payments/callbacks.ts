// Signed callbacks of the gateway, one per transaction, as the bytes of their requests. All are
// made before the measurement.

import { CompactSign } from 'jose'
import type { BenchStore } from './database.ts'

/** The signing key of the callbacks, for all systems. */
export const API_KEY = 'the-key-of-the-benchmark-that-signs-callbacks'
const CALLBACK_PATH = '/payments/webhooks/redirect'
const AMOUNT = 25_000

const SIGNED_AT_ONCE = 256

const gatewayIdOf = (n: number): string => `gt-${n}`
const digits = (n: number): string => String(n).padStart(8, '0')

/** `at`: the time in the callback, in ms. */
const claimsOf = (n: number, at: number) => ({
  eventType: 'STATUS_CHANGED',
  eventId: `ev-${n}`,
  timestamp: new Date(at).toISOString(),
  data: {
    transactionId: gatewayIdOf(n),
    merchantReferenceId: `6f1c1a5e-0000-5000-8000-0000${digits(n)}`,
    orderId: `order-${n}`,
    customerMsisdn: '9647800000000',
    errorMessage: null,
    previousStatus: 'PENDING',
    currentStatus: 'SUCCESS',
    amount: { currency: 'IQD', value: AMOUNT },
  },
})

/** The callbacks of the transactions `from` to `from + count - 1`, in this order. */
export async function signCallbacks(from: number, count: number): Promise<Buffer[]> {
  const key = new TextEncoder().encode(API_KEY)
  const at = Date.now()
  const sign = async (n: number) => {
    const claims = new TextEncoder().encode(JSON.stringify(claimsOf(n, at)))
    const header = { alg: 'HS256', typ: 'JWT' }
    return requestOf(await new CompactSign(claims).setProtectedHeader(header).sign(key))
  }
  const requests: Buffer[] = []
  for (let first = from; first < from + count; first += SIGNED_AT_ONCE) {
    const length = Math.min(SIGNED_AT_ONCE, from + count - first)
    requests.push(...(await Promise.all(Array.from({ length }, (_, n) => sign(first + n)))))
  }
  return requests
}

function requestOf(token: string): Buffer {
  const body = JSON.stringify({ webhook_token: token })
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

/** Pending transactions `from` to `from + count - 1`. */
export async function seed(database: BenchStore, from: number, count: number): Promise<void> {
  const now = Date.now()
  for (let first = from; first < from + count; first += SEEDED_AT_ONCE) {
    const until = Math.min(first + SEEDED_AT_ONCE, from + count)
    await database.write(SEED, { from: first, until, now, amount: AMOUNT })
  }
}
