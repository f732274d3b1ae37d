import { chmod, mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { redirect } from '../../cli/payments/drivers/redirect.ts'
import type { Transaction } from '../../worker/payments/domain/transaction.ts'
import {
  type Database,
  libsqlDatabase,
} from '../../worker/payments/ledger/libsql/database-libsql.ts'
import { localSystemContract } from '../contract/local-system.ts'
import { type Start, Starts, throughNpm } from '../support/local-system.ts'

localSystemContract('workerd')

const starts = new Starts()
afterEach(() => starts.clear())

/** One sentence on stderr, nothing on stdout, exit code 2, no process. */
async function refusal(plan: Parameters<Starts['start']>[0]): Promise<string> {
  const start = await starts.start(plan)
  expect(await start.ended).toEqual({ code: 2, signal: null })
  expect(start.stdout).toBe('')
  expect(await start.survivors()).toEqual([])
  expect(start.stderr).toMatch(/^signalbox: [^\n]+\n$/)
  return start.stderr
}

describe('a start that cannot be', () => {
  it('names what a folder lacks to be a board', async () => {
    const storeDir = await starts.folder()
    expect(await refusal({ storeDir })).toContain(`There is no task board in ${storeDir}`)
  })

  it('names a folder that is not there', async () => {
    const storeDir = join(await starts.folder(), 'nowhere')
    expect(await refusal({ storeDir })).toContain(`There is no folder ${storeDir}`)
  })

  it('names a data folder that cannot be written', async () => {
    const file = join(await starts.folder(), 'file')
    await writeFile(file, '')
    const sentence = await refusal({ dataDir: join(file, 'data') })
    expect(sentence).toContain(`The data folder ${file}/data cannot be written (ENOTDIR)`)
  })

  it('names a data folder that is open to others and holds their files', async () => {
    const dataDir = join(await starts.folder(), 'data')
    await mkdir(dataDir)
    await writeFile(join(dataDir, 'notes.txt'), '')
    await chmod(dataDir, 0o755)
    expect(await refusal({ dataDir })).toContain(`${dataDir} is open to others`)
    expect(await readdir(dataDir)).toEqual(['notes.txt'])
  })

  it('names an option that there is not', async () => {
    expect(await refusal({ args: ['--hots=deno'] })).toContain('--hots')
  })

  it('names what is wrong with the configuration', async () => {
    const sentence = await refusal({ env: { ALLOWED_ORIGINS: 'example.org' } })
    expect(sentence).toContain('ALLOWED_ORIGINS is not a URL')
  })

  it('names a database that does not come up', async () => {
    const dataDir = join(await starts.folder(), 'data')
    await mkdir(dataDir, { mode: 0o700 })
    await writeFile(join(dataDir, 'sqld'), 'a file where a folder should be')
    const sentence = await refusal({ dataDir })
    expect(sentence).toMatch(/sqld \(pid \d+\) ended with exit code \d+ before it was ready; see/)
  })
})

describe('a data folder of an older version', () => {
  it('is refused by an edge that runs, and is brought up by the next start, where payments go on', async () => {
    const dataDir = join(await starts.folder(), 'data')
    const first = await (await starts.start({ dataDir })).ready()
    const before = await first.local()
    const place = { url: before.database, authToken: before.databaseToken }
    await makeOlder(libsqlDatabase(place, Date.now))
    const authorization = `Bearer ${before.tokens.payments}`
    const refused = await first.fetch('/payments/charges', { authorization }, ORDER)
    expect(refused.status).toBe(503)
    expect(await refused.json()).toMatchObject({ code: 'schema_mismatch' })
    first.process.kill('SIGTERM')
    await first.ended

    const second = await (await starts.start({ dataDir })).ready()
    expect(second.stderr).toContain('The database has schema 1 and is brought to schema')
    const pending = await transaction(second, 'pending')
    expect(pending).toMatchObject({ status: 'Pending' })
    const { url, gateways } = await second.local()
    const callback = await redirect.callbacks.make(
      {
        ...{ status: 'Paid', reference: 'pending', amount: 25_000, currency: 'IQD' },
        ...{ transactionId: pending.gatewayTransactionId ?? '', externalReference: undefined },
        ...{ eventId: 'paid-after-the-upgrade', now: Date.now() },
      },
      gateways.redirect?.api_key ?? '',
    )
    const told = await fetch(`${url}/payments/webhooks/redirect`, { method: 'POST', ...callback })
    expect([told.status, await told.text()]).toEqual([200, 'ok'])
    expect(await transaction(second, 'pending')).toMatchObject({ status: 'Paid' })
    // Both are of one folder: the first is not over before the second is.
    second.process.kill('SIGTERM')
    await second.ended
  })
})

const ORDER = {
  ...{ gateway: 'redirect', reference: 'order-1', amount: 25_000, currency: 'IQD' },
  description: 'A lamp',
}

async function transaction(start: Start, reference: string): Promise<Transaction> {
  const path = `/transactions?reference=${reference}`
  const { transactions } = await start.payments<{ transactions: Transaction[] }>(path)
  const [found] = transactions
  if (!found) throw new Error(`there is no ${reference}`)
  return found
}

/** Its tables and rows instead of today's, children before those that they refer to. */
async function makeOlder(database: Database): Promise<void> {
  const tables = ['alerts', 'deliveries', 'outbox', 'refunds', 'webhook_events', 'transactions']
  const drops = [...tables, 'schema'].map((name) => `DROP TABLE payment_${name}`)
  const fixture = await readFile('test/fixtures/payments-schema-1.sql', 'utf8')
  const made = fixture.split(/;$/m).filter((sql) => sql.trim() !== '')
  const statements = [...drops, ...made].map((sql) => ({ sql, args: {} }))
  await database.write(statements, AbortSignal.timeout(30_000))
}

describe('npm start', () => {
  it.each(['SIGTERM', 'SIGINT'] as const)('ends by %s with exit code 0', async (signal) => {
    const start = await (await starts.start({ launch: throughNpm })).ready()
    start.process.kill(signal)
    expect(await start.ended).toEqual({ code: 0, signal: null })
    await start.nothingLeft()
  })

  it('leaves nothing running when npm itself is killed and can pass nothing on', async () => {
    const start = await (await starts.start({ launch: throughNpm })).ready()
    start.process.kill('SIGKILL')
    await start.nothingLeft()
    await expect(start.local()).rejects.toMatchObject({ code: 'ENOENT' })
  })
})
