// During an upgrade, two versions of the code may use one database. The version that does not know
// its schema writes nothing, and reports why.

import { beforeEach, expect, it } from 'vitest'
import { asProblem } from '../../../../../worker/payments/api/routes-hono.ts'
import { SCHEMA_VERSION } from '../../../../../worker/payments/domain/rows.ts'
import { type Problem, problemResponse } from '../../../../../worker/shared/problem.ts'
import type { LedgerSetup } from '../../../../support/ledger-setup.ts'
import { type SqliteDatabase, sqliteDatabase } from '../../../../support/sqlite-database.ts'
import { setupOver } from '../memory-ledger.ts'

let database: SqliteDatabase
let w: LedgerSetup
/** Called before a save. */
let onSave: () => void

/** A ledger of this version. */
function setUpOver(over: SqliteDatabase): LedgerSetup {
  database = over
  onSave = () => undefined
  return setupOver({
    ...over,
    write(statements, signal) {
      onSave()
      return over.write(statements, signal)
    },
  })
}

beforeEach(() => {
  w = setUpOver(sqliteDatabase())
})

const set = (change: string) => database.exec(`UPDATE payment_schema SET ${change}`)
const backToOurs = () => set(`version = ${SCHEMA_VERSION}, step = 0`)

const CHANGES = [
  ['a newer schema', `version = ${SCHEMA_VERSION + 1}`, 'it is too old'],
  ['an older schema', `version = ${SCHEMA_VERSION - 1}`, 'run signalbox migrate'],
  ['a migration to ours under way', `version = ${SCHEMA_VERSION - 1}, step = 1`, 'being upgraded'],
  ['a migration from ours under way', 'step = 1', 'being upgraded'],
] as const

it.each(CHANGES)('writes nothing into %s, after it had worked before', async (_, change, why) => {
  const transaction = await w.charged()
  const before = await w.story(transaction)
  set(change)
  const refused = { code: 'schema_mismatch', message: expect.stringContaining(why) }
  await expect(w.webhook(transaction)).rejects.toMatchObject(refused)
  await expect(w.begin({ request: { reference: 'another' } })).rejects.toMatchObject(refused)
  expect(await w.ledger.dropOldEvents(Number.MAX_SAFE_INTEGER, 100)).toBe(0)
  expect(await w.story(transaction)).toEqual(before)
  backToOurs()
  expect(await w.webhook(transaction)).toMatchObject({ outcome: 'applied' })
})

it.each(CHANGES)(
  'writes nothing into %s that appears between a load and its save',
  async (_, change) => {
    const transaction = await w.charged()
    const before = await w.story(transaction)
    onSave = () => set(change)
    await expect(w.webhook(transaction)).rejects.toMatchObject({ code: 'schema_mismatch' })
    expect(await w.story(transaction)).toEqual(before)
  },
)

it('refuses many calls together, and halves no group for that', async () => {
  const transaction = await w.charged()
  set(`version = ${SCHEMA_VERSION + 1}`)
  let saves = 0
  onSave = () => {
    saves += 1
  }
  const answers = await Promise.allSettled(Array.from({ length: 40 }, () => w.webhook(transaction)))
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 'rejected'))
  expect(saves).toBe(0)
})

it('neither reads nor writes a database without tables', async () => {
  const { ledger, queries } = setUpOver(sqliteDatabase('CREATE TABLE orders (id TEXT)'))
  const none = {
    code: 'schema_mismatch',
    message: 'The database of payments has no tables: run signalbox migrate.',
  }
  await expect(ledger.acknowledge({ id: 'id', by: 'ada', now: 1 })).rejects.toMatchObject(none)
  await expect(queries.alerts({}, { limit: 1 })).rejects.toMatchObject(none)
})

it('answers over HTTP with 503, a code, what is wrong, and when to try again', async () => {
  set(`version = ${SCHEMA_VERSION + 1}`)
  const error = await w.begin().catch((thrown: unknown) => thrown)
  const response = problemResponse(asProblem(error) as Problem)
  expect(response.status).toBe(503)
  expect(response.headers.get('Retry-After')).toBe('30')
  expect(await response.json()).toEqual({
    code: 'schema_mismatch',
    error: expect.stringContaining('knows schema'),
  })
})
