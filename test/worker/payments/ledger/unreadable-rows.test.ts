// Rows that cannot be read, in a real database: each fails alone. No code writes such rows today, but
// an older version or a person may have.

import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type LibsqlServer, startLibsql } from '../../../../harness/database.ts'
import { createLedger } from '../../../../worker/payments/ledger/create-ledger.ts'
import type { Ledger } from '../../../../worker/payments/ledger/ledger.ts'
import { libsqlStore } from '../../../../worker/payments/ledger/libsql/store-libsql.ts'
import { createDispatcher } from '../../../../worker/payments/outbox/dispatcher.ts'
import type { PaymentQueries } from '../../../../worker/payments/queries/queries.ts'
import { libsqlQueries } from '../../../../worker/payments/queries/queries-libsql.ts'
import { createSweeper, type Sweeper } from '../../../../worker/payments/reconciliation/sweeper.ts'
import { hostClock } from '../../../../worker/shared/clock.ts'
import { FakeGuard } from '../../../support/ledger-fakes.ts'
import { keptLog, type Logged } from '../../../support/payments.ts'
import { insertPending, paid } from './shop-payments.ts'

/** A time that a gateway once sent. */
const IMPOSSIBLE = 8_900_000_000_000_000
const PAGE = { limit: 9 }

let libsql: LibsqlServer
let ledger: Ledger
let queries: PaymentQueries
let sweeper: Sweeper
/** The ids of payments whose success the listener has handled. */
let handled: string[]
/** The gateway's ids of checked payments. */
let checked: string[]
let lines: Logged[]

beforeAll(async () => {
  libsql = await startLibsql()
})
afterAll(() => libsql.close())
beforeEach(async () => {
  await libsql.wipe()
  handled = []
  checked = []
  const kept = keptLog()
  lines = kept.lines
  const { log } = kept
  const listeners = {
    PaymentSucceeded: ({ transaction }: { transaction: { id: string } }) =>
      void handled.push(transaction.id),
  }
  const clock = hostClock
  const endpoint = { url: 'https://shop.example/events', secrets: [`whsec_${'A'.repeat(32)}`] }
  const fetch = async () => new Response()
  const { subscribers, dispatch } = createDispatcher({ listeners, endpoint, clock, log, fetch })
  const { database } = libsql
  const guard = new FakeGuard()
  ledger = createLedger({ store: libsqlStore(database), guard, subscribers, dispatch, clock, log })
  queries = libsqlQueries(database)
  const shop = {
    key: 'shop',
    privateFields: [],
    echoedFields: [],
    currencies: 'any',
    chargeIsIdempotent: true,
    charge: () => Promise.reject(new Error('unexpected charge')),
    handleWebhook: () => Promise.reject(new Error('unexpected webhook')),
    checkStatus: async ({ gatewayTransactionId }: { gatewayTransactionId: string }) => {
      checked.push(gatewayTransactionId)
      return { known: false } as const
    },
  } as const
  sweeper = createSweeper({
    ...{ ledger, queries, clock, log, onMismatch: 'log' },
    gateways: new Map([['shop', shop]]),
    caller: {
      run: (_gateway, _kind, _purpose, work) =>
        work({ send: () => Promise.reject(new Error('unexpected call')), warn: () => undefined }),
    },
  })
})

const poison = (id: string, column: string, value: number | string = IMPOSSIBLE) =>
  libsql.query(`UPDATE payment_transactions SET ${column} = :value WHERE id = :id`, { id, value })

/** Waits until all events are dispatched and settled. */
const isSettled = () =>
  expect
    .poll(() =>
      libsql.query(`SELECT id FROM payment_outbox WHERE done_at IS NULL
        UNION ALL SELECT id FROM payment_deliveries WHERE status = 'pending'`),
    )
    .toEqual([])
const idOf = ({ id }: { id: string }) => id
const broken = (rows: readonly object[]) => rows.flatMap((row) => ('invalid' in row ? [row] : []))

