// Every save is a compare-and-swap: one that arrives late or twice, or comes from another ledger,
// changes nothing, and callers do not notice.

import { readFileSync } from 'node:fs'
import { beforeEach, describe, expect, it } from 'vitest'
import { createLedger } from '../../../../worker/payments/ledger/create-ledger.ts'
import type { Database } from '../../../../worker/payments/ledger/libsql/database-libsql.ts'
import { DatabaseUnreachable } from '../../../../worker/payments/ledger/libsql/request-libsql.ts'
import {
  type Statement,
  statement,
} from '../../../../worker/payments/ledger/libsql/statement-libsql.ts'
import { libsqlStore } from '../../../../worker/payments/ledger/libsql/store-libsql.ts'
import { libsqlQueries } from '../../../../worker/payments/queries/queries-libsql.ts'
import { hostClock } from '../../../../worker/shared/clock.ts'
import { FakeDispatcher, FakeGuard, LISTENERS } from '../../../contract/ledger-fakes.ts'
import { World } from '../../../contract/ledger-world.ts'
import { type SqliteDatabase, sqliteDatabase } from '../../../support/sqlite-database.ts'

let database: SqliteDatabase
/** The names of the logged lines. */
let logged: string[]
beforeEach(() => {
  database = sqliteDatabase()
  logged = []
})

function worldOver(over: Database): World {
  const [guard, dispatcher] = [new FakeGuard(), new FakeDispatcher()]
  const ledger = createLedger({
    ...{ store: libsqlStore(over), guard, subscribers: LISTENERS, dispatch: dispatcher.dispatch },
    ...{ clock: hostClock, log: (_, event) => void logged.push(event) },
  })
  const queries = libsqlQueries(database)
  const close = async () => undefined
  return new World({ ledger, outbox: ledger, queries, close }, { guard, dispatcher })
}

const never = new AbortController().signal
const all = async (sql: string) => (await database.read([statement(sql)]))[0]
const position = async () => (await all('SELECT epoch, batch FROM payment_ledger'))?.[0]

/** Holds the next save back. To the ledger it looks like one whose answer was lost. */
function holding() {
  let held: readonly Statement[] | undefined
  let holds = false
  return {
    database: {
      ...database,
      async write(statements: readonly Statement[], signal: AbortSignal) {
        if (!holds) return await database.write(statements, signal)
        holds = false
        held = statements
        throw new DatabaseUnreachable('no answer')
      },
    },
    hold: () => {
      holds = true
    },
    land: () => database.write(held ?? [], never),
  }
}

describe('a save', () => {
  it('changes nothing when it arrives after it was sent again', async () => {
    const link = holding()
    const w = worldOver(link.database)
    const transaction = await w.charged()
    link.hold()
    const { outcome, pending } = await w.webhook(transaction)
    expect([outcome, pending.length]).toEqual(['applied', 1])
    const before = [await w.story(transaction), await position()]
    await expect(link.land()).rejects.toThrow('payment_ledger.batch')
    expect([await w.story(transaction), await position()]).toEqual(before)
  })

  it('changes nothing when it arrives after another event changed its payment', async () => {
    const link = holding()
    const w = worldOver(link.database)
    const transaction = await w.charged()
    link.hold()
    const failing = w.ledger.finishCharge({
      ...{ transactionId: transaction.id, eventId: w.id(), now: 1, verdict: 'success' },
      result: { kind: 'refused', error: { code: 'declined', message: 'No.' } },
    })
    // They are in one group when the first is sent again.
    const paying = w.webhook(transaction)
    await Promise.all([failing, paying])
    const { events, transaction: after } = await w.story(transaction)
    await expect(link.land()).rejects.toThrow('payment_ledger.batch')
    expect(await w.eventsOf(transaction)).toEqual(events.map(({ type }) => type))
    expect(events).toHaveLength(2)
    expect((await w.read(transaction)).status).toBe(after.status)
  })

  it('is found when it arrived before it is sent again, and its event is dispatched once', async () => {
    let isLost = false
    const w = worldOver({
      ...database,
      async write(statements, signal) {
        const results = await database.write(statements, signal)
        if (!isLost) return results
        isLost = false
        throw new DatabaseUnreachable('its answer was lost')
      },
    })
    const transaction = await w.charged()
    isLost = true
    const { outcome, pending } = await w.webhook(transaction)
    expect(outcome).toBe('applied')
    expect(pending).toMatchObject([{ type: 'PaymentSucceeded' }])
    expect((await w.story(transaction)).webhookEvents).toHaveLength(1)
  })
})

describe('a refused save', () => {
  it('is loaded and decided again, on what the other writer has stored', async () => {
    let meanwhile: string | undefined
    const w = worldOver({
      ...database,
      async write(statements, signal) {
        const others = meanwhile === undefined ? [] : [statement(meanwhile)]
        meanwhile = undefined
        if (others.length > 0) {
          const bump = statement('UPDATE payment_ledger SET batch = batch + 1')
          await database.write([bump, ...others], signal)
        }
        return await database.write(statements, signal)
      },
    })
    const transaction = await w.charged()
    meanwhile = `UPDATE payment_transactions SET status = 'Failed'`
    expect((await w.webhook(transaction)).outcome).toBe('late_payment')
    expect(await w.alerts()).toEqual(['late_payment'])
    // No group was halved, and there was no pause.
    expect(logged).not.toContain('payments.ledger.retry')
  })
})

