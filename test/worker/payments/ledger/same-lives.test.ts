// The ledger on libSQL beside the one in memory, which was written from the ports and not from the
// SQL: random lives of payments must leave the same rows in both.

import fc from 'fast-check'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import type { AlertDetail } from '../../../../worker/payments/domain/alerts.ts'
import { createMemoryLedger } from '../../../../worker/payments/ledger/ledger-memory.ts'
import type { Database } from '../../../../worker/payments/ledger/libsql/database-libsql.ts'
import { createLibsqlLedger } from '../../../../worker/payments/ledger/libsql/ledger-libsql.ts'
import { libsqlRecords } from '../../../../worker/payments/queries/queries-libsql.ts'
import { hostClock } from '../../../../worker/shared/clock.ts'
import {
  FakeDesk,
  FakeDispatcher,
  type LedgerBed,
  LISTENERS,
  T0,
  World,
} from '../../../contract/ledger-world.ts'
import { type LibsqlServer, startLibsql } from '../../../support/libsql.ts'
import { type Call, steps } from './money-steps.ts'

let libsql: LibsqlServer
beforeAll(async () => {
  libsql = await startLibsql()
})
afterAll(() => libsql.stop())

const common = { subscribers: LISTENERS, clock: hostClock, log: () => undefined }
const close = async () => undefined

interface Fakes {
  desk: FakeDesk
  dispatcher: FakeDispatcher
}

function inMemory({ desk, dispatcher: { dispatch } }: Fakes): LedgerBed {
  const { ledger, records } = createMemoryLedger({ ...common, desk, dispatch })
  return { ledger, outbox: ledger, records, close }
}

/** On a busy machine an answer may take longer than an edge waits for it. */
const patient = (database: Database): Database => ({
  ...database,
  read: (statements) => vi.waitFor(() => database.read(statements), { timeout: 60_000 }),
})

async function onLibsql({ desk, dispatcher: { dispatch } }: Fakes): Promise<LedgerBed> {
  await libsql.wipe()
  const database = patient(libsql.database)
  const ledger = createLibsqlLedger({ ...common, database, desk, dispatch })
  return { ledger, outbox: ledger, records: libsqlRecords(database), close }
}

/** An alert’s id and wording are the adapter’s own, and so is when it touched a row without news. */
async function rows({ records }: World) {
  const page = { limit: 1_000 }
  const alerts = await records.alerts({ all: true }, page)
  const webhookEvents = await records.webhookEvents({}, page)
  const stories = []
  for (const { id } of await records.transactions({}, page)) {
    const { alerts: _, ...story } = (await records.story(id)) ?? { alerts: [] }
    stories.push(story)
  }
  const raised = alerts.map(
    (of) => `${of.kind} of ${of.transactionId} at ${of.createdAt}: ${amountsOf(of.detail)}`,
  )
  return untouched({ stories, webhookEvents, alerts: raised.toSorted(byText) })
}

const amountsOf = ({ amount, currency, expectedAmount, expectedCurrency, said }: AlertDetail) =>
  [amount, currency, expectedAmount, expectedCurrency, said].join(' ')

const untouched = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value, (key, each) => (key === 'updatedAt' ? undefined : each)))

const answerOf = (answer: Awaited<ReturnType<Call['make']>> | undefined) => {
  const { outcome, transactionId, pending = [] } = answer ?? {}
  const told = pending.toSorted((a, b) => byText(a.outboxId, b.outboxId))
  return untouched({ outcome, transactionId, told })
}

const byText = (a: string, b: string) => (a < b ? -1 : 1)
const sameIds = () => 0.5

it('leaves the same rows in both ledgers, whatever happens', async () => {
  await fc.assert(
    fc.asyncProperty(steps, async (life) => {
      const desk = new FakeDesk()
      const [one, other] = [new FakeDispatcher(), new FakeDispatcher()]
      const ofMemory = { desk, dispatcher: one }
      const ofLibsql = { desk, dispatcher: other }
      const memory = new World(inMemory(ofMemory), ofMemory, { random: sameIds })
      const database = new World(await onLibsql(ofLibsql), ofLibsql, { random: sameIds })
      let now = T0
      for (const { step, waitMs } of life) {
        now += waitMs
        const calls = [await step(memory, now), await step(database, now)]
        const [expected, told] = [await calls[0]?.make(), await calls[1]?.make()]
        expect(answerOf(told)).toEqual(answerOf(expected))
        expect(await rows(database)).toEqual(await rows(memory))
      }
    }),
    // A life takes the server a second, and a failing one would be shrunk by hundreds.
    { numRuns: 6, endOnFailure: true },
  )
}, 240_000)
