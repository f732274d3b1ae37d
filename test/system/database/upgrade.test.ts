// A database that an older version has left goes on with this one.

import { readFileSync } from 'node:fs'
import { beforeEach, describe, expect, it } from 'vitest'
import { prepareSchema } from '../../../system/database/migrate.ts'
import { gatewayCharge } from '../../../worker/payments/charging/ask-charge.ts'
import type { TransactionRow } from '../../../worker/payments/domain/rows.ts'
import type { ChargeRequest } from '../../../worker/payments/domain/types.ts'
import { statement } from '../../../worker/payments/ledger/libsql/statement-libsql.ts'
import { HOUR, type LedgerSetup, T0 } from '../../support/ledger-setup.ts'
import { type SqliteDatabase, sqliteDatabase } from '../../support/sqlite-database.ts'
import { setupOver } from '../../worker/payments/ledger/memory-ledger.ts'

const SCHEMA_2 = readFileSync('test/fixtures/schema-2.sql', 'utf8')
/** Its charges are of then. */
const NOW = T0 + 2 * HOUR

let database: SqliteDatabase
let w: LedgerSetup
beforeEach(async () => {
  database = sqliteDatabase(SCHEMA_2)
  await prepareSchema(database)
  w = setupOver(database)
})

const rowOf = (reference: string) =>
  database.all(
    `SELECT * FROM payment_transactions WHERE reference = '${reference}'`,
  )[0] as unknown as TransactionRow
const chargeOf = (row: TransactionRow) =>
  gatewayCharge(JSON.parse(row.request ?? '{}') as ChargeRequest, row, {
    earlier: 'unknown',
    callbackUrl: undefined,
    now: NOW,
  })

describe.each(['redirect', 'stripe', 'fib'])('of schema 2, at %s,', (gateway) => {
  it('an open charge is finished under its old id, with the request that was sent before', async () => {
    const lost = rowOf(`${gateway}-lost`)
    const { description, ...request } = JSON.parse(lost.request ?? '{}') as ChargeRequest
    const begun = await w.begin({
      request: { description, ...request },
      idempotencyKey: 'key-lost',
      requestHash: lost.request_hash ?? '',
      now: NOW,
    })
    expect(begun).toMatchObject({
      state: 'begun',
      transaction: { id: lost.id, externalReferenceId: lost.external_reference_id },
    })
    const again = chargeOf(rowOf(`${gateway}-lost`))
    expect(again).toEqual({
      ...request,
      description,
      externalReferenceId: lost.external_reference_id,
      earlier: 'unknown',
      callbackUrl: undefined,
      now: NOW,
    })
  })

  it('what is open is checked, and is paid by its webhook', async () => {
    const claimed = await w.ledger.claimChecks({ now: NOW, until: NOW + HOUR, limit: 50 })
    const due = claimed.map(({ transaction }) => transaction.reference)
    expect(due).toEqual(expect.arrayContaining([`${gateway}-open`, `${gateway}-lost`]))
    const { id } = rowOf(`${gateway}-open`)
    expect(await w.webhook((await w.story(id)).transaction)).toMatchObject({ outcome: 'applied' })
  })

  it('late money that was given back raises no alert again', async () => {
    const { id } = rowOf(`${gateway}-late-settled`)
    const { transaction } = await w.story(id)
    const before = await w.alerts()
    await w.webhook(transaction, { receivedAt: NOW })
    expect(await w.alerts()).toEqual(before)
  })

  it('a new charge has an id of this installation', async () => {
    const { amount, currency } = rowOf(`${gateway}-open`)
    const of = { gateway, amount, currency, reference: 'new' }
    await w.pending({ request: of, now: NOW })
    const [{ installation } = {}] = database.all('SELECT installation FROM payment_ledger')
    const row = rowOf('new')
    expect(row.installation).toBe(installation)
    expect(chargeOf(row)).toMatchObject({ installation })
  })
})

it('the version of schema 2 writes nothing any more', async () => {
  const advance = statement(
    `REPLACE INTO payment_ledger (one, batch) VALUES (1, (SELECT batch + 1 FROM payment_ledger
      WHERE batch = 100 AND (SELECT version FROM payment_schema WHERE step = 0) = 2))`,
  )
  const spoil = statement("UPDATE payment_transactions SET status = 'Failed'")
  const before = database.all('SELECT * FROM payment_transactions')
  await expect(database.write([advance, spoil], AbortSignal.timeout(60_000))).rejects.toThrow(
    'payment_ledger.batch',
  )
  expect(database.all('SELECT * FROM payment_transactions')).toEqual(before)
})