describe('a row that cannot be read', () => {
  it.each(['created_at', 'updated_at', 'paid_at', 'expires_at'])(
    'because of its %s is unreadable in the list, beside all others',
    async (column) => {
      await insertPending(libsql, 3)
      await poison('t-1', column)
      for (const filter of [{}, { gateway: 'shop' }, { startsWith: 'order-' }]) {
        const rows = await queries.transactions(filter, PAGE)
        expect(rows.map(idOf)).toEqual(['t-2', 't-1', 't-0'])
        expect(broken(rows)).toEqual([
          {
            id: 't-1',
            code: 'unreadable',
            invalid: expect.stringContaining(`${column} is ${IMPOSSIBLE}, which is not a time`),
          },
        ])
      }
    },
  )

  it('because of a number beyond 2^53 is one entry of the list, and one check', async () => {
    await insertPending(libsql, 3, 1)
    await libsql.query(`UPDATE payment_transactions SET amount = 1 << 60 WHERE id = 't-1'`)
    await libsql.query(`UPDATE payment_transactions SET created_at = 1 << 62 WHERE id = 't-2'`)
    const rows = await queries.transactions({}, PAGE)
    expect(rows).toMatchObject([
      {
        id: 't-2',
        invalid: expect.stringMatching(/created_at is 4611686018427387904, .* not a time/),
      },
      {
        id: 't-1',
        invalid: expect.stringMatching(/amount is 1152921504606846976, .* not an amount/),
      },
      { id: 't-0', amount: 25_000 },
    ])
    expect(await sweeper.sweep()).toMatchObject({ checked: 1, alerts: 2, failed: 0 })
  })

  it('of a webhook event or an alert is one entry of the list, and of its story', async () => {
    await insertPending(libsql, 1)
    const events = [paid(0), { ...paid(0), payload: { ...paid(0).payload, eventId: 'second' } }]
    for (const event of events) await ledger.webhook(event)
    const [bad, good] = events.map(idOf)
    await libsql.query('UPDATE payment_webhook_events SET occurred_at = :at WHERE id = :bad', {
      ...{ at: IMPOSSIBLE, bad: bad ?? '' },
    })
    await libsql.query(
      `INSERT INTO payment_alerts (id, kind, subject, gateway, transaction_id, created_at)
        VALUES ('a-1', 'late_payment', 's-1', 'shop', 't-0', 1),
          ('a-2', 'late_payment', 's-2', 'shop', 't-0', :at)`,
      { at: IMPOSSIBLE },
    )
    const listed = await queries.webhookEvents({}, PAGE)
    expect(listed.map(idOf)).toEqual([good, bad])
    expect(broken(listed).map((row) => row)).toMatchObject([{ id: bad }])
    const alerts = await queries.alerts({}, PAGE)
    expect(alerts.map(idOf)).toEqual(['a-2', 'a-1'])
    expect(broken(alerts)).toMatchObject([{ id: 'a-2' }])
    const story = await queries.story('t-0', Date.now())
    expect(story?.transaction).toMatchObject({ id: 't-0', status: 'Paid' })
    expect(broken(story?.webhookEvents ?? [])).toMatchObject([{ id: bad }])
    expect(broken(story?.alerts ?? [])).toMatchObject([{ id: 'a-2' }])
  })

  it('does not make its story unreadable', async () => {
    await insertPending(libsql, 1)
    await ledger.webhook(paid(0))
    await poison('t-0', 'paid_at')
    const story = await queries.story('t-0', Date.now())
    expect(story?.transaction).toMatchObject({ id: 't-0', code: 'unreadable' })
    expect(story?.webhookEvents).toMatchObject([{ outcome: 'applied' }])
    expect(story?.events).toMatchObject([{ type: 'PaymentSucceeded' }])
  })

  it('does not prevent webhooks of other payments, nor its own', async () => {
    await insertPending(libsql, 3)
    await poison('t-1', 'expires_at')
    const recorded = await Promise.all([0, 1, 2].map((number) => ledger.webhook(paid(number))))
    expect(recorded.map(({ outcome }) => outcome)).toEqual(['applied', 'applied', 'applied'])
    await isSettled()
    expect(handled.toSorted()).toEqual(['t-0', 't-2'])
    // An event that cannot be sent is an alert at once, and not tried again.
    const alerts = await queries.alerts({}, PAGE)
    expect(alerts).toMatchObject([
      { transactionId: 't-1', kind: 'delivery_dead' },
      { transactionId: 't-1', kind: 'listener_dead', detail: { type: 'PaymentSucceeded' } },
    ])
    expect(await queries.waiting(Date.now() + 9e9)).toMatchObject({ isDue: false })
  })

  it('does not prevent the dispatch of other events', async () => {
    await insertPending(libsql, 9)
    for (let number = 0; number < 9; number++) await ledger.webhook(paid(number))
    await isSettled()
    handled = []
    // As if no event had been dispatched.
    await libsql.query('UPDATE payment_outbox SET done_at = NULL, created_at = 1')
    await libsql.query(`UPDATE payment_deliveries SET status = 'pending'`)
    await libsql.query(
      `UPDATE payment_outbox SET payload = json_set(payload, '$.transaction.paid_at', :at)
        WHERE transaction_id IN ('t-0', 't-4')`,
      { at: IMPOSSIBLE },
    )
    await libsql.query(`UPDATE payment_outbox SET created_at = :at WHERE transaction_id = 't-5'`, {
      at: IMPOSSIBLE,
    })
    expect(await sweeper.sweep()).toMatchObject({ delivered: 6, undelivered: 3, failed: 0 })
    expect(handled.toSorted()).toEqual(['t-1', 't-2', 't-3', 't-6', 't-7', 't-8'])
    expect(await sweeper.sweep()).toMatchObject({ isIdle: true })
    const alerts = await queries.alerts({}, PAGE)
    const dead = new Set(alerts.map((alert) => 'kind' in alert && alert.transactionId))
    expect(dead).toEqual(new Set(['t-0', 't-4', 't-5']))
  })

  it('gets an alert from the sweeper, and all other payments are checked', async () => {
    await insertPending(libsql, 4, 1)
    await poison('t-0', 'expires_at')
    expect(await sweeper.sweep()).toMatchObject({ checked: 3, alerts: 1, failed: 0 })
    expect(checked.toSorted()).toEqual(['g-1', 'g-2', 'g-3'])
    expect(await queries.alerts({}, PAGE)).toMatchObject([
      { kind: 'unreadable', transactionId: 't-0', detail: { error: /no time/ } },
    ])
    const [row] = await libsql.query(`SELECT next_check_at FROM payment_transactions
      WHERE id = 't-0'`)
    expect(Number(row?.next_check_at)).toBeGreaterThan(Date.now() + 23 * 3_600_000)
    expect(lines.map(({ event }) => event)).toContain('payments.check.unreadable')
  })

  it('does not prevent parked events of other payments', async () => {
    const events = [paid(0), paid(1)]
    for (const event of events) await ledger.webhook(event)
    await insertPending(libsql, 2)
    await poison('t-0', 'expires_at')
    expect(await sweeper.sweep()).toMatchObject({ failed: 0 })
    await isSettled()
    expect(handled).toEqual(['t-1'])
    const statuses = await libsql.query('SELECT status FROM payment_transactions')
    expect(statuses).toEqual([{ status: 'Paid' }, { status: 'Paid' }])
  })
})
