import { mkdir, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, expect, it } from 'vitest'
import { FakeClock } from '../../libraries/testing/fake-clock.ts'
import { prepareSchema } from '../../system/database/migrate.ts'
import {
  type HealthPlan,
  healthCheck,
  healthMetric,
  healthReport,
  pauseWarnings,
  withHealthz,
} from '../../worker/healthz-process.ts'
import { LedgerRefused, OtherDatabase } from '../../worker/payments/ledger/failures.ts'
import { embeddedDatabase } from '../../worker/payments/ledger/libsql/embedded-libsql.ts'
import {
  Installation,
  pauseAs,
  readInstallation,
} from '../../worker/payments/ledger/libsql/ledger-row-libsql.ts'
import { statement } from '../../worker/payments/ledger/libsql/statement-libsql.ts'
import { Metrics } from '../../worker/shared/metrics.ts'
import { metricsText } from '../../worker/shared/metrics-node.ts'
import { tempFolder } from '../support/temp-folder.ts'

let folder: string
beforeEach(() => {
  folder = tempFolder()
})

async function setUp(own: Partial<HealthPlan> = {}) {
  const installation = new Installation()
  const database = embeddedDatabase(':memory:')
  await prepareSchema(database)
  const clock = new FakeClock()
  return {
    database,
    clock,
    check: healthCheck({ database: () => database, installation, folder, clock, ...own }),
  }
}

const full = 'The data folder cannot be written: is the disk full?'
/** In place of a full disk. */
const inTheWay = () => mkdir(join(folder, 'healthz.tmp/in-the-way'), { recursive: true })

it('is bad while nothing can be written, which is tried once in ten seconds where there is little room', async () => {
  const { clock, check } = await setUp({ hasRoom: async () => false })
  expect(await check()).toBeUndefined()
  expect(await readdir(folder)).toEqual([])
  await inTheWay()
  await clock.advance(9_999)
  expect(await check()).toBeUndefined()
  await clock.advance(1)
  expect(await Promise.all([check(), check()])).toEqual([full, full])
  await rm(join(folder, 'healthz.tmp'), { recursive: true })
  expect(await check()).toBe(full)
  await clock.advance(10_000)
  expect(await check()).toBeUndefined()
})

it('writes once in ten minutes where there is room, and after a failure again in ten seconds', async () => {
  const { clock, check } = await setUp()
  expect(await check()).toBeUndefined()
  await inTheWay()
  await clock.advance(599_999)
  expect(await check()).toBeUndefined()
  await clock.advance(10_000)
  expect(await check()).toBe(full)
  await rm(join(folder, 'healthz.tmp'), { recursive: true })
  await clock.advance(10_000)
  expect(await check()).toBeUndefined()
})

it('is bad with another schema, and while the database cannot be read', async () => {
  const { database, clock, check } = await setUp()
  const version = statement('UPDATE payment_schema SET version = 99')
  await database.write([version], AbortSignal.timeout(60_000))
  expect(await check()).toMatch(/has schema 99/)
  const read = () => Promise.reject(new Error('gone'))
  const away = healthCheck({
    database: () => ({ read }),
    installation: new Installation(),
    folder,
    clock,
  })
  expect(await away()).toBe('The database of payments cannot be read.')
})

it('names the token that the database refuses', async () => {
  const read = () => Promise.reject(new LedgerRefused('LIBSQL_AUTH_TOKEN is wrong'))
  const { check } = await setUp({ database: () => ({ read }) })
  expect(await check()).toBe(
    'The database of payments refuses this host: LIBSQL_AUTH_TOKEN is wrong.',
  )
})

it('is bad with another database than it is to be, and good again with that', async () => {
  const own = new Installation()
  const { database, check } = await setUp({ installation: own })
  const found = await readInstallation(database.read)
  own.expect('0'.repeat(32))
  expect(await check()).toMatch(/^The database of payments is another one: it is that of the shop/)
  expect(() => own.refuseOther()).toThrow(OtherDatabase)
  own.expect(found.is === 'made' ? found.id : '')
  expect(await check()).toBeUndefined()
  expect(() => own.refuseOther()).not.toThrow()
})

it('is a metric, and an error in the log at once where a start is bad, and once until it turns good', async () => {
  const metrics = new Metrics()
  const { setHealthy } = healthMetric(metrics)
  const lines: unknown[] = []
  const answers = ['The database of payments cannot be read.', 'The same.', 'The same.', undefined]
  const end = new AbortController()
  const report = healthReport({
    check: async () => answers.shift(),
    setHealthy,
    log: (level, event, { why }) => lines.push([level, event, why]),
    signal: end.signal,
  })
  const shown = () => /^signalbox_healthy (\d)$/m.exec(metricsText(metrics))?.[1]
  await report()
  expect(lines).toEqual([['error', 'health.failed', 'The database of payments cannot be read.']])
  expect(shown()).toBe('0')
  for (let more = 0; more < 3; more++) await report()
  expect(lines.slice(1)).toEqual([
    ['error', 'health.failed', 'The same.'],
    ['info', 'health.restored', undefined],
  ])
  expect(shown()).toBe('1')
  // Its database is closed then.
  end.abort()
  answers.push('gone')
  await report()
  expect(shown()).toBe('1')
})

it('is that of the folder alone where no payments are configured', async () => {
  const { check } = await setUp({ database: () => undefined })
  expect(await check()).toBeUndefined()
  await inTheWay()
  const full = await setUp({ database: () => undefined, hasRoom: async () => false })
  expect(await full.check()).toBe('The data folder cannot be written: is the disk full?')
})

it('warns while payments are paused, without naming who asked for it, and stays 200', async () => {
  const { database, check } = await setUp()
  const { fetch } = withHealthz({}, check, () => pauseWarnings(database))
  const answer = async () => {
    const response = await fetch?.(new Request('http://localhost/healthz'), undefined as never)
    return [response?.status, await response?.json()]
  }
  const { signal } = new AbortController()
  await database.write([pauseAs({ since: Date.UTC(2026, 2, 1), by: 'ada' })], signal)
  const paused = 'Payments are paused since 2026-03-01T00:00:00.000Z: nothing new is begun.'
  expect(await answer()).toEqual([200, { status: 'ok', warnings: [paused] }])
  await database.write([pauseAs(undefined)], signal)
  expect(await answer()).toEqual([200, { status: 'ok' }])
})

it('has no warning of a database that cannot be asked, or is not there', async () => {
  const read = async () => Promise.reject(new Error('away'))
  expect(await pauseWarnings({ read })).toEqual([])
  expect(await pauseWarnings(undefined)).toEqual([])
})
