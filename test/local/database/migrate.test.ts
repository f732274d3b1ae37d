// Every migration, from a database of the first schema to today's, and what interrupts one.

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

/** Called before a transaction and after it; what it throws is what the migration gets. */
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

/** Of every table of ours, its rows in the order of their keys. */
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

/** With waits that are over at once. */
const run = (by: Scripts = scripts) =>
  migrate({
    database,
    scripts: by,
    notice: (sentence) => notices.push(sentence),
    clock: {
      now: () => 0,
      random: () => 0,
      after(_, call) {
        queueMicrotask(call)
        return () => undefined
      },
    },
  })

const state = () => database.all('SELECT version, step, passed FROM payment_schema')[0]
const DONE = { version: SCHEMA_VERSION, step: 0, passed: '' }

/** What makes each table and index, without comments and blanks. */
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
  it('are one: in schema.sql, of the last migration, and in the code that writes', async () => {
    expect(scripts.version).toBe(SCHEMA_VERSION)
    database = madeOf(scripts.text)
    expect(state()).toEqual(DONE)
  })
})

describe('a database of the first schema', () => {
  it('becomes what schema.sql makes by the migrations alone, and has every row', async () => {
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

  it('says before it begins that writes wait, and that an old Signalbox must be stopped', async () => {
    await run()
    expect(notices).toEqual([
      expect.stringContaining(`has schema 1 and is brought to schema ${SCHEMA_VERSION}.`),
      expect.stringContaining('must not run now'),
    ])
  })

  it('changes by 2 what was paid and what follows from it, and nothing else', async () => {
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

  it('has hashes by 2 that the same request has now, without the phone', async () => {
    await run()
    const rows = database.all('SELECT request, request_hash FROM payment_transactions')
    for (const { request, request_hash: hash } of rows) {
      expect(await requestHash(JSON.parse(String(request)))).toBe(hash)
    }
  })
})

describe('a migration', () => {
  it('finds the rows of each part by their keys, so that a large table takes no longer a row', async () => {
    const plans: string[] = []
    const { write } = database
    // One of its own: libSQL counts a write that was only explained as one that still runs.
    const planner = () => {
      const made = database.all('SELECT sql FROM sqlite_master WHERE sql IS NOT NULL')
      return sqliteDatabase(made.map(({ sql }) => `${sql};`).join('\n'))
    }
    database.write = (statements, signal) => {
      // Asked when they are run: the tables of a part may be there for it alone.
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
    // An index of few values holds nearly the whole table under one of them.
    expect(
      plans.filter((it) => /SCAN payment|SCAN \w+ USING|_by_(outcome|status)/.test(it)),
    ).toEqual([])
  })

  /** What it leaves when nothing goes wrong. */
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
    'that was killed %s any of its writes goes on with the next run, and ends the same',
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

  it('goes on by itself where an answer is lost, whichever it is', async () => {
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

  it('whose statement fails leaves all that was before it, and says which step it was', async () => {
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

  it('that another process overtakes ends, and changes nothing twice', async () => {
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
  it('that is empty gets schema.sql, once or again', async () => {
    database = madeOf('')
    expect(await run()).toEqual({ from: 0, to: SCHEMA_VERSION })
    expect(await run()).toEqual({ from: SCHEMA_VERSION, to: SCHEMA_VERSION })
    expect(schemaOf(database)).toEqual(schemaOf(madeOf(scripts.text)))
    expect(notices).toEqual([])
  })

  it('of today’s schema gets back an index that somebody dropped', async () => {
    database = madeOf(`${scripts.text};DROP INDEX payment_refunds_under_way`)
    await run()
    expect(schemaOf(database)).toEqual(schemaOf(madeOf(scripts.text)))
  })

  it('that schema.sql alone was run over keeps its old schema, and is brought up from there', async () => {
    database.exec(scripts.text)
    expect(state()).toBeUndefined()
    expect(await run()).toMatchObject({ from: 1 })
    expect(state()).toEqual(DONE)
    expect(schemaOf(database)).toEqual(schemaOf(madeOf(scripts.text)))
  })

  it('that had schema 2 before schemas had numbers keeps what was paid since', async () => {
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
  ])('%s is refused, and stays as it is', async (_, set) => {
    database = madeOf(scripts.text)
    database.exec(`UPDATE payment_schema SET ${set}; DROP TABLE payment_alerts`)
    const before = schemaOf(database)
    await expect(run()).rejects.toMatchObject({ code: 'schema_newer' })
    expect(schemaOf(database)).toEqual(before)
  })
})
