// Rows that no code writes, in a real database: a bad one fails alone, and withholds no other.

import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type LibsqlServer, startLibsql } from '../../../../tools/harness/database.ts'
import { type Ledger, openLedger } from '../../../../worker/payments/ledger/ledger.ts'
import { reportMask } from '../../../../worker/payments/mask.ts'
import { createDeliverer, subscribersOf } from '../../../../worker/payments/outbox/deliver.ts'
import {
  libsqlQueries,
  type PaymentQueries,
} from '../../../../worker/payments/queries/queries-libsql.ts'
import { createSweeper, type Sweeper } from '../../../../worker/payments/reconciliation/sweeper.ts'
import { hostClock } from '../../../../worker/shared/clock.ts'
import { RULES } from '../../../support/acts.ts'
import { wipe } from '../../../support/libsql-server.ts'
import { keptLog } from '../../../support/payments.ts'
import { insertPending, paid } from './shop-payments.ts'

/** No date has it. */
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

beforeAll(async () => {
  libsql = await startLibsql()
})
afterAll(() => libsql.close())
beforeEach(async () => {
  await wipe(libsql)
  handled = []
  checked = []
  const { log } = keptLog()
  const listeners = {
    PaymentSucceeded: ({ transaction }: { transaction: { id: string } }) =>
      void handled.push(transaction.id),
  }
  const clock = hostClock
  const endpoint = { url: 'https://shop.example/events', secrets: [`whsec_${'A'.repeat(32)}`] }
  const fetch = async () => new Response()
  const { deliver } = createDeliverer({ listeners, endpoint, clock, log, fetch })
  const { database } = libsql
  const subscribers = subscribersOf(listeners, endpoint)
  ledger = openLedger({ database, rules: RULES, subscribers, deliver, clock, log })
  queries = libsqlQueries(database)
  const shop = {
    key: 'shop',
    privateFields: [],
    echoedFields: [],
    currencies: 'any',
    chargeRepeatableForMs: Number.MAX_SAFE_INTEGER,
    charge: () => Promise.reject(new Error('unexpected charge')),
    handleWebhook: () => Promise.reject(new Error('unexpected webhook')),
    checkStatus: async ({ gatewayTransactionId }: { gatewayTransactionId: string }) => {
      checked.push(gatewayTransactionId)
      return { known: false } as const
    },
  } as const
  const gateways = new Map([['shop', shop]])
  sweeper = createSweeper({
    ledger,
    queries,
    clock,
    log,
    onMismatch: 'log',
    gateways,
    mask: reportMask(gateways),
    callbackUrl: () => undefined,
    client: {
      run: (_gateway, _kind, work) => {
        const send = () => Promise.reject(new Error('unexpected call'))
        return work({ send, warn: () => undefined, unanswered: () => 0 })
      },
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
      for (const filter of [{}, { gateway: 'shop' }, { q: 't-' }]) {
        const rows = await queries.transactions(filter, PAGE)
        expect(rows.map(idOf)).toEqual(['t-2', 't-1', 't-0'])
        expect(broken(rows)).toEqual([
          { id: 't-1', code: 'unreadable', invalid: expect.stringContaining('Invalid time value') },
        ])
      }
    },
  )

  it('of a webhook event or an alert is one entry of the list, and of its story', async () => {
    await insertPending(libsql, 1)
    const events = [paid(0), { ...paid(0), payload: { ...paid(0).payload, eventId: 'second' } }]
    for (const event of events) await ledger.webhook(event)
    const [bad, good] = events.map(idOf)
    await libsql.query('UPDATE payment_webhook_events SET occurred_at = :at WHERE id = :bad', {
      at: IMPOSSIBLE,
      bad: bad ?? '',
    })
    await libsql.query(
      `INSERT INTO payment_alerts (id, kind, subject, gateway, transaction_id, created_at)
        VALUES ('a-1', 'late_payment', 's-1', 'shop', 't-0', 1),
          ('a-2', 'late_payment', 's-2', 'shop', 't-0', :at)`,
      { at: IMPOSSIBLE },
    )
    await poison('t-0', 'paid_at')
    expect((await queries.webhookEvents({}, PAGE)).map(idOf)).toEqual([good, bad])
    expect((await queries.alerts({}, PAGE)).map(idOf)).toEqual(['a-2', 'a-1'])
    const story = await queries.story('t-0')
    expect(story?.transaction).toMatchObject({ id: 't-0', code: 'unreadable' })
    expect(broken(story?.webhookEvents ?? [])).toMatchObject([{ id: bad }])
    expect(broken(story?.alerts ?? [])).toMatchObject([{ id: 'a-2' }])
    expect(story?.events).toMatchObject([{ type: 'PaymentSucceeded' }])
  })

  it('does not prevent webhooks of other payments', async () => {
    await insertPending(libsql, 3)
    await poison('t-1', 'expires_at')
    const all = await Promise.allSettled([0, 1, 2].map((number) => ledger.webhook(paid(number))))
    expect(all.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
    await isSettled()
    expect(handled.toSorted()).toEqual(['t-0', 't-2'])
  })

  it('does not prevent the dispatch of other events', async () => {
    await insertPending(libsql, 9)
    for (let number = 0; number < 9; number++) await ledger.webhook(paid(number))
    await isSettled()
    handled = []
    // As if no event had been dispatched.
    await libsql.query('UPDATE payment_outbox SET done_at = NULL, created_at = 1')
    await libsql.query(`UPDATE payment_deliveries SET status = 'pending'`)
    await libsql.query(`UPDATE payment_outbox SET created_at = :at WHERE transaction_id = 't-5'`, {
      at: IMPOSSIBLE,
    })
    expect(await sweeper.sweep()).toMatchObject({ delivered: 8, undelivered: 1, failed: 0 })
    expect(handled).toHaveLength(9)
  })
})
