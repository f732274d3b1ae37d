// Events that came before their payment, when one of them cannot be applied: it must not withhold a
// charge's answer, nor other events.

import { expect, it } from 'vitest'
import { libsqlQueries } from '../../../../worker/payments/queries/queries-libsql.ts'
import { ALERTED } from '../../../support/ledger-fakes.ts'
import { HOUR, type LedgerSetup, MINUTE, T0 } from '../../../support/ledger-setup.ts'
import { type SqliteDatabase, sqliteDatabase } from '../../../support/sqlite-database.ts'
import { logged, setupOver, useMemoryLedger } from './memory-ledger.ts'

useMemoryLedger()

const EARLY = { amount: 20_000, reference: '', gatewayTransactionId: 'early' }

/** Two parked events, of which the first cannot be read. */
async function parkTwo(w: LedgerSetup, database: SqliteDatabase) {
  const transaction = await w.pending()
  for (const [at, eventId] of ['broken', 'good'].entries()) {
    const { outcome } = await w.webhook(transaction, { ...EARLY, eventId, occurredAt: T0 + at })
    expect(outcome).toBe('parked')
  }
  database.exec('PRAGMA ignore_check_constraints = ON')
  database.exec(`UPDATE payment_webhook_events SET error = '{' WHERE event_id = 'broken'`)
  return transaction
}

async function expectOneLeft(w: LedgerSetup, database: SqliteDatabase, transactionId: string) {
  const parked = await libsqlQueries(database).webhookEvents({ outcome: 'parked' }, { limit: 9 })
  expect(parked).toMatchObject([{ code: 'unreadable' }])
  const detail = {
    reference: 'order-1',
    eventId: 'broken',
    error: 'a value is not JSON',
  }
  expect(await w.queries.alerts({}, { limit: 9 })).toMatchObject([
    { kind: 'amount_mismatch', detail: { eventId: 'good' } },
    { kind: 'unreadable', transactionId, detail },
  ])
}

it('One that cannot be applied stays parked, with an alert, and the charge’s answer is stored', async () => {
  const database = sqliteDatabase()
  const w = setupOver(database, { subscribers: ALERTED })
  const transaction = await parkTwo(w, database)
  const result = { kind: 'unknown', gatewayTransactionId: 'early', nextCheckAt: T0 + HOUR } as const
  const finished = await w.finish(transaction, result)
  expect(finished.transaction).toMatchObject({ status: 'Paid', paid: { amount: 20_000 } })
  const types = new Set(finished.pending.map(({ type }) => type))
  expect(types).toEqual(new Set(['AlertRaised', 'PaymentSucceeded']))
  expect(finished.pending).toHaveLength(3)
  await expectOneLeft(w, database, transaction.id)
  expect(new Set(logged)).toEqual(
    new Set(['payments.webhook.amount_mismatch', 'payments.alert.raised']),
  )
})

it('A sweep applies the others, and raises one alert for all of its tries', async () => {
  const database = sqliteDatabase()
  const w = setupOver(database)
  const transaction = await parkTwo(w, database)
  database.exec(`UPDATE payment_transactions SET gateway_transaction_id = 'early'`)
  for (const at of [1, 2, 3]) await w.ledger.applyParked({ now: T0 + at * MINUTE, limit: 9 })
  expect((await w.read(transaction)).status).toBe('Paid')
  await expectOneLeft(w, database, transaction.id)
})
