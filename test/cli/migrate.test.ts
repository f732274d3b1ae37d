import { readdirSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { keptInstallation } from '../../system/database/installation.ts'
import { startLibsql } from '../../tools/harness/database.ts'
import { SCHEMA_VERSION } from '../../worker/payments/domain/rows.ts'
import { startLibsqlWith } from '../support/libsql-server.ts'
import { tempFolder } from '../support/temp-folder.ts'
import { run } from './payments/fake-system.ts'

it('makes the tables of the database that the environment names, and is quiet the next time', async () => {
  const libsql = await startLibsqlWith('CREATE TABLE orders (id TEXT)')
  const env = { LIBSQL_URL: libsql.url, LIBSQL_AUTH_TOKEN: libsql.token }
  try {
    const first = await run('migrate', env)
    const [made, has] = first.out.split('\n')
    expect(made).toMatch(/^Made a new database of payments: PAYMENT_INSTALLATION=[0-9a-f]{32}$/)
    expect([first.code, has]).toEqual([0, `The database has schema ${SCHEMA_VERSION}.`])
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
  const older = await startLibsqlWith(readFileSync('test/fixtures/schema-2.sql', 'utf8'))
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

it('says that the server refuses the token', async () => {
  const libsql = await startLibsql()
  const env = { LIBSQL_URL: libsql.url, LIBSQL_AUTH_TOKEN: 'of-another' }
  const refused = await run('migrate', env)
  await libsql.close()
  const why = 'it answered 401, so LIBSQL_AUTH_TOKEN is missing, wrong or expired'
  const err = `signalbox migrate: The database of payments refuses this host: ${why}.\n`
  expect(refused).toEqual({ code: 1, out: '', err })
})

it('makes no new shop of a server that came back empty, unless somebody says that it is one', async () => {
  const libsql = await startLibsql({ isEmpty: true })
  const dataDir = tempFolder()
  const OTHER = '0123456789abcdef0123456789abcdef'
  const server = { LIBSQL_URL: libsql.url, LIBSQL_AUTH_TOKEN: libsql.token, HOME: tempFolder() }
  const kept = keptInstallation({ dataDir, trustsData: false, env: server })
  try {
    await kept.write(OTHER)
    const set = { ...server, PAYMENT_INSTALLATION: OTHER }
    for (const [argv, env] of [
      ['migrate', set],
      [`migrate --data ${dataDir}`, server],
    ] as const) {
      const refused = await run(argv, env)
      expect(refused).toMatchObject({ code: 1, out: '' })
      expect(refused.err).toContain(`it is empty, and this is the shop ${OTHER}`)
    }
    const tables = "SELECT name FROM sqlite_master WHERE type = 'table'"
    expect(await libsql.query(tables)).toEqual([])
    const { code, out } = await run(`migrate --new --data ${dataDir}`, set)
    expect([code, out]).toEqual([
      0,
      expect.stringMatching(
        /^Made a new database of payments: PAYMENT_INSTALLATION=[0-9a-f]{32}\n/,
      ),
    ])
    expect(out).toContain(`PAYMENT_INSTALLATION is still ${OTHER}: change it.\n`)
    expect(await kept.read()).toBeUndefined()
  } finally {
    await libsql.close()
  }
})

it('lets the next start of a data folder make a database, and makes nothing itself', async () => {
  const dataDir = tempFolder()
  const env = { HOME: tempFolder() }
  const kept = keptInstallation({ dataDir, trustsData: false, env })
  await kept.write('0123456789abcdef0123456789abcdef')
  const { code, out } = await run(`migrate --new --data ${dataDir}`, env)
  expect([code, out]).toEqual([
    0,
    `The next start makes a new database in ${dataDir}, if it has none.\n`,
  ])
  expect([await kept.read(), readdirSync(dataDir)]).toEqual([undefined, []])
})
