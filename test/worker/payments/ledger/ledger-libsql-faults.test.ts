// The ledger on libSQL under load and under a server that dies.

import { monotonicFactory } from 'ulid'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createLedger } from '../../../../worker/payments/ledger/create-ledger.ts'
import type { Arrival, Ledger } from '../../../../worker/payments/ledger/ledger.ts'
import { libsqlDatabase } from '../../../../worker/payments/ledger/libsql/database-libsql.ts'
import {
  DatabaseUnreachable,
  isTransient,
} from '../../../../worker/payments/ledger/libsql/request-libsql.ts'
import { statement } from '../../../../worker/payments/ledger/libsql/statement-libsql.ts'
import { libsqlStore } from '../../../../worker/payments/ledger/libsql/store-libsql.ts'
import { hostClock } from '../../../../worker/shared/clock.ts'
import { ALERTED, FakeDispatcher, FakeGuard, LISTENERS } from '../../../contract/ledger-fakes.ts'
import { type LibsqlServer, startLibsql } from '../../../support/libsql.ts'

let libsql: LibsqlServer
let ledger: Ledger
/** Lines that the ledger logged: one for each batch that it had to send again. */
let retries: number
let dispatcher: FakeDispatcher
/** Called while a batch is on its way, with how many were before it. */
let onBatch: (batch: number) => void

beforeAll(async () => {
  libsql = await startLibsql()
})
afterAll(() => libsql.stop())
beforeEach(async () => {
  await libsql.wipe()
  retries = 0
  dispatcher = new FakeDispatcher()
  onBatch = () => undefined
  let batches = 0
  const { load, read, write } = libsql.database
  ledger = createLedger({
    store: libsqlStore({
      load,
      read,
      write(statements, signal) {
        const written = write(statements, signal)
        onBatch(batches++)
        return written
      },
    }),
    guard: new FakeGuard(),
    subscribers: ALERTED,
    dispatch: dispatcher.dispatch,
    clock: hostClock,
    log: () => {
      retries++
    },
  })
})

const nextId = monotonicFactory()

/** Pending payments `g-0`, `g-1`, … of 25,000 IQD. */
const charged = (count: number) =>
  libsql.query(
    `WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < :count - 1)
      INSERT INTO payment_transactions (id, gateway, reference, gateway_transaction_id,
        external_reference_id, amount, currency, created_at, updated_at)
      SELECT 't-' || i, 'shop', 'order-' || i, 'g-' || i, 'x-' || i, 25000, 'IQD', 1, 1 FROM n`,
    { count },
  )

function paid(number: number, more: Partial<Arrival['payload']> = {}): Arrival {
  const now = Date.now()
  return {
    id: nextId(now),
    onMismatch: 'log',
    receivedAt: now,
    payload: {
      gateway: 'shop',
      gatewayTransactionId: `g-${number}`,
      reference: `order-${number}`,
      status: 'Paid',
      amount: 25_000,
      currency: 'IQD',
      eventId: `e-${number}`,
      occurredAt: new Date(now).toISOString(),
      raw: {},
      ...more,
    },
  }
}

const numbers = (count: number) => Array.from({ length: count }, (_, n) => n)

/** Works through `numbers`, so many at a time. */
async function atATime<Item>(most: number, items: Item[], work: (item: Item) => Promise<unknown>) {
  const left = [...items]
  const worker = async () => {
    for (let item = left.shift(); item !== undefined; item = left.shift()) await work(item)
  }
  await Promise.all(Array.from({ length: most }, worker))
}

const count = async (sql: string) =>
  Number((await libsql.query(`SELECT count(*) AS n ${sql}`))[0]?.n)

const expectEachPaidOnce = async (of: number) => {
  expect(await count(`FROM payment_transactions WHERE status = 'Paid'`)).toBe(of)
  expect(await count(`FROM payment_webhook_events WHERE outcome = 'applied'`)).toBe(of)
  expect(await count('FROM payment_webhook_events')).toBe(of)
  expect(await count(`FROM payment_outbox WHERE type = 'PaymentSucceeded'`)).toBe(of)
  expect(await count('FROM (SELECT DISTINCT transaction_id FROM payment_outbox)')).toBe(of)
}

