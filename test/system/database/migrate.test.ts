// Migrations, with a schema of the tests' own, and interrupted ones; and what schema.sql makes.

import { readFileSync } from 'node:fs'
import { beforeEach, describe, expect, it } from 'vitest'
import { migrate, prepareSchema } from '../../../system/database/migrate.ts'
import {
  readScripts,
  type Scripts,
  statementsOf,
  stepsOf,
} from '../../../system/database/migration-scripts.ts'
import { StartError } from '../../../system/start-error.ts'
import { SCHEMA_VERSION } from '../../../worker/payments/domain/rows.ts'
import { DatabaseUnreachable } from '../../../worker/payments/ledger/libsql/database-libsql.ts'
import type { Row } from '../../../worker/payments/ledger/libsql/statement-libsql.ts'
import { searchText } from '../../../worker/payments/ledger/libsql/store-libsql.ts'
import { isDiskFailure } from '../../../worker/shared/file-errors.ts'
import { type SqliteDatabase, sqliteDatabase } from '../../support/sqlite-database.ts'

const SCHEMA = readFileSync('schema.sql', 'utf8')
/** With payments, and as a version with schema 2 left them. */
const SCHEMA_2 = readFileSync('test/fixtures/schema-2.sql', 'utf8')
const ours = await readScripts()

/** The table of the number, as schema.sql has it, and a table of notes. */
const numbered = (version: number, notes: string) => `
  ${ours.schema.find((sql) => sql.includes('payment_schema'))};
  INSERT INTO payment_schema (one, version) VALUES (1, ${version}) ON CONFLICT DO NOTHING;
  CREATE TABLE IF NOT EXISTS payment_notes (${notes}) STRICT;
`
const FIRST = `${numbered(1, 'id TEXT PRIMARY KEY NOT NULL, text TEXT')}
  INSERT INTO payment_notes (id, text) VALUES ${Array.from({ length: 10 }, (_, n) => `('n-${n}', 'note ${n}')`).join()};`
