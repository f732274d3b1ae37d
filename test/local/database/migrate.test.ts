// Every migration, from a database of the first schema to today's, and interrupted migrations.

import { readFileSync } from 'node:fs'
import { beforeEach, describe, expect, it } from 'vitest'
import { migrate } from '../../../local/database/migrate.ts'
import { readScripts, type Scripts } from '../../../local/database/scripts.ts'
import { DatabaseUnreachable } from '../../../worker/payments/ledger/libsql/request-libsql.ts'
import { SCHEMA_VERSION } from '../../../worker/payments/ledger/libsql/schema-version-libsql.ts'
import type { Row } from '../../../worker/payments/ledger/libsql/statement-libsql.ts'
import { requestHash } from '../../../worker/shared/sha256.ts'
import { type SqliteDatabase, sqliteDatabase } from '../../support/sqlite-database.ts'

const FIXTURE = readFileSync('test/fixtures/payments-schema-1.sql', 'utf8')
const scripts = await readScripts('.')
/** Parts of three rows instead of a thousand. */
const inSmallParts: Scripts = {
  ...scripts,
  migrations: scripts.migrations.map(({ to, steps }) => ({
    to,
    steps: steps.map((it) => (it.parts ? { ...it, parts: { ...it.parts, rows: 3 } } : it)),
  })),
}

/** Called before and after each transaction. If it throws, the migration gets the error. */
let fault: (when: 'before' | 'after') => void
let database: SqliteDatabase

function madeOf(script: string): SqliteDatabase {
  fault = () => undefined
  const made = sqliteDatabase(script)
  return {
    ...made,
    async write(statements, signal) {
      fault('before')
      const rows = await made.write(statements, signal)
      fault('after')
      return rows
    },
  }
}

/** The rows of each of our tables, in the order of their keys. */
const content = (): Record<string, Row[]> => {
  const tables = database.all(
    `SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE 'payment%' ORDER BY name`,
  )
  return Object.fromEntries(
    tables.map(({ name }) => [String(name), database.all(`SELECT * FROM ${name} ORDER BY 1`)]),
  )
}

let notices: string[]
beforeEach(() => {
  database = madeOf(FIXTURE)
  notices = []
})

/** With a clock that does not wait. */
const run = (by: Scripts = scripts) =>
  migrate({
    database,
    scripts: by,
    notice: (sentence) => notices.push(sentence),
    clock: {
      now: () => 0,
      elapsed: () => 0,
      random: () => 0,
      after(_, call) {
        queueMicrotask(call)
        return () => undefined
      },
    },
  })

const state = () => database.all('SELECT version, step, passed FROM payment_schema')[0]
const DONE = { version: SCHEMA_VERSION, step: 0, passed: '' }

/** The statement of each table and index, without comments and white space. */
const schemaOf = (of: SqliteDatabase) =>
  of
    .all('SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY name')
    .map(({ name, sql }) => [
      name,
      String(sql)
        .replaceAll(/--.*$/gm, '')
        .replace(' IF NOT EXISTS', '')
        .replaceAll(/\s*([(),])\s*/g, '$1')
        .replaceAll(/\s+/g, ' ')
        .trim(),
    ])

const one = (sql: string) => database.all(sql)[0]
const transaction = (reference: string) =>
  one(`SELECT * FROM payment_transactions WHERE reference = '${reference}' ORDER BY id DESC`)

describe('the numbers of the schema', () => {
  it('are the same in schema.sql, in the last migration and in the code', async () => {
    expect(scripts.version).toBe(SCHEMA_VERSION)
    database = madeOf(scripts.text)
    expect(state()).toEqual(DONE)
  })
})