const expectEachAlertIsOneEvent = async (of: number) => {
  const raised = `FROM payment_outbox WHERE type = 'AlertRaised'`
  expect(await count('FROM payment_alerts')).toBe(of)
  expect(await count(raised)).toBe(of)
  expect(
    await count(`${raised} AND payload ->> '$.alert.id' IN (SELECT id FROM payment_alerts)
      AND EXISTS (SELECT 1 FROM payment_deliveries d WHERE d.outbox_id = payment_outbox.id)`),
  ).toBe(of)
  expect(await count(`FROM (SELECT DISTINCT payload ->> '$.alert.id' ${raised})`)).toBe(of)
}

describe('the ledger on libSQL, under load', () => {
  it('moves once and fires once for 50 identical deliveries at once', async () => {
    await charged(1)
    const all = await Promise.all(numbers(50).map(() => ledger.webhook(paid(0))))
    expect(all.filter(({ outcome }) => outcome === 'applied')).toHaveLength(1)
    expect(all.filter(({ outcome }) => outcome === 'duplicate')).toHaveLength(49)
    expect(dispatcher.take()).toHaveLength(1)
    await expectEachPaidOnce(1)
  })

  it('writes once what is called again while it is under way, and anew what comes later', async () => {
    await charged(2)
    const loaded: unknown[] = []
    const counting = createLedger({
      store: libsqlStore({
        ...libsql.database,
        load(statements, signal) {
          for (const { args } of statements) {
            const { known = '[]' } = args
            loaded.push(...(JSON.parse(String(known)) as string[][]).map(([, eventId]) => eventId))
          }
          return libsql.database.load(statements, signal)
        },
      }),
      guard: new FakeGuard(),
      subscribers: LISTENERS,
      dispatch: dispatcher.dispatch,
      clock: hostClock,
      log: () => undefined,
    })
    const [first, second] = [paid(0), paid(1)]
    const together = [first, second, first, structuredClone(first)]
    const answers = await Promise.all(together.map((arrival) => counting.webhook(arrival)))
    expect(answers.map(({ transactionId }) => transactionId)).toEqual(['t-0', 't-1', 't-0', 't-0'])
    expect(loaded).toEqual(['e-0', 'e-1'])
    expect(await counting.webhook(first)).toEqual(answers[0])
    expect(loaded).toHaveLength(3)
    const refused = { ...paid(0), payload: { ...paid(0).payload, amount: 0.5 } }
    for (let n = 0; n < 2; n++) await expect(counting.webhook(refused)).rejects.toThrow(RangeError)
    await expectEachPaidOnce(2)
  })

  it('dispatches once what a parked event caused, though two found it', async () => {
    await ledger.webhook(paid(0))
    await charged(1)
    const now = Date.now()
    const { load, read, write } = libsql.database
    const slow = createLedger({
      store: libsqlStore({
        load,
        write,
        async read(statements) {
          const rows = await read(statements)
          await ledger.applyParked({ now, limit: 9 })
          return rows
        },
      }),
      guard: new FakeGuard(),
      subscribers: LISTENERS,
      dispatch: dispatcher.dispatch,
      clock: hostClock,
      log: () => undefined,
    })
    await slow.applyParked({ now: now + 1, limit: 9 })
    expect(dispatcher.take()).toMatchObject([{ type: 'PaymentSucceeded' }])
    await expectEachPaidOnce(1)
  })

  it('lands 1,000 different ones at 64 at a time', async () => {
    await charged(1_000)
    const outcomes: string[] = []
    await atATime(64, numbers(1_000), async (number) => {
      outcomes.push((await ledger.webhook(paid(number))).outcome)
    })
    expect(new Set(outcomes)).toEqual(new Set(['applied']))
    await expectEachPaidOnce(1_000)
    expect(retries).toBe(0)
  })

  it.each([
    ['past what a number holds', 2 ** 60],
    ['of a fraction', 1.5],
    ['that is none', Number.NaN],
  ])('fails an event with an amount %s alone, while its 63 neighbours land', async (_, amount) => {
    await charged(64)
    const all = await Promise.allSettled(
      numbers(64).map((number) => ledger.webhook(paid(number, number === 40 ? { amount } : {}))),
    )
    const failed = all.flatMap(({ status }, at) => (status === 'rejected' ? [at] : []))
    expect(failed).toEqual([40])
    await expectEachPaidOnce(63)
  })

  it.each([
    ['the client refuses', 2 ** 60],
    ['the server refuses', 1.5],
  ])('fails a charge that %s alone, while the events beside it land', async (_, amount) => {
    await charged(63)
    const poison = ledger.beginCharge({
      id: nextId(),
      request: { gateway: 'shop', reference: 'p', amount, currency: 'IQD', description: 'x' },
      requestHash: 'x',
      chargeIsIdempotent: true,
      now: 1,
      until: 2,
    })
    const events = numbers(63).map((number) => ledger.webhook(paid(number)))
    const [charge, ...others] = await Promise.allSettled([poison, ...events])
    expect(charge?.status).toBe('rejected')
    expect(others.every(({ status }) => status === 'fulfilled')).toBe(true)
    await expectEachPaidOnce(63)
  })

  it('judges each event by the state that the one before it left, though they came together', async () => {
    await charged(1)
    const all = await Promise.all([
      ledger.webhook(paid(0)),
      ledger.webhook(paid(0, { status: 'PartiallyRefunded', amount: 1_000, eventId: 'e-part' })),
      ledger.webhook(paid(0, { status: 'PartiallyRefunded', amount: 9_000, eventId: 'e-more' })),
      ledger.webhook(paid(0, { status: 'Failed', eventId: 'e-failed' })),
      ledger.webhook(paid(0, { status: 'Refunded', eventId: 'e-all' })),
      ledger.webhook(paid(0, { status: 'Refunded', eventId: 'e-all' })),
    ])
    expect(all.map(({ outcome }) => outcome)).toEqual([
      'applied',
      'applied',
      'applied',
      'illegal',
      'applied',
      'duplicate',
    ])
    const types = dispatcher.take().map(({ type }) => type)
    expect(types).toEqual(['PaymentSucceeded', 'PaymentRefunded', 'PaymentRefunded'])
  })

  it('keeps text that is no Unicode in a form that can be read again', async () => {
    await ledger.webhook(
      paid(0, { raw: { half: '\ud83d\u0000' }, reference: '\udc00 "\u0000" \'' }),
    )
    const [event] = await libsql.query('SELECT raw, reference FROM payment_webhook_events')
    expect(event).toMatchObject({ raw: '{"half":"\\ud83d\\u0000"}' })
  })
})

