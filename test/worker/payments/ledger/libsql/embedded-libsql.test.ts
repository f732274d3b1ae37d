// The adapter of a database in this process: its values and its errors.

import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { isTransient } from '../../../../../worker/payments/ledger/libsql/database-libsql.ts'
import {
  type EmbeddedDatabase,
  embeddedDatabase,
  fileOf,
  isEmbedded,
} from '../../../../../worker/payments/ledger/libsql/embedded-libsql.ts'
import { statement } from '../../../../../worker/payments/ledger/libsql/statement-libsql.ts'
import { openSqlite } from '../../../../../worker/shared/sqlite-libsql.ts'
import { tempFolder } from '../../../../support/temp-folder.ts'

const never = new AbortController().signal
let dir: string
let database: EmbeddedDatabase
beforeEach(() => {
  dir = tempFolder()
  database = embeddedDatabase(join(dir, 'a.db'))
})
afterEach(async () => {
  database.close()
})

const write = (sql: string, args = {}) => database.write([statement(sql, args)], never)
const caught = (work: Promise<unknown>) =>
  work.then(
    () => undefined,
    (error: unknown) => error,
  )

describe('values of an embedded database', () => {
  it('are stored by their type: whole numbers as integers, booleans as 0 and 1', async () => {
    const sql = `SELECT :whole AS whole, typeof(:whole) AS of_whole, :part AS part,
      typeof(:part) AS of_part, :yes AS yes, :none AS none, :text AS text`
    const args = { whole: 25_000, part: 0.5, yes: true, none: null, text: 'ü' }
    expect(await database.read([statement(sql, args)])).toEqual([
      [
        {
          whole: 25_000,
          of_whole: 'integer',
          part: 0.5,
          of_part: 'real',
          yes: 1,
          none: null,
          text: 'ü',
        },
      ],
    ])
  })

  it('beyond 2^53 are read as text, and cannot be stored', async () => {
    const sql = 'SELECT 9007199254740993 AS past, 9007199254740991 AS last'
    const row = { past: '9007199254740993', last: Number.MAX_SAFE_INTEGER }
    expect(await database.read([statement(sql)])).toEqual([[row]])
    await expect(write('SELECT :n', { n: 2 ** 53 })).rejects.toThrow(RangeError)
  })

  it('with half a surrogate pair are stored well-formed', async () => {
    expect(await write('SELECT :text AS text', { text: 'a\ud83d' })).toEqual([
      [{ text: 'a\ufffd' }],
    ])
  })

  it('are complete for more rows than the library returns at once', async () => {
    const count = `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < :most)
      SELECT i FROM n`
    for (const most of [99, 100, 101, 1_000]) {
      const [rows = []] = await database.read([statement(count, { most })])
      expect([rows.length, rows.at(-1)]).toEqual([most, { i: most }])
    }
  })
})

describe('a transaction of an embedded database', () => {
  beforeEach(() => write('CREATE TABLE orders (id INTEGER PRIMARY KEY, shop TEXT NOT NULL)'))

  it('stores all of its statements or, where one fails, none', async () => {
    const insert = statement(`INSERT INTO orders VALUES (1, 'a')`)
    await expect(database.write([insert, statement('SELEC')], never)).rejects.toThrow('syntax')
    await database.write([insert, statement(`INSERT INTO orders VALUES (2, 'b')`)], never)
    expect(await database.read([statement('SELECT count(*) AS n FROM orders')])).toEqual([
      [{ n: 2 }],
    ])
  })

  it('is not begun for an aborted call', async () => {
    const given = database.write(
      [statement(`INSERT INTO orders VALUES (1, 'a')`)],
      AbortSignal.abort(),
    )
    expect(isTransient(await caught(given))).toBe(true)
    expect(await database.read([statement('SELECT * FROM orders')])).toEqual([[]])
  })

  it('fails with a transient error while another process writes', async () => {
    const other = embeddedDatabase(join(dir, 'a.db'))
    await other.write([statement(`INSERT INTO orders VALUES (1, 'a')`)], never)
    other.close()
    // Another process in the middle of a transaction.
    const open = openSqlite(join(dir, 'a.db'))
    open.exec('BEGIN IMMEDIATE')
    const busy = await caught(write(`INSERT INTO orders VALUES (2, 'b')`))
    expect([isTransient(busy), (busy as { code?: string }).code]).toEqual([true, 'SQLITE_BUSY'])
    expect(await database.read([statement('SELECT id FROM orders')])).toEqual([[{ id: 1 }]])
    open.exec('ROLLBACK')
    open.close()
    await write(`INSERT INTO orders VALUES (2, 'b')`)
  })

  it.each([
    [
      'a violated constraint',
      'INSERT INTO orders VALUES (1, NULL)',
      'NOT NULL constraint failed: orders.shop',
    ],
    ['a syntax error', 'SELEC', 'syntax error'],
    ['a missing table', 'SELECT * FROM missing', 'no such table: missing'],
  ])('reports %s as not transient', async (_, sql, message) => {
    const error = await caught(write(sql))
    expect(String(error)).toContain(message)
    expect(isTransient(error)).toBe(false)
  })

  it('keeps foreign keys, as the server does', async () => {
    await write('CREATE TABLE lines (of INTEGER REFERENCES orders)')
    await expect(write('INSERT INTO lines VALUES (7)')).rejects.toThrow('FOREIGN KEY')
  })
})

describe('the place of an embedded database', () => {
  it.each([
    ['file:payments.db', 'payments.db'],
    ['file:/data/payments.db', '/data/payments.db'],
    ['file:///data/pay%20ments.db', '/data/pay ments.db'],
    ['file::memory:', ':memory:'],
  ])('%s is the file %s', (url, file) => {
    expect([isEmbedded(url), fileOf(url)]).toEqual([true, file])
  })

  it('is not the address of a server', () => {
    expect(['libsql://a.example', 'https://a.example'].map(isEmbedded)).toEqual([false, false])
  })
})
