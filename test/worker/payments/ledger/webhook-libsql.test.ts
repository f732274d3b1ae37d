import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Arrival } from '../../../../worker/payments/ledger/ledger.ts'
import { type Unit, unitWriter } from '../../../../worker/payments/ledger/unit-libsql.ts'
import { webhookUnit } from '../../../../worker/payments/ledger/webhook-libsql.ts'
import type { WebhookPayload } from '../../../../worker/payments/webhooks/payload.ts'
import { hostClock } from '../../../../worker/shared/clock.ts'
import { type LibsqlServer, startLibsql } from '../../../support/libsql.ts'

let libsql: LibsqlServer
beforeAll(async () => {
  libsql = await startLibsql()
}, 40_000)
afterAll(() => libsql.stop())
beforeEach(() => libsql.wipe())

const audience = { hasListeners: () => true, endpoint: 'https://shop.example/events' }

let last = 0
const nextId = () => `${String(++last).padStart(26, '0')}`

function arrival(payload: Partial<WebhookPayload>, more: Partial<Arrival> = {}): Arrival {
  const id = nextId()
  return {
    id,
    onMismatch: 'reject',
    receivedAt: 2_000,
    payload: {
      gateway: 'shop',
      gatewayTransactionId: 'g-1',
      reference: '',
      status: 'Paid',
      amount: 25_000,
      currency: 'IQD',
      eventId: id,
      occurredAt: 1_500,
      raw: '{}',
      ...payload,
    },
    ...more,
  }
}

const stored = (more: Record<string, string | number | null> = {}) => {
  const row = {
    id: 't-1',
    gateway: 'shop',
    reference: 'order-1',
    gateway_transaction_id: 'g-1',
    external_reference_id: 'x-1',
    amount: 25_000,
    currency: 'IQD',
    status: 'Pending',
    next_check_at: 9_000,
    ...more,
  }
  const names = Object.keys(row)
  return libsql.query(
    `INSERT INTO payment_transactions (${names}, created_at, updated_at)
      VALUES (${names.map((name) => `:${name}`)}, 1000, 1000)`,
    row,
  )
}

const write = <Answer>(unit: Unit<Answer>) =>
  unitWriter({ database: libsql.database, clock: hostClock, log: () => undefined })(unit)

const everything = () =>
  Promise.all(
    ['transactions', 'webhook_events', 'refunds', 'outbox', 'deliveries', 'alerts'].map((table) =>
      libsql.query(`SELECT * FROM payment_${table} ORDER BY id`),
    ),
  )

/** Sends one batch twice, as when its outcome was unknown. */
async function twice(given: Arrival) {
  const unit = webhookUnit(given, audience)
  const first = await write(unit)
  const left = await everything()
  expect(await write(unit)).toEqual(first)
  expect(await everything()).toEqual(left)
  return first
}

describe('a webhook on libSQL', () => {
  it('moves, tells and alerts once, though its batch is sent twice', async () => {
    await stored()
    const paid = arrival({ amount: 24_000 }, { onMismatch: 'log', correlationId: 'corr-123' })
    expect(await twice(paid)).toMatchObject({
      outcome: 'applied',
      isMismatch: true,
      transactionId: 't-1',
      untold: [
        {
          outboxId: paid.id,
          type: 'PaymentSucceeded',
          correlationId: 'corr-123',
          createdAt: 2_000,
          listeners: { attempts: 0 },
          delivery: { endpoint: audience.endpoint, attempts: 0 },
          payload: { transaction: { id: 't-1', status: 'Paid', amount: 25_000, attempt: 1 } },
        },
      ],
    })
    expect(await libsql.query('SELECT kind, subject, detail FROM payment_alerts')).toEqual([
      {
        kind: 'amount_mismatch',
        subject: paid.id,
        detail: expect.stringContaining('"amount":24000'),
      },
    ])
  })
})
