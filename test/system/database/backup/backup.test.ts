// Backups of a database that is in use, and databases made of them: in files, and in libSQL's server.

import { existsSync } from 'node:fs'
import { readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  backUp,
  backupMetric,
  noteBackup,
  restore,
} from '../../../../system/database/backup/backup.ts'
import { prepareSchema } from '../../../../system/database/migrate.ts'
import { startLibsql } from '../../../../tools/harness/database.ts'
import { SCHEMA_VERSION } from '../../../../worker/payments/domain/rows.ts'
import type { Database } from '../../../../worker/payments/ledger/libsql/database-libsql.ts'
import {
  openThreaded,
  type ThreadedDatabase,
} from '../../../../worker/payments/ledger/libsql/threaded-libsql.ts'
import { Metrics } from '../../../../worker/shared/metrics.ts'
import { metricsText } from '../../../../worker/shared/metrics-node.ts'
import { openSqlite } from '../../../../worker/shared/sqlite-libsql.ts'
import { BOTH } from '../../../support/ledger-fakes.ts'
import type { LedgerSetup } from '../../../support/ledger-setup.ts'
import { startLibsqlWith } from '../../../support/libsql-server.ts'
import { tempFolder } from '../../../support/temp-folder.ts'
import { setupOver } from '../../../worker/payments/ledger/memory-ledger.ts'

let dir: string
let file: string
let backup: string
let database: ThreadedDatabase
let w: LedgerSetup
beforeEach(async () => {
  dir = tempFolder()
  file = join(dir, 'payments.db')
  backup = join(dir, 'copy')
  database = await openThreaded(file)
  await prepareSchema(database)
  w = setupOver(database)
})
afterEach(() => database.close())

const all = (path: string, sql: string) => {
  const sqlite = openSqlite(path)
  try {
    return sqlite.all<Record<string, unknown>>(sql)
  } finally {
    sqlite.close()
  }
}
const count = (path: string, from: string) =>
  Number(all(path, `SELECT COUNT(*) AS n FROM ${from}`)[0]?.n)

const overwriting = { overwrites: true }
const once = { overwrites: false }

const TABLES = ['transactions', 'webhook_events', 'outbox', 'refunds', 'alerts', 'audit', 'search']

async function contentOf({ read }: Pick<Database, 'read'>): Promise<object> {
  const statements = TABLES.map((name) => {
    return { sql: `SELECT * FROM payment_${name} ORDER BY rowid`, args: {} }
  })
  const rows = await read(statements)
  return JSON.parse(JSON.stringify(rows).replaceAll(/"next_check_at":\w+/g, '"next_check_at":0'))
}
const contentIn = async (path: string): Promise<object> => {
  const opened = await openThreaded(path)
  return contentOf(opened).finally(() => opened.close())
}

describe('a backup', () => {
  it('is of one moment, while another thread or process writes on', async () => {
    let isOver = false
    const writing = (async () => {
      for (let n = 0; !isOver; n++) {
        const charge = () => w.reached('Paid', { request: { reference: `order-${n}` } })
        await Promise.all([charge(), charge().catch(() => undefined)])
      }
    })()
    for (let round = 0; round < 5; round++) {
      const { payments } = await backUp({ file }, backup, overwriting)
      expect(all(backup, 'PRAGMA integrity_check')).toEqual([{ integrity_check: 'ok' }])
      const paid = count(backup, "payment_transactions WHERE status = 'Paid'")
      expect(count(backup, 'payment_transactions')).toBe(payments)
      expect(count(backup, "payment_webhook_events WHERE outcome = 'applied'")).toBe(paid)
      expect(count(backup, "payment_outbox WHERE type = 'PaymentSucceeded'")).toBe(paid)
      await expect.poll(() => count(file, 'payment_transactions')).toBeGreaterThan(payments)
    }
    isOver = true
    await writing
  })

  it('is one file, for its owner alone, and overwrites another only when that is asked for', async () => {
    await w.reached('Paid')
    await writeFile(backup, 'mine')
    await expect(backUp({ file }, backup, once)).rejects.toThrow('--force overwrites it')
    expect(await readFile(backup, 'utf8')).toBe('mine')
    expect(await backUp({ file }, backup, overwriting)).toMatchObject({ payments: 1 })
    expect((await stat(backup)).mode & 0o777).toBe(0o600)
    expect((await readdir(dir)).filter((name) => name.startsWith('copy'))).toEqual(['copy'])
    await expect(backUp({ file: join(dir, 'none') }, join(dir, 'x'), once)).rejects.toThrow(
      'no database',
    )
    expect(existsSync(join(dir, 'none'))).toBe(false)
  })

  it('names the file that cannot be written', async () => {
    const nowhere = join(dir, 'nowhere', 'copy')
    const sentence = `${nowhere} cannot be written (ENOENT).`
    await expect(backUp({ file }, nowhere, once)).rejects.toThrow(sentence)
  })

  it('leaves nothing when it fails', async () => {
    await expect(backUp({ url: 'http://127.0.0.1:9' }, backup, once)).rejects.toThrow()
    expect((await readdir(dir)).filter((name) => name.startsWith('copy'))).toEqual([])
  })
})

