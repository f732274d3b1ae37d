import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { startLibsql } from '../../tools/harness/database.ts'
import { SCHEMA_VERSION } from '../../worker/payments/ledger/libsql/schema-version-libsql.ts'
import { run } from './payments/fake-system.ts'

it('makes the tables of the database that the environment names, and is quiet the next time', async () => {
  const libsql = await startLibsql({ script: 'CREATE TABLE orders (id TEXT)' })
  const env = { LIBSQL_URL: libsql.url, LIBSQL_AUTH_TOKEN: libsql.token }
  try {
    const first = await run('migrate', env)
    expect(first).toMatchObject({ code: 0, out: `The database has schema ${SCHEMA_VERSION}.\n` })
    expect(first.err).toBe('')
    expect(await run('migrate', env)).toEqual({
      code: 0,
      err: '',
      out: `The database has schema ${SCHEMA_VERSION} already.\n`,
    })
    await libsql.query('UPDATE payment_schema SET version = 99')
    const newer = await run('migrate', env)
    expect(newer).toMatchObject({ code: 1, out: '' })
    expect(newer.err).toContain('has schema 99')
  } finally {
    await libsql.close()
  }
})

it('upgrades a database of an older schema on the server', async () => {
  const libsql = await startLibsql()
  const older = await startLibsql({ script: readFileSync('test/fixtures/schema-2.sql', 'utf8') })
  const env = { LIBSQL_URL: older.url, LIBSQL_AUTH_TOKEN: older.token }
  const names = "SELECT name FROM sqlite_master WHERE name LIKE 'payment%' ORDER BY name"
  try {
    expect(await run('migrate', env)).toMatchObject({ code: 0 })
    expect(await older.query(names)).toEqual(await libsql.query(names))
  } finally {
    await older.close()
    await libsql.close()
  }
})

it('ends with 2 without an address or for one that it has no use for, and with 1 where nobody answers', async () => {
  for (const [LIBSQL_URL, why] of [
    ['', 'missing: LIBSQL_URL'],
    ['file:payments.db', 'LIBSQL_URL is a file: signalbox serve migrates it when it starts.'],
    ['postgres://db.example', 'LIBSQL_URL must begin with libsql:, https: or http:.'],
  ] as const) {
    const refused = await run('migrate', { LIBSQL_URL })
    expect(refused).toMatchObject({ code: 2, out: '' })
    expect(refused.err).toContain(why)
  }
  const nobody = await run('migrate', { LIBSQL_URL: 'http://127.0.0.1:9' })
  expect(nobody).toMatchObject({ code: 1, out: '' })
  expect(nobody.err).toContain('127.0.0.1:9')
})
