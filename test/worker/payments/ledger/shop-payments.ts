// Payments at a gateway called `shop`: payment `t-0` for `order-0` has the gateway's id `g-0`.

import { monotonicFactory } from 'ulid'
import type { LibsqlServer } from '../../../../tools/harness/database.ts'
import type { Arrival } from '../../../../worker/payments/acts/webhook.ts'
import { verified } from '../../../support/payments.ts'

export const nextId = monotonicFactory()

/** Inserts pending payments of 25,000 IQD, with a check that is due at `due`. */
export const insertPending = (libsql: LibsqlServer, count: number, due: number | null = null) =>
  libsql.query(
    `WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < :count - 1)
      INSERT INTO payment_transactions (id, gateway, reference, gateway_transaction_id,
        external_reference_id, amount, currency, next_check_at, created_at, updated_at)
      SELECT 't-' || i, 'shop', 'order-' || i, 'g-' || i, 'x-' || i, 25000, 'IQD', :due, :now, :now
      FROM n`,
    { count, due, now: Date.now() },
  )

/** The webhook that reports a payment as paid, unless `more` has other fields. */
export function paid(number: number, more: Partial<Arrival['payload']> = {}): Arrival {
  const now = Date.now()
  return {
    id: nextId(now),
    onMismatch: 'log',
    receivedAt: now,
    payload: verified({
      gateway: 'shop',
      gatewayTransactionId: `g-${number}`,
      reference: `order-${number}`,
      eventId: `event-${number}`,
      occurredAt: now,
      ...more,
    }),
  }
}

export const numbers = (count: number) => Array.from({ length: count }, (_, n) => n)