describe('a restored database', () => {
  it('has all rows, asks about all that is open, and refuses the saves of before', async () => {
    await w.reached('Paid', { by: 'ada', request: { reference: 'paid' } })
    const open = await w.charged({ request: { reference: 'open' } })
    const asked = await w.reached('Paid', { request: { reference: 'refund' } })
    await w.claimed(asked)
    await w.ledger.pause({ id: w.id(), by: 'ada', now: 7 })
    await backUp({ file }, backup, once)
    const before = await readFile(backup)
    const [{ batch } = {}] = all(file, 'SELECT batch FROM payment_ledger')
    const restored = join(dir, 'data/node/payments.db')
    const found = await restore(backup, { file: restored }, 5_000)
    expect(found).toEqual({ payments: 3, open: 2, installation: expect.stringMatching(/^\w{32}$/) })
    expect(await readFile(backup)).toEqual(before)
    expect((await stat(restored)).mode & 0o777).toBe(0o600)
    expect((await stat(join(dir, 'data'))).mode & 0o777).toBe(0o700)
    expect(await contentIn(restored)).toEqual(await contentOf(database))
    const pauses = all(restored, 'SELECT paused_at, paused_by FROM payment_ledger')
    expect(pauses).toEqual([{ paused_at: 7, paused_by: 'ada' }])
    expect(all(restored, 'SELECT batch FROM payment_ledger')).toEqual([
      { batch: Number(batch) + 1_000_000 },
    ])
    expect(all(restored, 'SELECT id FROM payment_transactions WHERE next_check_at = 5000')).toEqual(
      [{ id: open.id }, { id: asked.id }],
    )
    await expect(restore(backup, { file: restored }, 1)).rejects.toThrow('exists')
  })

  it.each([
    ['is missing', () => rm(backup), 'There is no file'],
    ['is another file', () => writeFile(backup, 'a letter'.repeat(1_000)), 'cannot be restored'],
    ['is cut off', () => truncate(backup, 40_960), 'cannot be restored'],
    ['has no payments', () => noPayments(), 'no backup of payments'],
    ['has no payments, but a log', () => noPayments('WAL'), 'no backup of payments'],
    ['is of a newer version', () => newer(), 'it is too old'],
  ])('is not made of a file that %s', async (_, spoil, why) => {
    for (let n = 0; n < 20; n++) await w.reached('Paid', { request: { reference: `order-${n}` } })
    await backUp({ file }, backup, once)
    await spoil()
    const restored = join(dir, 'data/node/payments.db')
    await expect(restore(backup, { file: restored }, 1)).rejects.toMatchObject({
      name: 'StartError',
      message: expect.stringContaining(why),
    })
    expect(await readdir(join(dir, 'data/node')).catch(() => [])).toEqual([])
  })
  const noPayments = async (mode?: string) => {
    await rm(backup)
    change('CREATE TABLE letters (text)', mode)
  }
  const change = (sql: string, mode = 'DELETE') => {
    const sqlite = openSqlite(backup)
    sqlite.exec(`${sql}; PRAGMA journal_mode = ${mode}`)
    sqlite.close()
  }
  const newer = async () => change(`UPDATE payment_schema SET version = ${SCHEMA_VERSION + 1}`)
})

describe('a copy for a second installation', () => {
  it('delivers no event that the first has still to deliver, and refunds none of its payments', async () => {
    const both = setupOver(database, { subscribers: BOTH })
    const paid = await both.reached('Paid')
    await backUp({ file }, backup, once)
    const waiting = 'payment_outbox WHERE done_at IS NULL'
    const pending = "payment_deliveries WHERE status = 'pending'"
    expect([count(backup, waiting), count(backup, pending)]).not.toContain(0)
    const path = join(dir, 'second.db')
    await restore(backup, { file: path }, Date.now(), { asCopy: true })
    expect([count(path, waiting), count(path, pending)]).toEqual([0, 0])
    const opened = await openThreaded(path)
    const second = setupOver(opened, { subscribers: BOTH })
    expect(await second.refund(paid)).toEqual({ state: 'not_refundable', status: 'Paid' })
    await opened.close()
  })
})

describe('with libSQL’s server', () => {
  it('a backup is read in one transaction, and an empty database is filled with it', async () => {
    const [one, other] = [await startLibsql(), await startLibsqlWith('CREATE TABLE own (x)')]
    try {
      const setup = setupOver(one.database)
      const orders = Array.from({ length: 120 }, (_, n) => `order-${n}`)
      await Promise.all(orders.map((reference) => setup.charged({ request: { reference } })))
      await setup.reached('Paid', { by: 'ada', request: { reference: 'paid' } })
      await one.query("INSERT INTO ended_sessions VALUES ('sid-1', 9)")
      const location = { url: one.url, authToken: one.token }
      expect(await backUp(location, backup, once)).toMatchObject({ payments: 121 })
      const there = { url: other.url, authToken: other.token }
      expect(await restore(backup, there, 1)).toMatchObject({ payments: 121, open: 120 })
      expect(await contentOf(other.database)).toEqual(await contentOf(one.database))
      await expect(other.query('DELETE FROM payment_audit')).rejects.toThrow('append only')
      expect(await other.query('SELECT * FROM ended_sessions')).toEqual([
        { sid: 'sid-1', expires_at: 9 },
      ])
      const again = setupOver(other.database)
      await again.reached('Paid', { request: { reference: 'later' } })
      await expect(restore(backup, there, 1)).rejects.toThrow('name an empty one')
      expect(await other.query('SELECT version, step FROM payment_schema')).toEqual([
        { version: SCHEMA_VERSION, step: 0 },
      ])
    } finally {
      await one.close()
      await other.close()
    }
  })
})

it('its time is a metric of the process that runs, as another process has noted it', async () => {
  const metrics = new Metrics()
  backupMetric(metrics, dir)
  const shown = () =>
    Number(/^signalbox_last_backup_timestamp_seconds (.*)$/m.exec(metricsText(metrics))?.[1])
  expect(shown()).toBe(0)
  await noteBackup(dir)
  expect(Math.abs(shown() - Date.now() / 1_000)).toBeLessThan(60)
})