describe('a call of a gateway', () => {
  /** Round trips to the database. */
  let trips: string[]
  let w: World
  beforeEach(async () => {
    trips = []
    const { load, write } = database
    w = worldOver({
      ...database,
      load(...args) {
        trips.push('load')
        return load(...args)
      },
      write(...args) {
        trips.push('save')
        return write(...args)
      },
    })
    // The first save of a ledger needs the position that it replaces.
    await w.charged({ request: { reference: 'order-0' } })
    trips = []
  })
  const bump = () => database.exec('UPDATE payment_ledger SET batch = batch + 1')

  it('costs a charge two round trips to the database: one before it and one after it', async () => {
    const transaction = await w.pending()
    expect(trips).toEqual(['save'])
    expect((await w.answer(transaction)).transaction.gatewayTransactionId).toBeDefined()
    expect(trips).toEqual(['save', 'save'])
  })

  it('costs a refund one round trip after it', async () => {
    const refund = await w.claimed(await w.reached('Paid'))
    trips = []
    const { transaction } = await w.endRefund(refund, { kind: 'done' })
    expect([transaction.status, trips]).toEqual(['Refunded', ['save']])
  })

  it('is not made for a request that came before: the save is refused, and the rows are loaded', async () => {
    const start = w.start({ idempotencyKey: 'key-1' })
    expect((await w.ledger.beginCharge(start)).state).toBe('begun')
    trips = []
    const again = { ...start, id: w.id() }
    expect((await w.ledger.beginCharge(again)).state).toBe('in_progress')
    expect(trips).toEqual(['save', 'load'])
  })

  it('does not dispatch its event again when it is repeated', async () => {
    const start = w.start()
    expect((await w.ledger.beginCharge(start)).state).toBe('begun')
    expect(w.dispatcher.take()).toHaveLength(1)
    expect((await w.ledger.beginCharge(start)).state).toBe('begun')
    expect(w.dispatcher.take()).toEqual([])
  })

  it('ends on what its payment became meanwhile, with all of its events', async () => {
    const transaction = await w.pending()
    await w.webhook(transaction, { gatewayTransactionId: '' })
    trips = []
    const { transaction: after } = await w.answer(transaction)
    expect([after.status, trips]).toEqual(['Paid', ['save']])
    expect(after.gatewayTransactionId).toBe(`gateway-${transaction.id}`)
  })

  it('ends on what another ledger has stored meanwhile', async () => {
    const transaction = await w.pending()
    const id = `gateway-${transaction.id}`
    bump()
    database.exec(`UPDATE payment_transactions SET gateway_transaction_id = '${id}'
      WHERE reference = 'order-0'`)
    trips = []
    expect((await w.answer(transaction)).transaction.gatewayTransactionId).toBeUndefined()
    expect(trips).toEqual(['save', 'load', 'save'])
  })

  it('is ended once when the answer to its save was lost', async () => {
    const link = holding()
    const own = worldOver(link.database)
    await own.charged()
    const transaction = await own.pending({ request: { reference: 'order-2' } })
    link.hold()
    await own.answer(transaction)
    await expect(link.land()).rejects.toThrow('payment_ledger.batch')
    expect(await own.eventsOf(transaction)).toEqual(['PaymentInitiated'])
  })
})

describe('a second ledger', () => {
  it('raises the epoch with its first save, and the first ledger’s next save is refused', async () => {
    const one = worldOver(database)
    const transaction = await one.charged()
    const first = await position()
    const other = worldOver(database)
    await other.pending({ request: { reference: 'order-2' } })
    expect(await position()).toMatchObject({ epoch: Number(first?.epoch) + 1 })
    // It logs that it was replaced and starts over, so its caller gets an answer.
    expect((await one.webhook(transaction)).outcome).toBe('applied')
    expect(logged).toContain('payments.ledger.replaced')
    expect(await position()).toMatchObject({ epoch: Number(first?.epoch) + 2 })
  })

  it('does not raise the epoch if it saves nothing', async () => {
    const one = worldOver(database)
    await one.charged()
    const before = await position()
    const other = worldOver(database)
    expect(await other.ledger.acknowledge('nobody', 'ada', 1)).toBe(false)
    expect(await position()).toEqual(before)
  })
})

describe('a database without the epoch that saves are compared with', () => {
  it.each([
    ['row', 'DELETE FROM payment_ledger'],
    ['table', 'DROP TABLE payment_ledger'],
  ])('refuses with a code if the %s is missing, and works once it is there', async (_, sql) => {
    const w = worldOver(database)
    database.exec(sql)
    await expect(w.begin()).rejects.toMatchObject({ code: 'schema_mismatch' })
    database.exec(readFileSync('schema.sql', 'utf8'))
    expect((await w.begin()).state).toBe('begun')
  })

  it.each([
    ['row', 'DELETE FROM payment_ledger'],
    ['table', 'DROP TABLE payment_ledger'],
    ['schema', 'DROP TABLE payment_schema'],
  ])('refuses what it could decide without a load if the %s is missing', async (_, sql) => {
    const w = worldOver(database)
    const transaction = await w.pending()
    database.exec(sql)
    const refused = { code: 'schema_mismatch' }
    await expect(w.answer(transaction)).rejects.toMatchObject(refused)
    await expect(w.begin({ idempotencyKey: 'key-1' })).rejects.toMatchObject(refused)
    expect(database.all('SELECT id FROM payment_transactions')).toHaveLength(1)
  })
})
