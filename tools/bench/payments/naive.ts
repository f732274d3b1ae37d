// The handler as one writes it first, in a process of its own: the callback's signature, then one
// transaction of three statements. It knows no outbox, no mismatch, no parked events.

import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { createClient } from '@libsql/client/web'
import { compactVerify } from 'jose'
import { ulid } from 'ulid'

const [url = '', authToken = '', apiKey = ''] = process.argv.slice(2)
const client = createClient({ url, authToken })
const key = new TextEncoder().encode(apiKey)

interface Claims {
  eventId: string
  timestamp: string
  data: { transactionId: string; orderId: string; amount: { currency: string; value: number } }
}

const server = createServer((request, response) => {
  handle(request).then(
    (word) => response.writeHead(200, { 'content-length': word.length }).end(word),
    () => response.writeHead(500, { 'content-length': 5 }).end('error'),
  )
})
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`naive ready ${(server.address() as AddressInfo).port}\n`)
})

async function handle(request: IncomingMessage): Promise<string> {
  const { webhook_token: token } = JSON.parse(await text(request)) as { webhook_token: string }
  const { payload } = await compactVerify(token, key, { algorithms: ['HS256'] })
  const { eventId, timestamp, data } = JSON.parse(new TextDecoder().decode(payload)) as Claims
  const { transactionId, orderId, amount } = data
  const now = Date.now()
  const [found, , updated] = await client.batch(
    [
      {
        sql: `SELECT id, status FROM payment_transactions
          WHERE gateway = 'redirect' AND gateway_transaction_id = ?`,
        args: [transactionId],
      },
      {
        sql: `INSERT INTO payment_webhook_events (id, gateway, event_id, gateway_transaction_id,
            reference, transaction_id, to_status, amount, currency, outcome, occurred_at,
            received_at)
          SELECT ?, 'redirect', ?, gateway_transaction_id, ?, id, 'Paid', ?, ?, 'applied', ?, ?
          FROM payment_transactions WHERE gateway = 'redirect' AND gateway_transaction_id = ?
          ON CONFLICT (gateway, event_id) DO NOTHING`,
        args: [
          ulid(),
          eventId,
          orderId,
          BigInt(amount.value),
          amount.currency,
          BigInt(Date.parse(timestamp)),
          BigInt(now),
          transactionId,
        ],
      },
      {
        sql: `UPDATE payment_transactions SET status = 'Paid', paid_at = ?, updated_at = ?,
            next_check_at = NULL
          WHERE gateway = 'redirect' AND gateway_transaction_id = ? AND status = 'Pending'`,
        args: [BigInt(now), BigInt(now), transactionId],
      },
    ],
    'write',
  )
  if (found?.rows.length !== 1) return 'unknown'
  return updated?.rowsAffected === 1 ? 'ok' : 'duplicate'
}
