import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { UnsecuredJWT } from 'jose'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { checkDatabase } from '../../../cli/payments/doctor-database.ts'
import { type Child, spawnChild } from '../../../local/child.ts'
import { readScripts, statementsOf } from '../../../local/database/scripts.ts'
import { databaseReady, databaseUrl, libsqlServer } from '../../../local/libsql-server.ts'
import { serve } from '../../../local/simulator/node-server.ts'
import { databaseAccess } from '../../../local/tokens.ts'
import { libsqlDatabase } from '../../../worker/payments/ledger/libsql/database-libsql.ts'
import { statement } from '../../../worker/payments/ledger/libsql/statement-libsql.ts'
import { SECRET } from '../../support/edge.ts'
import { freePort } from '../../support/free-port.ts'
import { told } from './bed.ts'

const NOW = Date.parse('2026-03-01T10:00:00Z')
const DAY_MS = 86_400_000
const signal = AbortSignal.timeout(300_000)

let dir: string
let server: Child
let url: string
let token: string
const scripts = await readScripts('.')
const { text: script } = scripts

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'signalbox-doctor-'))
  const port = await freePort()
  url = databaseUrl(port)
  const access = await databaseAccess(SECRET)
  token = access.token
  const place = { dir: join(dir, 'db'), port, publicKey: access.publicKey }
  server = spawnChild(libsqlServer(place, { env: {}, logFile: join(dir, 'sqld.log') }))
  await databaseReady(url, { what: 'sqld', waitMs: 60_000, signal })
})

afterAll(async () => {
  server.stop()
  await server.ended
  await rm(dir, { recursive: true, force: true })
})

const sql = (...statements: string[]) =>
  libsqlDatabase({ url, authToken: token }, Date.now).write(
    statements.map((text) => statement(text)),
    signal,
  )

const check = async (authToken = token, where = url): Promise<string[]> => {
  const found = await checkDatabase({ url: where, authToken }, scripts, NOW)
  return found.map(told).map((finding) => finding.replaceAll(new URL(where).host, 'HOST'))
}

