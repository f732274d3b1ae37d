import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { UnsecuredJWT } from 'jose'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { checkDatabase, checkEngine } from '../../../cli/doctor/database.ts'
import { statementsOf } from '../../../system/database/migration-scripts.ts'
import { loopbackUrl } from '../../../system/local/ports.ts'
import { databaseAccess } from '../../../system/local/tokens.ts'
import { untilAnswers } from '../../../system/until.ts'
import { freePort } from '../../../tools/harness/free-port.ts'
import { type Child, spawnChild } from '../../../tools/start/child.ts'
import { libsqlServer } from '../../../tools/start/processes.ts'
import { SCHEMA_VERSION } from '../../../worker/payments/domain/rows.ts'
import { libsqlDatabase } from '../../../worker/payments/ledger/libsql/http-libsql.ts'
import {
  type Row,
  type Statement,
  statement,
} from '../../../worker/payments/ledger/libsql/statement-libsql.ts'
import { SECRET } from '../../support/edge.ts'
import { serve } from '../../support/http.ts'
import { tempFolder } from '../../support/temp-folder.ts'
import { lineOf } from './fake-system.ts'

const NOW = Date.parse('2026-03-01T10:00:00Z')
const DAY_MS = 86_400_000
const signal = AbortSignal.timeout(300_000)

let dir: string
let server: Child
let url: string
let token: string
const script = readFileSync('schema.sql', 'utf8')

beforeAll(async () => {
  dir = tempFolder()
  const port = await freePort()
  url = loopbackUrl(port)
  const access = await databaseAccess(SECRET)
  token = access.token
  const place = { dir: join(dir, 'db'), port, publicKey: access.publicKey }
  server = spawnChild(libsqlServer(place, { env: {}, logFile: join(dir, 'sqld.log') }))
  await untilAnswers(`${url}/health`, { what: 'sqld', waitMs: 60_000, signal })
})

afterAll(async () => {
  server.stop()
  await server.ended
})

const sql = (...statements: string[]) =>
  libsqlDatabase({ url, authToken: token }, Date.now).write(
    statements.map((text) => statement(text)),
    signal,
  )

const check = async (authToken = token, where = url): Promise<string[]> => {
  const found = await checkDatabase(
    { database: { url: where, authToken }, installation: undefined, realGateways: new Set() },
    NOW,
  )
  return found.map(lineOf).map((finding) => finding.replaceAll(new URL(where).host, 'HOST'))
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

  const READ = expect.stringMatching(/^ok database: HOST can be read \(libSQL, 3\.\d+\.\d+\)\.$/)

  it('is complete after schema.sql has run, once or twice', async () => {
    await sql(...statementsOf(script))
    const fine = [READ, `ok schema: It has schema ${SCHEMA_VERSION}.`]
    expect(await check()).toEqual(fine)
    await sql(...statementsOf(script))
    expect(await check()).toEqual(fine)
  })

  it('is told with who has paused payments, and since when', async () => {
    await sql(...statementsOf(script))
    await sql(`UPDATE payment_ledger SET paused_at = ${NOW}, paused_by = 'ada'`)
    const paused = 'They are paused since 2026-03-01T10:00:00.000Z, by ada.'
    expect(await check()).toContain(`warn payments: ${paused} See signalbox payments resume.`)
  })

  it('is missing before that, and the finding says how to create the tables', async () => {
    const none = 'The database of payments has no tables: run signalbox migrate.'
    expect(await check()).toEqual([READ, `error schema: ${none}`])
  })

  it('is of another version, and it says so alone', async () => {
    await sql(...statementsOf(script), 'UPDATE payment_schema SET version = 1000')
    const [, found, ...more] = await check()
    const why = 'has schema 1000, and this version of Signalbox knows'
    expect(found).toContain(`error schema: The database of payments ${why}`)
    expect(more).toEqual([])
  })
})

describe('a database', () => {
  it('of another engine is named, with what makes one of libSQL', async () => {
    const sqlite = new DatabaseSync(':memory:')
    const read = async (statements: readonly Statement[]) =>
      statements.map((each) => sqlite.prepare(each.sql).all() as Row[])
    const finding = lineOf(await checkEngine({ read }, 'HOST'))
    expect(finding).toMatch(/^warn database: HOST is SQLite 3\.[\d.]+: .* without --tursodb\.$/)
    const none = () => Promise.reject(new Error('no such table: pragma_function_list'))
    const unknown = lineOf(await checkEngine({ read: none }, 'HOST'))
    expect(unknown).toContain('HOST is an engine that does not say what it is')
  })

  it('that is a damaged file is reported with what brings a backup back', async () => {
    const file = join(dir, 'damaged.db')
    const sqlite = new DatabaseSync(file)
    sqlite.exec(script)
    sqlite.close()
    const bytes = readFileSync(file)
    for (const from of [0, 100]) {
      writeFileSync(file, Buffer.from(bytes).fill(0xff, from))
      const database = { url: `file:${file}` }
      const guarded = { installation: undefined, realGateways: new Set<string>() }
      const [found] = await checkDatabase({ database, ...guarded }, NOW)
      expect(found && lineOf(found)).toMatch(
        /^error database: .*damaged\.db is damaged \(.*\)\. See signalbox restore\.$/,
      )
    }
  })

  it('that does not answer is reported without its tables', async () => {
    const [found, ...more] = await check(undefined, loopbackUrl(await freePort()))
    expect(found).toMatch(/^error database: HOST cannot be read: .*ECONNREFUSED/)
    expect(more).toEqual([])
  })

  it('that refuses its token is reported', async () => {
    const refusing = await serve(() => new Response('{"error":"no"}', { status: 401 }))
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
    const open = await serve(async (request) => {
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
