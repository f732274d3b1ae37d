import { mkdir, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { prepareSchema } from '../../../system/database/migrate.ts'
import { startLibsql } from '../../../tools/harness/database.ts'
import {
  openThreaded,
  type ThreadedDatabase,
} from '../../../worker/payments/ledger/libsql/threaded-libsql.ts'
import { openSqlite } from '../../../worker/shared/sqlite-libsql.ts'
import { BOTH } from '../../support/ledger-fakes.ts'
import { type LedgerSetup, T0 } from '../../support/ledger-setup.ts'
import { tempFolder } from '../../support/temp-folder.ts'
import { setupOver } from '../../worker/payments/ledger/memory-ledger.ts'
import { run as runWords } from '../run.ts'

let dir: string
let database: ThreadedDatabase
let w: LedgerSetup
beforeEach(async () => {
  dir = tempFolder()
  await mkdir(join(dir, 'node'))
  database = await openThreaded(join(dir, 'node/payments.db'))
  await prepareSchema(database)
  w = setupOver(database, { subscribers: BOTH })
})
afterEach(() => database.close())

const forget = (...words: string[]) =>
  runWords(['payments', 'forget', '--data', dir, ...words], { USER: 'ada' })

const PAYER = 'Mrs. Najla'
/** As she is written, and as she is found. */
const COPY = /Mrs\. Najla|MRSNAJLA/
const LAMP = (reference: string) => ({
  request: { reference, description: `A lamp for ${PAYER}`, metadata: { to: PAYER } },
})

/** All events of a payment are delivered. */
const deliver = () =>
  database.write(
    [
      { sql: 'UPDATE payment_outbox SET done_at = 1', args: {} },
      { sql: "UPDATE payment_deliveries SET status = 'delivered'", args: {} },
    ],
    AbortSignal.timeout(60_000),
  )

async function paid(reference: string) {
  const charged = await w.charged({ ...LAMP(reference), requestHash: reference })
  await w.webhook(charged, { raw: { name: PAYER }, eventId: `paid-${reference}` })
  const note = { id: w.id(), by: 'ada', now: T0, transactionId: charged.id }
  await w.ledger.writeNote({ ...note, text: `${PAYER} called` })
  return w.read(charged)
}

it('counts first, and with --yes deletes what may name the payers, and keeps the sums', async () => {
  const one = await paid('order-1')
  const refund = await w.claimed(one, { amount: 4_000, reason: `${PAYER} sent it back` })
  await w.endRefund(refund, { kind: 'done' })
  await w.charged(LAMP('order-2'))
  await deliver()
  const before = await w.story(one)
  const until = ['--before', '2030-01-01']
  expect(await forget(...until)).toEqual({
    code: 0,
    err: '',
    out: 'Would forget the payers of 1 payment (--yes does it). Not settled, and kept: 1.\n',
  })
  expect(await w.story(one)).toEqual(before)
  expect(await forget(...until, '--yes')).toMatchObject({
    out: expect.stringContaining('Forgot the payers of 1 payment. Not settled, and kept: 1.'),
  })
  const after = await w.story(one)
  expect(JSON.stringify(after)).not.toContain(PAYER)
  // What stays is found by its order only.
  const found = async (q: string) =>
    (await w.queries.transactions({ q }, { limit: 9 })).map(({ reference }) => reference)
  expect(await found('najla')).toEqual(['order-2'])
  expect(await found('order-1')).toEqual(['order-1'])
  const { description: _, metadata: __, redirectUrl: ___, ...kept } = before.transaction
  expect(after.transaction).toEqual(kept)
  expect(after.webhookEvents).toMatchObject([{ eventId: 'paid-order-1', amount: 25_000 }])
  expect(after.refunds).toMatchObject([{ id: refund, amount: 4_000, reason: '' }])
  expect(after.events.map(({ payload }) => payload)).toEqual(
    before.events.map(({ payload: { transaction } }) => {
      const { description, metadata, redirectUrl, ...rest } = transaction
      return { transaction: rest }
    }),
  )
  expect(after.notes).toEqual([])
  const forgotten = { action: 'forget', subject: 'command line: ada' }
  expect(after.audit).toMatchObject([{ action: 'note', subject: 'ada' }, forgotten])
  // A webhook of before is the same one, and a repeated charge finds its payment.
  expect(await w.webhook(one, { eventId: 'paid-order-1' })).toMatchObject({ outcome: 'duplicate' })
  const again = { ...LAMP('order-1'), requestHash: 'order-1' }
  expect(await w.begin(again)).toMatchObject({ state: 'answered' })
  expect(await forget(...until)).toMatchObject({
    out: expect.stringContaining('payers of 0 payments'),
  })
})

it('leaves no copy in the database or its write-ahead log, beside an open ledger', async () => {
  for (let n = 0; n < 30; n++) await paid(`order-${n}`)
  await deliver()
  const copies = async () => {
    const names = await readdir(join(dir, 'node'))
    const texts = names.map((name) => readFile(join(dir, 'node', name), 'latin1'))
    return (await Promise.all(texts)).join('').split(COPY).length - 1
  }
  expect(await copies()).toBeGreaterThan(60)
  expect(await forget('--before', '2030-01-01', '--yes')).toMatchObject({ code: 0 })
  expect(await copies()).toBe(0)
})

it('says that copies are left while a reader holds it', async () => {
  await paid('order-1')
  await deliver()
  const reader = openSqlite(join(dir, 'node/payments.db'))
  try {
    reader.exec('BEGIN')
    reader.all('SELECT COUNT(*) FROM payment_transactions')
    const held = await forget('--before', '2030-01-01', '--yes')
    expect(held).toMatchObject({ code: 1, err: expect.stringContaining('run this again') })
    reader.exec('COMMIT')
    expect(await forget('--before', '2030-01-01', '--yes')).toMatchObject({ code: 0 })
  } finally {
    reader.close()
  }
})

it('names in the audit trail who used sudo, and not the user of the service', async () => {
  const one = await paid('order-1')
  await deliver()
  const words = ['payments', 'forget', '--data', dir, '--before', '2030-01-01', '--yes']
  await runWords(words, { USER: 'signalbox', SUDO_USER: 'ada' })
  expect((await w.story(one)).audit.slice(-1)).toMatchObject([{ subject: 'command line: ada' }])
})

it('forgets the payments of one order, and again what a later webhook brings', async () => {
  const one = await paid('order-1')
  await paid('order-2')
  await deliver()
  expect(await forget('--reference', 'order-1', '--yes')).toMatchObject({
    out: expect.stringContaining('Forgot the payers of 1 payment.'),
  })
  await w.webhook(one, { raw: { name: PAYER } })
  expect(await forget('--reference', 'order-1', '--yes')).toMatchObject({
    out: expect.stringContaining('Forgot the payers of 1 payment.'),
  })
  expect(JSON.stringify(await w.story(one))).not.toContain(PAYER)
  const [other] = await w.queries.transactions({ reference: 'order-2' }, { limit: 1 })
  expect(other?.description).toContain(PAYER)
})

it('leaves what is not settled: an alert, a refund under way, an event that waits', async () => {
  const late = await w.reached('Failed', LAMP('late'))
  await w.webhook(late)
  const refunded = await paid('refunded')
  await deliver()
  await w.claimed(refunded)
  await paid('undelivered')
  expect(await forget('--before', '2030-01-01', '--yes')).toMatchObject({
    out: expect.stringContaining('Forgot the payers of 0 payments. Not settled, and kept: 3.'),
  })
  expect(await forget('--before', new Date(T0).toISOString().slice(0, 10))).toMatchObject({
    out: expect.stringContaining('Would forget the payers of 0 payments'),
  })
})

it('loses nothing beside a ledger that writes, which decides again', async () => {
  await Promise.all(Array.from({ length: 300 }, (_, n) => paid(`old-${n}`)))
  await deliver()
  let isOver = false
  const writing = (async () => {
    for (let n = 0; !isOver; n++) await paid(`new-${n}`)
  })()
  const done = await forget('--before', '2030-01-01', '--yes')
  isOver = true
  await writing
  expect(done.code).toBe(0)
  const [rows = []] = await database.read([
    {
      sql: `SELECT t.status, COUNT(*) AS n, (SELECT COUNT(*) FROM payment_webhook_events) AS events
        FROM payment_transactions t GROUP BY t.status`,
      args: {},
    },
  ])
  expect(rows).toEqual([{ status: 'Paid', n: rows[0]?.events, events: rows[0]?.events }])
})

it('forgets on libSQL’s server as well', async () => {
  const libsql = await startLibsql()
  try {
    w = setupOver(libsql.database)
    const one = await paid('order-1')
    await libsql.query('UPDATE payment_outbox SET done_at = 1')
    const env = { LIBSQL_URL: libsql.url, LIBSQL_AUTH_TOKEN: libsql.token }
    const done = await runWords(['payments', 'forget', '--before', '2030-01-01', '--yes'], env)
    expect(done).toMatchObject({ code: 0, out: expect.stringContaining('payers of 1 payment.') })
    expect(JSON.stringify(await w.story(one))).not.toContain(PAYER)
  } finally {
    await libsql.close()
  }
})

it('ends with 2 where it does not know which payments, or which database', async () => {
  expect(await forget()).toMatchObject({ code: 2, err: expect.stringContaining('missing') })
  expect(await forget('--before', 'yesterday')).toMatchObject({ code: 2 })
  expect(await forget('--before', '2026-01-01', '--reference', 'x')).toMatchObject({ code: 2 })
  const both = { LIBSQL_URL: 'http://127.0.0.1:9' }
  const words = ['payments', 'forget', '--reference', 'x', '--data', dir]
  expect(await runWords(words, both)).toMatchObject({ code: 2 })
  const nowhere = ['payments', 'forget', '--reference', 'x', '--data', join(dir, 'none')]
  expect(await runWords(nowhere)).toMatchObject({
    code: 2,
    err: expect.stringContaining('no database'),
  })
})
