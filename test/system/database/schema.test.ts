// What schema.sql promises of its own, on libSQL's server.

import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { statementsOf } from '../../../system/database/migration-scripts.ts'
import { type LibsqlServer, startLibsql } from '../../../tools/harness/database.ts'
import { statement, type Value } from '../../../worker/payments/ledger/libsql/statement-libsql.ts'

let libsql: LibsqlServer
let schema: string
beforeAll(async () => {
  libsql = await startLibsql()
  schema = await readFile('schema.sql', 'utf8')
})
afterAll(() => libsql.close())

type Args = Record<string, Value>
const query = (sql: string, args: Args = {}) => libsql.query(sql, args)
const runScript = (script: string) => {
  const statements = statementsOf(script).map((sql) => statement(sql))
  return libsql.database.write(statements, AbortSignal.timeout(60_000))
}

const transaction = (id: string, more: Args = {}) => {
  const row: Args = {
    id,
    gateway: 'shop',
    reference: id,
    gateway_transaction_id: null,
    amount: 25_000,
    currency: 'IQD',
    status: 'Pending',
    ...more,
  }
  const names = Object.keys(row)
  const values = names.map((name) => `:${name}`)
  return query(
    `INSERT INTO payment_transactions (${names}, created_at, updated_at) VALUES (${values}, 1, 1)`,
    row,
  )
}

describe('schema.sql', () => {
  it('can run again on a database with rows, and loses nothing', async () => {
    await transaction('kept')
    await runScript(schema)
    expect(await query('SELECT id FROM payment_transactions')).toEqual([{ id: 'kept' }])
    const tables = await query(
      `SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE 'payment%' ORDER BY name`,
    )
    expect(tables.map(({ name }) => name)).toEqual([
      'payment_alerts',
      'payment_audit',
      'payment_charge_keys',
      'payment_deliveries',
      'payment_disputes',
      'payment_event_keys',
      'payment_ledger',
      'payment_movements',
      'payment_notes',
      'payment_outbox',
      'payment_refunds',
      'payment_schema',
      'payment_search',
      'payment_transactions',
      'payment_webhook_events',
    ])
  })

  it('is applied completely or not at all: a statement that fails undoes the others', async () => {
    const script = 'CREATE TABLE IF NOT EXISTS half (x);\nCREATE TABLE broken (;'
    await expect(runScript(script)).rejects.toThrow()
    expect(await query(`SELECT name FROM sqlite_master WHERE name = 'half'`)).toEqual([])
  })

  it('refuses a second refund of a transaction while one is under way, but not later', async () => {
    await transaction('back', { status: 'Paid' })
    const refund = (id: string) =>
      query(
        `INSERT INTO payment_refunds
          (id, transaction_id, amount, reason, created_at, updated_at)
          VALUES (:id, 'back', 1, 'broken', 1, 1)`,
        { id },
      )
    await refund('f1')
    await expect(refund('f2')).rejects.toThrow(/UNIQUE/)
    await query(`UPDATE payment_refunds SET status = 'succeeded' WHERE id = 'f1'`)
    await refund('f2')
  })

  it.each([
    ['an unknown status', { status: 'paid' }, /CHECK/],
    ['an amount of 0', { amount: 0 }, /CHECK/],
    ['an amount that is text', { amount: 'much' }, /TEXT value in INTEGER/],
    ['the gateway id of another one', { gateway_transaction_id: 'g-twice' }, /UNIQUE/],
  ])('refuses a transaction with %s', async (_, wrong, why) => {
    await query(`DELETE FROM payment_transactions WHERE id IN ('twice', 'bad')`)
    await transaction('twice', { gateway_transaction_id: 'g-twice' })
    await expect(transaction('bad', wrong)).rejects.toThrow(why)
  })
})
