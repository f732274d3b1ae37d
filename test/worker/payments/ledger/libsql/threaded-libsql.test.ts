// An embedded database in its thread: the store's contract, and errors that cross the threads.

import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { prepareSchema } from '../../../../../system/database/migrate.ts'
import { denoBinary } from '../../../../../tools/start/deno.ts'
import { isTransient } from '../../../../../worker/payments/ledger/libsql/database-libsql.ts'
import { statement } from '../../../../../worker/payments/ledger/libsql/statement-libsql.ts'
import { libsqlStore } from '../../../../../worker/payments/ledger/libsql/store-libsql.ts'
import {
  openThreaded,
  type ThreadedDatabase,
} from '../../../../../worker/payments/ledger/libsql/threaded-libsql.ts'
import { libsqlQueries } from '../../../../../worker/payments/queries/queries-libsql.ts'
import { openSqlite } from '../../../../../worker/shared/sqlite-libsql.ts'
import { storeContract } from '../../../../contract/store.ts'
import { TABLES } from '../../../../support/libsql-server.ts'
import { startProgram } from '../../../../support/program.ts'
import { programEnv } from '../../../../support/run-home.ts'
import { tempFolder } from '../../../../support/temp-folder.ts'

const never = new AbortController().signal
let dir: string
let database: ThreadedDatabase
beforeAll(async () => {
  dir = tempFolder()
  database = await openThreaded(':memory:')
  await prepareSchema(database)
})
afterAll(() => database?.close())

const write = (sql: string, args = {}) => database.write([statement(sql, args)], never)
const caught = (work: Promise<unknown>) =>
  work.then(
    () => undefined,
    (error: unknown) => error as Error & { code?: string },
  )

storeContract('a database in a thread', async () => {
  await database.write(
    TABLES.map((table) => statement(`DELETE FROM ${table}`)),
    never,
  )
  return { store: libsqlStore(database), queries: libsqlQueries(database) }
})

it('opens a file once another process that has all of it locked is done', async () => {
  const file = join(dir, 'closing.db')
  const other = openSqlite(file)
  other.exec('PRAGMA locking_mode = EXCLUSIVE; CREATE TABLE t (id TEXT)')
  const opening = openThreaded(file)
  expect(await Promise.race([opening, sleep(300, 'it waits')])).toBe('it waits')
  other.close()
  const own = await opening
  await own.write([statement(`INSERT INTO t VALUES ('a')`)], never)
  await own.close()
})

describe('an error of a database in a thread', () => {
  it('keeps its name, code and message', async () => {
    const error = await caught(write('UPDATE payment_ledger SET batch = NULL'))
    expect(error).toMatchObject({
      name: 'LibsqlError',
      code: 'SQLITE_CONSTRAINT_NOTNULL',
      message: 'SQLITE_CONSTRAINT_NOTNULL: NOT NULL constraint failed: payment_ledger.batch',
    })
    expect(isTransient(error)).toBe(false)
  })

  it('is transient while another process writes', async () => {
    const own = await openThreaded(join(dir, 'busy.db'))
    const other = openSqlite(join(dir, 'busy.db'))
    other.exec('BEGIN IMMEDIATE')
    const error = await caught(own.write([statement('CREATE TABLE t (id TEXT)')], never))
    expect([error?.code, isTransient(error)]).toEqual(['SQLITE_BUSY', true])
    other.close()
    await own.close()
  })

  it('is a RangeError for a wrong value, and transient for an aborted call', async () => {
    expect(await caught(write('SELECT :n', { n: 2 ** 53 }))).toMatchObject({ name: 'RangeError' })
    const late = await caught(database.write([], AbortSignal.abort()))
    expect(isTransient(late)).toBe(true)
  })

  it('says that the database is closed, after the running call has ended', async () => {
    const own = await openThreaded(join(dir, 'own.db'))
    const written = own.write([statement('CREATE TABLE t (id TEXT)')], never)
    await own.close()
    await written
    expect(await caught(own.read([]))).toMatchObject({ message: 'The database is closed.' })
  })
})

it.each([
  { host: 'Node', command: [process.execPath] },
  { host: 'Deno', command: [denoBinary(), 'run', '-A'] },
])('a thread that breaks ends the process on $host with exit code 1', async ({ command }) => {
  const file = ['test/fixtures/database-that-breaks.ts', join(dir, 'breaks.db')]
  const place = { cwd: process.cwd(), env: programEnv(dir) }
  const program = startProgram([...command, ...file], place)
  onTestFinished(async () => void (await program.stop()))
  expect(await program.ended).toEqual({ code: 1, signal: null })
  expect(program.output).toContain('The thread broke')
})
