// A database that was made before payments kept what was paid: it goes on as it was, and knows it.

import { afterAll, beforeAll, expect, it } from 'vitest'
import { makeTables } from '../../local/libsql-server.ts'
import type { Transaction } from '../../worker/payments/domain/transaction.ts'
import { createLedger } from '../../worker/payments/ledger/create-ledger.ts'
import { libsqlStore } from '../../worker/payments/ledger/libsql/store-libsql.ts'
import { libsqlRecords } from '../../worker/payments/queries/queries-libsql.ts'
import { hostClock } from '../../worker/shared/clock.ts'
import { FakeDesk, FakeDispatcher, LISTENERS, World } from '../contract/ledger-world.ts'
import { type LibsqlServer, startLibsql } from '../support/libsql.ts'

let libsql: LibsqlServer
let w: World

beforeAll(async () => {
  libsql = await startLibsql()
  const { database } = libsql
  const desk = new FakeDesk()
  const dispatcher = new FakeDispatcher()
  const ledger = createLedger({
    ...{
      store: libsqlStore(database),
      desk,
      subscribers: LISTENERS,
      dispatch: dispatcher.dispatch,
    },
    ...{ clock: hostClock, log: () => undefined },
  })
  const records = libsqlRecords(database)
  const bed = { ledger, outbox: ledger, records, close: async () => undefined }
  w = new World(bed, { desk, dispatcher })
}, 40_000)
afterAll(() => libsql.stop())

const upgrade = () => makeTables(libsql, '.', AbortSignal.timeout(60_000))

const paidWith = async (reference: string, amount: number): Promise<Transaction> => {
  const transaction = await w.charged({ request: { reference } })
  await w.tell(transaction, { amount })
  return transaction
}

/** Takes away what the older version did not store. */
async function makeOlder(): Promise<void> {
  for (const column of ['paid_amount', 'paid_currency']) {
    await libsql.query(`ALTER TABLE payment_transactions DROP COLUMN ${column}`)
    await libsql.query(
      `UPDATE payment_outbox SET payload = json_remove(payload, '$.transaction.${column}')`,
    )
  }
  // It took what was asked for to be back.
  await libsql.query(
    `UPDATE payment_transactions SET refunded_amount = amount WHERE status = 'Refunded'`,
  )
}

it('goes on: what was paid is told, given back, and added once', async () => {
  const open = await w.charged({ request: { reference: 'open' } })
  const asAsked = await paidWith('as asked', 25_000)
  const less = await paidWith('less', 20_000)
  const back = await paidWith('back', 20_000)
  await w.tell(back, { status: 'Refunded', amount: 20_000 })
  const forgotten = await paidWith('forgotten', 20_000)
  await libsql.query(`DELETE FROM payment_webhook_events WHERE transaction_id = '${forgotten.id}'`)
  await makeOlder()

  await upgrade()
  const paid = { amount: 20_000, currency: 'IQD' }
  expect((await w.read(open)).paid).toBeUndefined()
  expect(await w.read(asAsked)).toMatchObject({ paid: { amount: 25_000, currency: 'IQD' } })
  expect(await w.read(forgotten)).toMatchObject({ paid: { amount: 25_000, currency: 'IQD' } })
  expect(await w.read(back)).toMatchObject({ status: 'Refunded', paid, refundedAmount: 20_000 })
  const { transaction, events } = await w.story(less)
  expect(transaction).toMatchObject({ status: 'Paid', amount: 25_000, paid })
  expect(events.map(({ payload }) => payload.transaction.paid)).toEqual([undefined, paid])

  const full = { fullOnly: true, amount: 25_000 }
  const start = w.refundStart(less, full)
  expect(await w.ledger.beginRefund(start)).toMatchObject({ state: 'begun', amount: 20_000 })
  await w.endRefund(start.id, { kind: 'done' })
  await w.tell(open, { amount: 24_000 })

  await upgrade()
  expect(await w.read(less)).toMatchObject({ status: 'Refunded', paid, refundedAmount: 20_000 })
  expect(await w.read(open)).toMatchObject({ paid: { amount: 24_000, currency: 'IQD' } })
})

it('takes a payment for paid as it was asked for where an older edge has moved it since', async () => {
  const transaction = await paidWith('moved', 25_000)
  await libsql.query(
    `UPDATE payment_transactions SET paid_amount = NULL, paid_currency = NULL
      WHERE id = '${transaction.id}'`,
  )
  expect(await w.read(transaction)).toMatchObject({ paid: { amount: 25_000, currency: 'IQD' } })
  expect((await w.refund(transaction, { amount: 25_000 })).state).toBe('begun')
})