const THIRD = numbered(
  3,
  'id TEXT PRIMARY KEY NOT NULL, text TEXT, length INTEGER, is_read INTEGER NOT NULL DEFAULT 0',
)
/** To 2: a column, filled in parts. To 3: another one, without a marker. */
const scripts: Scripts = {
  version: 3,
  schema: statementsOf(THIRD),
  migrations: [
    {
      to: 2,
      steps: stepsOf(`
-- step: once
ALTER TABLE payment_notes ADD COLUMN length INTEGER;
-- step: for every 3 rows of payment_notes
UPDATE payment_notes SET length = coalesce(length, 0) + length(text)
  WHERE id > :after AND id <= :upto;
`),
    },
    {
      to: 3,
      steps: stepsOf('ALTER TABLE payment_notes ADD COLUMN is_read INTEGER NOT NULL DEFAULT 0;'),
    },
  ],
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
  database = madeOf(FIRST)
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
const DONE = { version: 3, step: 0, passed: '' }

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

describe('the numbers of the schema', () => {
  it('are the same in schema.sql, in the last migration and in the code', () => {
    expect(ours.version).toBe(SCHEMA_VERSION)
    database = madeOf(SCHEMA)
    expect(state()).toMatchObject({ version: SCHEMA_VERSION, step: 0 })
  })
})

describe('a migration', () => {
  it('leads to the tables of the whole schema, keeps every row, and says first that writes wait', async () => {
    expect(await run()).toEqual({ from: 1, to: 3 })
    expect(state()).toEqual(DONE)
    expect(database.all('PRAGMA table_info(payment_notes)')).toEqual(
      madeOf(THIRD).all('PRAGMA table_info(payment_notes)'),
    )
    expect(content().payment_notes).toEqual(
      Array.from({ length: 10 }, (_, n) => ({
        id: `n-${n}`,
        text: `note ${n}`,
        length: 6,
        is_read: 0,
      })),
    )
    expect(notices).toEqual([
      expect.stringMatching(
        /has schema 1 and is brought to schema 3, in 3 steps\..* It has 0\.\d MiB/,
      ),
      ...[1, 2, 3].map((step) => `Step ${step} of 3 is done.`),
      expect.stringMatching(
        /^The database has schema 3 now\. That was done in 0\.0 s and took \d+\.\d MiB of disk\.$/,
      ),
    ])
  })

  /** The result without faults. */
  async function undisturbed() {
    database = madeOf(FIRST)
    let writes = 0
    fault = (when) => {
      if (when === 'before') writes += 1
    }
    await run()
    return { expected: content(), writes }
  }

  it.each(['before', 'after'] as const)(
    'that was killed %s any of its writes continues with the next run, with the same result',
    async (moment) => {
      const { expected, writes } = await undisturbed()
      expect(writes).toBeGreaterThan(10)
      for (let last = 1; last <= writes; last++) {
        database = madeOf(FIRST)
        let done = 0
        fault = (when) => {
          if (when === 'before') done += 1
          if (when === moment && done >= last) throw new Error('killed')
        }
        await expect(run()).rejects.toThrow('killed')
        fault = () => undefined
        await run()
        expect(content(), `killed ${moment} write ${last}`).toEqual(expected)
      }
    },
  )

  it('continues by itself after any answer of the database is lost', async () => {
    const { expected, writes } = await undisturbed()
    for (let lost = 1; lost <= writes; lost++) {
      database = madeOf(FIRST)
      let done = 0
      fault = (when) => {
        if (when === 'after' && ++done === lost) throw new DatabaseUnreachable('it is lost')
      }
      await run()
      expect(content(), `without answer ${lost}`).toEqual(expected)
    }
  })

  it('whose statement fails keeps the steps before it, and names the step that failed', async () => {
    const steps = [
      ...(scripts.migrations[0]?.steps ?? []),
      { statements: ['CREATE TABLE x (y)', 'SELEC'] },
    ]
    const broken = { ...scripts, migrations: [{ to: 2, steps }, ...scripts.migrations.slice(1)] }
    await expect(run(broken)).rejects.toMatchObject({
      code: 'migration_failed',
      message: expect.stringContaining('step 3 of the migration to schema 2 failed'),
    })
    expect(state()).toEqual({ version: 1, step: 2, passed: '' })
    expect(database.all(`SELECT 1 FROM sqlite_master WHERE name = 'x'`)).toEqual([])
  })

  it('that meets a full disk is a start that failed by the disk, and goes on from there', async () => {
    database = sqliteDatabase(SCHEMA_2)
    const pages = Number(database.all('PRAGMA page_count')[0]?.page_count)
    database.exec(`PRAGMA max_page_count = ${pages + 5}`)
    const error = await prepareSchema(database).catch((thrown: unknown) => thrown)
    expect([error instanceof StartError, isDiskFailure(error)]).toEqual([true, true])
    expect(String(error)).toMatch(/step \d+ of the migration to schema \d failed: .*is full/)
    database.exec('PRAGMA max_page_count = 100000')
    expect(await prepareSchema(database)).toEqual({ isNew: false })
    expect(state()).toMatchObject({ version: SCHEMA_VERSION, step: 0 })
  })

  it('that runs twice at the same time ends in one process, and changes nothing twice', async () => {
    const { expected } = await undisturbed()
    database = madeOf(FIRST)
    const results = await Promise.allSettled([run(), run()])
    const refused = results.filter(({ status }) => status === 'rejected')
    expect(refused).toMatchObject([{ reason: { code: 'migration_running' } }])
    await run()
    expect(content()).toEqual(expected)
  })
})

describe('a database', () => {
  it('that is empty gets schema.sql, and a second run changes nothing', async () => {
    database = madeOf('')
    expect(await run(ours)).toEqual({ from: 0, to: SCHEMA_VERSION })
    expect(await run(ours)).toEqual({ from: SCHEMA_VERSION, to: SCHEMA_VERSION })
    expect(schemaOf(database)).toEqual(schemaOf(madeOf(SCHEMA)))
    expect(notices).toEqual([])
  })

  it('of schema 2 keeps every row, and gets an id of its own, the same whenever it is upgraded', async () => {
    const upgraded = async (script: string) => {
      database = madeOf(script)
      const before = content()
      await run(ours)
      expect(schemaOf(database)).toEqual(schemaOf(madeOf(SCHEMA)))
      return { before, after: content() }
    }
    const { before, after } = await upgraded(SCHEMA_2)
    const oldest = before.payment_transactions?.[0]?.id
    expect(after.payment_ledger).toMatchObject([{ batch: 100, installation: oldest }])
    // What was paid late was known only to its alert.
    const late = new Map(
      before.payment_alerts
        ?.filter(({ kind }) => kind === 'late_payment')
        .map(({ transaction_id, created_at, detail }) => {
          const { amount, currency } = JSON.parse(String(detail))
          const paid = { paid_at: created_at, paid_amount: amount, paid_currency: currency }
          return [transaction_id, paid]
        }),
    )
    expect(late.size).toBeGreaterThan(0)
    for (const [table, rows] of Object.entries(before)) {
      const kept = rows.map(({ refunded_before: _, ...row }) =>
        expect.objectContaining({
          ...row,
          ...(table === 'payment_transactions' && late.get(row.id)),
        }),
      )
      if (table !== 'payment_schema') {
        expect(after[table], table).toEqual(expect.arrayContaining(kept))
      }
    }
    // What was refunded is the sum of the rows: those made at the gateway have one, too.
    for (const { id, refunded_amount } of after.payment_transactions ?? []) {
      const made = after.payment_refunds?.filter(
        (row) => row.transaction_id === id && row.status === 'succeeded',
      )
      const sum = made?.reduce((total, { amount }) => total + Number(amount), 0)
      expect(sum, String(id)).toBe(refunded_amount)
    }
    // The books have each amount that is known, as an estimate.
    for (const {
      id,
      paid_at,
      paid_amount,
      amount,
      refunded_amount,
    } of after.payment_transactions ?? []) {
      const moved = after.payment_movements?.filter(
        ({ transaction_id, kind }) => transaction_id === id && kind !== 'refused_paid',
      )
      const sum = moved?.reduce((total, row) => total + Number(row.amount), 0)
      const paid = paid_at === null ? 0 : Number(paid_amount ?? amount)
      expect(sum, String(id)).toBe(paid - Number(refunded_amount))
      expect(moved?.every(({ estimated }) => estimated === 1)).toBe(true)
    }
    const inserts = /^INSERT INTO payment_(?!schema|ledger).*$/gm
    const [empty, another] = [
      await upgraded(SCHEMA_2.replaceAll(inserts, '')),
      await upgraded(SCHEMA_2.replaceAll(inserts, '')),
    ].map(({ after }) => after.payment_ledger?.[0]?.installation)
    expect(empty).toMatch(/^[0-9a-f]{32}$/)
    expect(another).not.toBe(empty)
  })

  it('of schema 2 is searched in afterwards, each of thousands of payments by its own text', async () => {
    database = madeOf(SCHEMA_2)
    const columns = 'gateway, reference, amount, currency, description, created_at, updated_at'
    database.exec(`INSERT INTO payment_transactions (id, ${columns}, metadata)
      WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 2499)
      SELECT printf('0A%024d', 5000 - i), 'bank', 'ORD-' || i, 1, 'IQD', 'Lamp ' || i, 1, 1,
        json_object('to', 'Ms. ' || i) FROM n`)
    database.exec(`UPDATE payment_transactions SET metadata = 'null' WHERE reference = 'ORD-7'`)
    await run(ours)
    const rows = database.all(`SELECT t.reference, t.description, t.metadata, s.text
      FROM payment_transactions t LEFT JOIN payment_search s ON s.n = t.rowid`)
    expect(rows.length).toBeGreaterThan(2_500)
    for (const row of rows) expect(row.text).toBe(searchText(row as never))
    expect(rows.find(({ reference }) => reference === 'ORD-8')?.text).toBe('\nORD8\nLAMP8\nMS8\n')
  })

  it('of schema 2 has each dispute as one open alert afterwards, and as booked what is out', async () => {
    database = madeOf(SCHEMA_2)
    const columns = 'gateway, reference, amount, currency, status, paid_at, created_at, updated_at'
    const alertOf = (
      id: string,
      tx: string,
      eventId: string,
      amount: number,
      acknowledged = false,
    ) =>
      `INSERT INTO payment_alerts (id, kind, subject, gateway, transaction_id, detail, created_at,
          acknowledged_at, acknowledged_by)
        VALUES ('${id}', 'dispute', '${tx} ${eventId.replace(/:[^:]*$/, '')}', 'bank', '${tx}',
          '${JSON.stringify({ eventId, amount, currency: 'EUR' })}', 1${id.at(-1)},
          ${acknowledged ? "12, 'ada'" : 'NULL, NULL'})`
    const eventOf = (id: string, tx: string, eventId: string, amount: number) =>
      `INSERT INTO payment_webhook_events (id, gateway, event_id, transaction_id, to_status, amount,
          currency, outcome, alert, occurred_at, received_at)
        VALUES ('${id}', 'bank', '${eventId}', '${tx}', 'Paid', ${amount}, 'EUR', 'unchanged',
          'dispute', 1, 1${id.at(-1)})`
    for (const tx of ['0Z1', '0Z2', '0Z3', '0Z4']) {
      database.exec(`INSERT INTO payment_transactions (id, ${columns})
        VALUES ('${tx}', 'bank', '${tx}', 5000, 'EUR', 'Paid', 1, 1, 1)`)
    }
    for (const sql of [
      // Chargebacks of 30 and 20, then a refund.
      alertOf('0A1', '0Z1', 'tr_1:paid:aa:', 3_000),
      alertOf('0A2', '0Z1', 'tr_1:paid:bb:', 5_000),
      alertOf('0A3', '0Z1', 'tr_1:paid:bb:cc', 5_000).replace('tr_1:paid:bb', 'tr_1:paid:bb x'),
      // An inquiry, which was booked, and another dispute that was seen, and went on.
      alertOf('0A4', '0Z2', 'dp_1:warning_needs_response', 700),
      alertOf('0A5', '0Z2', 'dp_2:needs_response', 400, true),
      eventOf('0E6', '0Z2', 'dp_2:under_review', 450),
      // One that was won after its alert.
      alertOf('0A7', '0Z3', 'dp_3:needs_response', 900),
      eventOf('0E8', '0Z3', 'dp_3:won', 900),
    ]) {
      database.exec(sql)
    }
    const pointers = `UPDATE payment_transactions SET alert = '{"id":"0A1","kind":"dispute"}'`
    database.exec(`${pointers} WHERE id = '0Z1'`)
    await run(ours)
    expect(
      database.all(`SELECT transaction_id, dispute, part, amount, out_amount, is_inquiry
        FROM payment_disputes WHERE transaction_id LIKE '0Z%' ORDER BY transaction_id, dispute`),
    ).toEqual([
      {
        transaction_id: '0Z1',
        dispute: 'tr_1',
        part: null,
        amount: 5_000,
        out_amount: 5_000,
        is_inquiry: 0,
      },
      {
        transaction_id: '0Z2',
        dispute: 'dp_1',
        part: 'dp_1',
        amount: 700,
        out_amount: 0,
        is_inquiry: 1,
      },
      {
        transaction_id: '0Z2',
        dispute: 'dp_2',
        part: 'dp_2',
        amount: 450,
        out_amount: 450,
        is_inquiry: 0,
      },
      {
        transaction_id: '0Z3',
        dispute: 'dp_3',
        part: 'dp_3',
        amount: 900,
        out_amount: 0,
        is_inquiry: 0,
      },
    ])
    expect(
      database.all(`SELECT transaction_id AS id, sum(amount) AS out, min(estimated) AS estimated
        FROM payment_movements WHERE kind IN ('disputed', 'dispute_returned')
          AND transaction_id LIKE '0Z%' GROUP BY 1 ORDER BY 1`),
    ).toEqual([
      { id: '0Z1', out: 5_000, estimated: 1 },
      { id: '0Z2', out: 450, estimated: 1 },
      { id: '0Z3', out: 0, estimated: 1 },
    ])
    expect(
      database.all(`SELECT id, subject, acknowledged_by AS by FROM payment_alerts
        WHERE transaction_id LIKE '0Z%' ORDER BY id`),
    ).toEqual([
      { id: '0A1', subject: '0Z1 tr_1:paid:aa 0A1', by: 'gateway' },
      { id: '0A2', subject: '0Z1 tr_1:paid:bb 0A2', by: 'gateway' },
      { id: '0A3', subject: '0Z1 tr_1', by: null },
      { id: '0A4', subject: '0Z2 dp_1', by: null },
      { id: '0A5', subject: '0Z2 dp_2', by: 'ada' },
      { id: '0A7', subject: '0Z3 dp_3', by: null },
    ])
    expect(database.all(`SELECT alert FROM payment_transactions WHERE id = '0Z1'`)).toEqual([
      { alert: '{"id":"0A3","kind":"dispute"}' },
    ])
  })

  it('of this schema gets back an index that was dropped', async () => {
    database = madeOf(`${SCHEMA};DROP INDEX payment_refunds_under_way`)
    await run(ours)
    expect(schemaOf(database)).toEqual(schemaOf(madeOf(SCHEMA)))
  })

  it.each([
    ['of a newer version', 'schema_newer', `version = ${SCHEMA_VERSION + 1}`],
    ['that a newer version is upgrading', 'schema_newer', 'step = 1'],
  ])('%s is refused with %s, and does not change', async (_, code, set) => {
    database = madeOf(`${SCHEMA};UPDATE payment_schema SET ${set}; DROP TABLE payment_alerts`)
    const before = schemaOf(database)
    await expect(run(ours)).rejects.toMatchObject({ code })
    expect(schemaOf(database)).toEqual(before)
  })

  it('of a schema that no migration begins with is refused, and does not change', async () => {
    database = madeOf(`${SCHEMA}; UPDATE payment_schema SET version = 1`)
    const before = schemaOf(database)
    await expect(run(ours)).rejects.toMatchObject({
      code: 'migration_failed',
      message: expect.stringContaining('migration to schema 2 failed: Error: this version of'),
    })
    expect(schemaOf(database)).toEqual(before)
  })
})

it('a migration without a marker is one step, and comments are not statements', () => {
  expect(stepsOf('-- A column.\nALTER TABLE a ADD COLUMN b;\n\nUPDATE a\nSET b = 1;\n')).toEqual([
    { statements: ['ALTER TABLE a ADD COLUMN b', 'UPDATE a\nSET b = 1'] },
  ])
})

it('a marker begins a step: one transaction, or one for each number of rows', () => {
  const script = `-- What it is for.
-- step: once
ALTER TABLE a ADD COLUMN b;
-- step: for every 20 rows of a
-- Why.
UPDATE a SET b = 1 WHERE id > :after AND id <= :upto;
`
  expect(stepsOf(script)).toEqual([
    { statements: ['ALTER TABLE a ADD COLUMN b'] },
    {
      statements: ['UPDATE a SET b = 1 WHERE id > :after AND id <= :upto'],
      parts: { table: 'a', rows: 20 },
    },
  ])
})

it('an unknown marker is refused: otherwise it would be a comment', () => {
  expect(() => stepsOf('-- step: for every row of a\nUPDATE a SET b = 1;')).toThrow('not a step')
})

it('two statements on a line are refused: the server would silently ignore one', () => {
  expect(() => statementsOf('CREATE TABLE one (x); CREATE TABLE two (x);')).toThrow(
    'two statements',
  )
})