describe('the schema of the database', () => {
  beforeEach(async () => {
    const tables = await libsqlDatabase({ url, authToken: token }, Date.now).read([
      statement(`SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE 'payment%'`),
    ])
    const names = (tables[0] ?? []).map(({ name }) => name)
    // Children before those that they refer to.
    const order = ['alerts', 'deliveries', 'outbox', 'refunds', 'webhook_events', 'charge_keys']
    const known = [...order, 'transactions', 'ledger', 'schema']
      .map((name) => `payment_${name}`)
      .filter((name) => names.includes(name))
    if (known.length > 0) await sql(...known.map((name) => `DROP TABLE ${name}`))
  })

  const READ = 'ok database: HOST can be read.'

  it('is complete after schema.sql has run, once or twice', async () => {
    await sql(...statementsOf(script))
    const fine = [READ, 'ok schema: All 9 tables of schema 5 exist.']
    expect(await check()).toEqual(fine)
    await sql(...statementsOf(script))
    expect(await check()).toEqual(fine)
  })

  it('is missing before that, and the finding says how to create the tables', async () => {
    const none = 'The database of payments has no tables: run signalbox migrate.'
    expect(await check()).toEqual([READ, `error schema: ${none}`])
  })

  it('has a missing table, and only that is reported', async () => {
    await sql(...statementsOf(script))
    await sql('DROP TABLE payment_alerts')
    expect((await check()).slice(1)).toEqual([
      expect.stringMatching(
        /^error schema: The database does not have the table payment_alerts: run /,
      ),
    ])
  })

  it('has a missing column, which schema.sql does not add', async () => {
    await sql(...statementsOf(script))
    await sql('ALTER TABLE payment_transactions DROP COLUMN charge_answer')
    const [, missing] = await check()
    expect(missing).toMatch(/does not have the column payment_transactions\.charge_answer, and/)
    const alter = 'ALTER TABLE payment_transactions ADD COLUMN charge_answer TEXT'
    expect(missing).toContain(alter)
    await sql(alter)
    expect(await check()).toHaveLength(2)
    expect((await check())[1]).toMatch(/^ok schema/)
  })

  it.each([
    ['DELETE FROM payment_schema', 'has schema 1, and this version of Signalbox needs schema 5'],
    ['UPDATE payment_schema SET version = 1, step = 1', 'has schema 1 and is being upgraded'],
    ['UPDATE payment_schema SET version = 6', 'has schema 6, and this version of Signalbox knows'],
  ])('is of another version after %s, and it says so alone', async (change, why) => {
    await sql(...statementsOf(script), change)
    const [, found, ...more] = await check()
    expect(found).toContain(`error schema: The database of payments ${why}`)
    expect(more).toEqual([])
  })

  it('has a missing index, or another one with its name', async () => {
    await sql(...statementsOf(script))
    await sql('DROP INDEX payment_refunds_under_way')
    const missing = /does not have the index payment_refunds_under_way: run signalbox migrate/
    expect((await check())[1]).toMatch(missing)
    // Not unique, and over all refunds: a second one could be made meanwhile.
    await sql('CREATE INDEX payment_refunds_under_way ON payment_refunds (transaction_id)')
    expect((await check())[1]).toMatch(missing)
    const where = `WHERE status IN ('claimed', 'accepted')`
    await sql(
      'DROP INDEX payment_refunds_under_way',
      `CREATE UNIQUE INDEX by_hand ON payment_refunds (transaction_id) ${where}`,
    )
    expect((await check())[1]).toMatch(/^ok schema/)
  })

  it('has columns of another type, and a table without its UNIQUE', async () => {
    const other = script
      .replace('amount INTEGER NOT NULL CHECK (amount > 0)', 'amount TEXT NOT NULL')
      .replace(',\n  UNIQUE (gateway, event_id)', '')
    await sql(...statementsOf(other))
    const found = await check()
    expect(found[1]).toMatch(/^error schema: Their type differs .* payment_transactions\.amount\.$/)
    expect(found[2]).toContain('payment_webhook_events (gateway,event_id)')
  })

  it('may have other tables besides ours', async () => {
    await sql(...statementsOf(script))
    await sql('CREATE TABLE IF NOT EXISTS orders (id TEXT)')
    expect((await check())[1]).toMatch(/^ok schema/)
  })
})

describe('a database', () => {
  it('that does not answer is reported without its tables', async () => {
    const [found, ...more] = await check(undefined, databaseUrl(await freePort()))
    expect(found).toMatch(/^error database: HOST cannot be read: .*ECONNREFUSED/)
    expect(more).toEqual([])
  })

  it('that refuses its token is reported', async () => {
    const refusing = await serve(0, () => new Response('{"error":"no"}', { status: 401 }))
    try {
      const [found] = await check('a-token', refusing.url)
      expect(found).toMatch(/^error database: HOST cannot be read: .*401/)
    } finally {
      await refusing.close()
    }
  })

  it.each([
    ['can only read', { a: 'ro' }, /^error database: .* can only read/],
    ['has expired', { exp: NOW / 1_000 - 1 }, /^error database: .* has expired/],
    ['expires soon', { exp: (NOW + DAY_MS) / 1_000 }, /^warn database: .* expires at 2026-03-02T/],
  ])('whose token %s is told before it is used', async (_, claims, why) => {
    await sql(...statementsOf(script))
    const [found] = await check(new UnsecuredJWT(claims).encode())
    expect(found).toMatch(why)
  })

  it('is fine with a token that is valid for long, or one of another kind', async () => {
    await sql(...statementsOf(script))
    // A server that takes any token.
    const open = await serve(0, async (request) => {
      const headers = { authorization: `Bearer ${token}` }
      const { pathname } = new URL(request.url)
      const init = { method: 'POST', headers, body: await request.text() }
      const answer = await fetch(`${url}${pathname}`, init)
      return Response.json(await answer.json())
    })
    const long = new UnsecuredJWT({ a: 'rw', exp: (NOW + 90 * DAY_MS) / 1_000 }).encode()
    try {
      for (const other of [long, 'no-jwt']) {
        expect((await check(other, open.url))[0]).toMatch(/^ok database/)
      }
    } finally {
      await open.close()
    }
  })
})
