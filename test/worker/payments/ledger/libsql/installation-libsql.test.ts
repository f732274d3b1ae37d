import { describe, expect, it } from 'vitest'
import { FakeClock } from '../../../../../libraries/testing/fake-clock.ts'
import { prepareSchema } from '../../../../../system/database/migrate.ts'
import {
  comparing,
  Installation,
  readInstallation,
} from '../../../../../worker/payments/ledger/libsql/ledger-row-libsql.ts'
import { libsqlStore } from '../../../../../worker/payments/ledger/libsql/store-libsql.ts'
import { libsqlQueries } from '../../../../../worker/payments/queries/queries-libsql.ts'
import { sqliteDatabase } from '../../../../support/sqlite-database.ts'

const OTHER = '0123456789abcdef0123456789abcdef'
const signal = AbortSignal.timeout(300_000)
const refused = { name: 'OtherDatabase', code: 'other_database' }

async function idOf(database: ReturnType<typeof sqliteDatabase>): Promise<string> {
  const found = await readInstallation(database.read)
  return found.is === 'made' ? found.id : found.is
}

/** Of the schema before databases had ids. */
const OLD = 'CREATE TABLE payment_transactions (id TEXT); CREATE TABLE payment_schema (version)'

describe('the database of payments', () => {
  it('is none without tables, old without an id, and else the one that it has drawn', async () => {
    expect(await readInstallation(sqliteDatabase('').read)).toEqual({ is: 'none' })
    expect(await readInstallation(sqliteDatabase(OLD).read)).toEqual({ is: 'old' })
    const [one, other] = [await idOf(sqliteDatabase()), await idOf(sqliteDatabase())]
    expect([one, other]).toEqual([expect.stringMatching(/^[0-9a-f]{32}$/), expect.any(String)])
    expect(one).not.toBe(other)
  })

  it('is written by a ledger that expects it or nothing, and by no other one', async () => {
    const database = sqliteDatabase()
    for (const expected of [undefined, await idOf(database)]) {
      const { batch } = await libsqlStore(database, new Installation(expected)).load([], signal)
      expect(batch).toBe(0)
    }
    const load = libsqlStore(database, new Installation(OTHER)).load([], signal)
    await expect(load).rejects.toMatchObject(refused)
  })

  it('is not taken for an empty one, which needs no migration', async () => {
    const empty = sqliteDatabase('')
    const store = libsqlStore(empty, new Installation(OTHER))
    await expect(store.load([], signal)).rejects.toMatchObject(refused)
    await expect(libsqlStore(empty).load([], signal)).rejects.toMatchObject({
      code: 'schema_mismatch',
    })
  })

  it('is read until the ledger beside has seen another one, and again when that is gone', async () => {
    const [right, wrong] = [sqliteDatabase(), sqliteDatabase()]
    const own = new Installation(await idOf(right))
    let now = right
    const load = () => libsqlStore(now, own).load([], signal)
    const read = () => libsqlQueries(now, () => own.refuseOther()).waiting(0)
    await load()
    now = wrong
    await expect(read()).resolves.toBeDefined()
    await expect(load()).rejects.toMatchObject(refused)
    await expect(read()).rejects.toMatchObject(refused)
    now = right
    await load()
    await expect(read()).resolves.toBeDefined()
  })

  it('is compared once a minute where no ledger is beside, and only with what somebody said', async () => {
    const clock = new FakeClock()
    const empty = sqliteDatabase('')
    let reads = 0
    const read: typeof empty.read = async (statements) => {
      reads++
      return await empty.read(statements)
    }
    const nobody = comparing(new Installation(), { read }, clock.now)
    await nobody()
    expect(reads).toBe(0)
    const compare = comparing(new Installation(OTHER), { read }, clock.now)
    for (const ms of [0, 59_999]) {
      await clock.advance(ms)
      await expect(compare()).rejects.toMatchObject(refused)
      expect(reads).toBe(1)
    }
    await clock.advance(1)
    await expect(compare()).rejects.toMatchObject(refused)
    expect(reads).toBe(2)
  })

  it('that cannot be read is found out by the read itself, and compared at the next one', async () => {
    const away = { read: () => Promise.reject(new Error('away')) }
    await expect(comparing(new Installation(OTHER), away, () => 0)()).resolves.toBeUndefined()
  })

  it('of an older schema gets its id by its migration, so it is no other one', async () => {
    const own = new Installation(OTHER)
    expect(() => own.compare({ is: 'old' })).not.toThrow()
    await prepareSchema(sqliteDatabase(''))
  })
})
