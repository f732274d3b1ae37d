// Which errors of the database are transient, so that a batch is sent again.

import { describe, expect, it } from 'vitest'
import {
  DatabaseUnreachable,
  isTransient,
  libsqlDatabase,
} from '../../../../../worker/payments/ledger/libsql/http-libsql.ts'
import { statement } from '../../../../../worker/payments/ledger/libsql/statement-libsql.ts'
import { ledger, libsql, useLibsqlLedger } from '../libsql-bed.ts'
import { insertPending, paid } from '../shop-payments.ts'

useLibsqlLedger()

describe('an error of the database', () => {
  const place = () => ({ url: libsql.url, authToken: libsql.token })
  const never = new AbortController().signal
  const caught = (work: Promise<unknown>) =>
    work.then(
      () => undefined,
      (error: unknown) => error,
    )

  it('is transient when the server does not exist', async () => {
    const nowhere = libsqlDatabase({ url: 'http://127.0.0.1:1' }, Date.now)
    const error = await caught(nowhere.write([statement('SELECT 1')], never))
    expect(error).toBeInstanceOf(DatabaseUnreachable)
    expect(isTransient(error)).toBe(true)
  })

  it('is transient for an aborted call', async () => {
    const database = libsqlDatabase(place(), Date.now)
    const error = await caught(database.write([statement('SELECT 1')], AbortSignal.abort()))
    expect(isTransient(error)).toBe(true)
  })

  it('is transient while another writer holds the database', async () => {
    // An open transaction, which the server ends after 5 s.
    const open = { requests: [{ type: 'execute', stmt: { sql: 'BEGIN IMMEDIATE' } }] }
    const call = (body: object) =>
      fetch(`${libsql.url}/v2/pipeline`, {
        method: 'POST',
        headers: { authorization: `Bearer ${libsql.token}` },
        body: JSON.stringify(body),
      })
    const response = await call(open)
    const { baton } = (await response.json()) as { baton: string }
    const landed = ledger.webhook(paid(0))
    await new Promise((resolve) => setTimeout(resolve, 100))
    const close = { baton, requests: [{ type: 'close' }] }
    await call(close)
    expect((await landed).outcome).toBe('parked')
  })

  it.each([
    ['a violated constraint', `INSERT INTO payment_outbox SELECT * FROM payment_outbox`],
    ['a syntax error', 'SELEC'],
    ['a missing table', 'SELECT * FROM nothing'],
  ])('is not transient for %s', async (_, sql) => {
    await insertPending(libsql, 1)
    await ledger.webhook(paid(0))
    const error = await caught(libsqlDatabase(place(), Date.now).write([statement(sql)], never))
    expect(error).toBeInstanceOf(Error)
    expect(isTransient(error)).toBe(false)
  })

  it('is thrown before anything is sent if a parameter has no value', () => {
    expect(() => statement('SELECT :a, :b', { a: 1 })).toThrow(':b')
  })
})