describe('a charge that the gateway gives a name of another payment', () => {
  it('is answered all the same, without the name', async () => {
    await charged(1)
    const request = { gateway: 'shop', reference: 'r', amount: 1, currency: 'IQD', description: '' }
    const transactionId = nextId()
    const start = { id: transactionId, request, requestHash: 'h', chargeIsIdempotent: true }
    await ledger.beginCharge({ ...start, now: 1, until: 2 })
    const answer = {
      status: 'Pending',
      gateway: 'shop',
      reference: 'r',
      transactionId,
      gatewayTransactionId: 'g-0',
      redirectUrl: 'https://pay.example/1',
    } as const
    const { transaction } = await ledger.finishCharge({
      transactionId,
      eventId: nextId(),
      now: 2,
      verdict: 'success',
      result: { kind: 'answered', answer, nextCheckAt: 3 },
    })
    expect(transaction.redirectUrl).toBe('https://pay.example/1')
    expect(transaction).not.toHaveProperty('gatewayTransactionId')
  })
})

describe('the ledger on libSQL, when the server dies', () => {
  it('has each acknowledged event and its alert exactly once, and lands the rest when they come again', async () => {
    const total = 600
    await charged(total)
    const acknowledged = new Set<number>()
    // Each third one raises an alert.
    const told = (number: number) => paid(number, number % 3 === 0 ? { amount: 20_000 } : {})
    const arrivals = numbers(total).map(told)
    const killed = new Promise<void>((resolve) => {
      // One of 64 is on its way, and most of them are still to come.
      onBatch = (batch) => {
        if (batch === 3) resolve(libsql.kill())
      }
    })
    const burst = atATime(64, arrivals, async (arrival) => {
      const { outcome } = await ledger.webhook(arrival)
      expect(outcome).toBe('applied')
      acknowledged.add(arrivals.indexOf(arrival))
    })
    await killed
    const known = new Set(acknowledged)
    expect(known.size).toBeGreaterThan(0)
    expect(known.size).toBeLessThan(total)
    await libsql.restart()

    const stored = await libsql.query(`SELECT gateway_transaction_id AS name
      FROM payment_transactions WHERE status = 'Paid'`)
    const names = new Set(stored.map(({ name }) => name))
    for (const number of known) expect(names).toContain(`g-${number}`)

    // Those that were in flight are repeated by the ledger itself, within their patience.
    await burst
    expect(retries).toBeGreaterThan(0)
    await expectEachPaidOnce(total)
    await expectEachAlertIsOneEvent(total / 3)

    // The gateway, which heard nothing, comes again; and so do calls whose answer was lost.
    const again = await Promise.all(arrivals.map((_, number) => ledger.webhook(told(number))))
    expect(new Set(again.map(({ outcome }) => outcome))).toEqual(new Set(['duplicate']))
    const repeated = await Promise.all(arrivals.map((arrival) => ledger.webhook(arrival)))
    expect(new Set(repeated.map(({ outcome }) => outcome))).toEqual(new Set(['applied']))
    await expectEachPaidOnce(total)
    await expectEachAlertIsOneEvent(total / 3)
  })
})