describe('a database of the first schema', () => {
  it('gets the tables of schema.sql by migrations alone, and keeps every row', async () => {
    const before = content()
    // A story lists its events in the order in which they were stored.
    const stored = () => database.all('SELECT rowid, id FROM payment_outbox ORDER BY rowid')
    const events = stored()
    const [makesTheNumber = ''] = scripts.schema
    expect(await run({ ...scripts, schema: [makesTheNumber] })).toMatchObject({ from: 1 })
    expect(state()).toEqual(DONE)
    expect(schemaOf(database)).toEqual(schemaOf(madeOf(scripts.text)))
    expect(stored()).toEqual(events)
    const after = content()
    for (const [table, rows] of Object.entries(before)) {
      expect(after[table]?.map(({ id }) => id)).toEqual(rows.map(({ id }) => id))
    }
  })

  it('shows first that writes wait, and that an old Signalbox must be stopped', async () => {
    await run()
    expect(notices).toEqual([
      expect.stringContaining(`has schema 1 and is brought to schema ${SCHEMA_VERSION}.`),
      expect.stringContaining('must not run now'),
    ])
  })

  it('changes with schema 2 only what was paid, and what depends on it', async () => {
    const before = content()
    await run()
    const after = content()
    const changed = Object.entries(before).flatMap(([table, rows]) =>
      rows.flatMap((row, at) =>
        Object.entries(row)
          .filter(([name, value]) => after[table]?.[at]?.[name] !== value)
          .map(([name]) => `${table}.${name} of ${row.reference ?? row.type}`),
      ),
    )
    expect(changed).toEqual([
      ...Array.from({ length: 4 }, () => 'payment_outbox.payload of PaymentSucceeded'),
      'payment_outbox.payload of PaymentRefunded',
      'payment_outbox.payload of PaymentSucceeded',
      'payment_transactions.request_hash of pending',
      'payment_transactions.refunded_amount of underpaid-refunded',
    ])
    const paid = (amount: number | null, currency: string | null) => ({
      paid_amount: amount,
      paid_currency: currency,
    })
    expect(transaction('pending')).toMatchObject(paid(null, null))
    expect(transaction('rejected')).toMatchObject(paid(null, null))
    expect(transaction('paid')).toMatchObject(paid(25_000, 'IQD'))
    expect(transaction('underpaid')).toMatchObject(paid(20_000, 'IQD'))
    expect(transaction('overpaid')).toMatchObject(paid(30_000, 'IQD'))
    expect(transaction('paid-in-dollars')).toMatchObject(paid(2_500_000, 'USD'))
    expect(transaction('underpaid-refunded')).toMatchObject({
      ...paid(20_000, 'IQD'),
      refunded_amount: 20_000,
    })
    expect(transaction('stripe-partly-refunded')).toMatchObject({
      ...paid(2_500, 'USD'),
      refunded_amount: 1_000,
    })
    expect(
      one(`SELECT payload ->> '$.transaction.paid_amount' AS amount FROM payment_outbox
        WHERE type = 'PaymentRefunded' AND payload ->> '$.transaction.reference' = 'underpaid-refunded'`),
    ).toEqual({ amount: 20_000 })
  })

  it('has, from schema 2 on, the hashes of today’s requests, without the phone', async () => {
    await run()
    const rows = database.all('SELECT request, request_hash FROM payment_transactions')
    for (const { request, request_hash: hash } of rows) {
      expect(await requestHash(JSON.parse(String(request)))).toBe(hash)
    }
  })
})