describe('an error of the database', () => {
  const place = () => ({ url: libsql.url, authToken: libsql.token })
  const never = new AbortController().signal
  const caught = (work: Promise<unknown>) =>
    work.then(
      () => undefined,
      (error: unknown) => error,
    )

  it('is transient where nobody listens', async () => {
    const nowhere = libsqlDatabase({ url: 'http://127.0.0.1:1' }, Date.now)
    const error = await caught(nowhere.write([statement('SELECT 1')], never))
    expect(error).toBeInstanceOf(DatabaseUnreachable)
    expect(isTransient(error)).toBe(true)
  })

  it('is transient when the call was given up', async () => {
    const database = libsqlDatabase(place(), Date.now)
    const error = await caught(database.write([statement('SELECT 1')], AbortSignal.abort()))
    expect(isTransient(error)).toBe(true)
  })

  it('is transient while another writer holds the database', async () => {
    // A transaction left open: the server lets it be for 5 s.
    const open = { requests: [{ type: 'execute', stmt: { sql: 'BEGIN IMMEDIATE' } }] }
    const call = (body: object) =>
      fetch(`${libsql.url}/v2/pipeline`, {
        method: 'POST',
        headers: { authorization: `Bearer ${libsql.token}` },
        body: JSON.stringify(body),
      })
    const response = await call(open)
    const { baton } = (await response.json()) as { baton: string }
    const landed = ledger.webhook(paid(0))
    await new Promise((resolve) => setTimeout(resolve, 100))
    const close = { baton, requests: [{ type: 'close' }] }
    await call(close)
    expect((await landed).outcome).toBe('parked')
  })

  it.each([
    ['a UNIQUE', `INSERT INTO payment_outbox SELECT * FROM payment_outbox`],
    ['a syntax', 'SELEC'],
    ['a table', 'SELECT * FROM nothing'],
  ])('is the statement’s own over %s', async (_, sql) => {
    await charged(1)
    await ledger.webhook(paid(0))
    const error = await caught(libsqlDatabase(place(), Date.now).write([statement(sql)], never))
    expect(error).toBeInstanceOf(Error)
    expect(isTransient(error)).toBe(false)
  })

  it('is thrown before anything is sent where a name has no value', () => {
    expect(() => statement('SELECT :a, :b', { a: 1 })).toThrow(':b')
  })
})