describe('a migration', () => {
  it('finds the rows of each part by their keys, so a row costs the same in a large table', async () => {
    const plans: string[] = []
    const { write } = database
    // Another database: libSQL counts a write that was only explained as one that still runs.
    const planner = () => {
      const made = database.all('SELECT sql FROM sqlite_master WHERE sql IS NOT NULL')
      return sqliteDatabase(made.map(({ sql }) => `${sql};`).join('\n'))
    }
    database.write = (statements, signal) => {
      // Explained when they run: the tables of a part may exist only for it.
      for (const { sql } of statements.filter(({ args }) => 'upto' in args)) {
        // A parameter without a value is NULL.
        const details = planner()
          .all(`EXPLAIN QUERY PLAN ${sql}`)
          .map(({ detail }) => detail)
        plans.push(...details.map(String))
      }
      return write(statements, signal)
    }
    await run()
    expect(plans.length).toBeGreaterThan(3)
    // In an index of few values, one of them may have nearly the whole table.
    expect(
      plans.filter((it) => /SCAN payment|SCAN \w+ USING|_by_(outcome|status)/.test(it)),
    ).toEqual([])
  })

  /** The result without faults. */
  async function undisturbed() {
    database = madeOf(FIXTURE)
    let writes = 0
    fault = (when) => {
      if (when === 'before') writes += 1
    }
    await run(inSmallParts)
    return { expected: content(), writes }
  }

  it.each(['before', 'after'] as const)(
    'that was killed %s any of its writes continues with the next run, with the same result',
    async (moment) => {
      const { expected, writes } = await undisturbed()
      expect(writes).toBeGreaterThan(30)
      for (let last = 1; last <= writes; last++) {
        database = madeOf(FIXTURE)
        let done = 0
        fault = (when) => {
          if (when === 'before') done += 1
          if (when === moment && done >= last) throw new Error('killed')
        }
        await expect(run(inSmallParts)).rejects.toThrow('killed')
        fault = () => undefined
        await run(inSmallParts)
        expect(content(), `killed ${moment} write ${last}`).toEqual(expected)
      }
    },
  )

  it('continues by itself after any answer of the database is lost', async () => {
    const { expected, writes } = await undisturbed()
    for (let lost = 1; lost <= writes; lost++) {
      database = madeOf(FIXTURE)
      let done = 0
      fault = (when) => {
        if (when === 'after' && ++done === lost) throw new DatabaseUnreachable('it is lost')
      }
      await run(inSmallParts)
      expect(content(), `without answer ${lost}`).toEqual(expected)
    }
  })

  it('whose statement fails keeps the steps before it, and names the step that failed', async () => {
    const [second, ...others] = scripts.migrations
    const steps = [...(second?.steps ?? []), { statements: ['CREATE TABLE x (y)', 'SELEC'] }]
    const broken = { ...scripts, migrations: [{ to: 2, steps }, ...others] }
    await expect(run(broken)).rejects.toMatchObject({
      code: 'migration_failed',
      message: expect.stringContaining('step 3 of the migration to schema 2 failed'),
    })
    expect(state()).toEqual({ version: 1, step: 2, passed: '' })
    expect(database.all(`SELECT 1 FROM sqlite_master WHERE name = 'x'`)).toEqual([])
  })

  it('that runs twice at the same time ends in one process, and changes nothing twice', async () => {
    const { expected } = await undisturbed()
    database = madeOf(FIXTURE)
    const results = await Promise.allSettled([run(inSmallParts), run(inSmallParts)])
    const refused = results.filter(({ status }) => status === 'rejected')
    expect(refused).toMatchObject([{ reason: { code: 'migration_running' } }])
    await run(inSmallParts)
    expect(content()).toEqual(expected)
  })
})

describe('a database', () => {
  it('that is empty gets schema.sql, and a second run changes nothing', async () => {
    database = madeOf('')
    expect(await run()).toEqual({ from: 0, to: SCHEMA_VERSION })
    expect(await run()).toEqual({ from: SCHEMA_VERSION, to: SCHEMA_VERSION })
    expect(schemaOf(database)).toEqual(schemaOf(madeOf(scripts.text)))
    expect(notices).toEqual([])
  })

  it('of today’s schema gets back an index that was dropped', async () => {
    database = madeOf(`${scripts.text};DROP INDEX payment_refunds_under_way`)
    await run()
    expect(schemaOf(database)).toEqual(schemaOf(madeOf(scripts.text)))
  })

  it('on which only schema.sql was run keeps its old schema, and is upgraded from there', async () => {
    database.exec(scripts.text)
    expect(state()).toBeUndefined()
    expect(await run()).toMatchObject({ from: 1 })
    expect(state()).toEqual(DONE)
    expect(schemaOf(database)).toEqual(schemaOf(madeOf(scripts.text)))
  })

  it('with schema 2 from the time before schema numbers keeps its paid amounts', async () => {
    database.exec(`ALTER TABLE payment_transactions ADD COLUMN paid_amount INTEGER;
      ALTER TABLE payment_transactions ADD COLUMN paid_currency TEXT;
      UPDATE payment_transactions SET paid_amount = 7, paid_currency = 'USD' WHERE reference = 'paid'`)
    await run()
    expect(transaction('paid')).toMatchObject({ paid_amount: 7, paid_currency: 'USD' })
    expect(transaction('underpaid')).toMatchObject({ paid_amount: 20_000 })
  })

  it.each([
    ['of a newer version', `version = ${SCHEMA_VERSION + 1}`],
    ['that a newer version is upgrading', `version = ${SCHEMA_VERSION}, step = 1`],
  ])('%s is refused, and does not change', async (_, set) => {
    database = madeOf(scripts.text)
    database.exec(`UPDATE payment_schema SET ${set}; DROP TABLE payment_alerts`)
    const before = schemaOf(database)
    await expect(run()).rejects.toMatchObject({ code: 'schema_newer' })
    expect(schemaOf(database)).toEqual(before)
  })
})
