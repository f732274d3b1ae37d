// Every save is a compare-and-swap: one that arrives late or twice, or comes from another ledger,
// changes nothing, and callers do not notice.

import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { WorkingSet } from '../../../../worker/payments/acts/act.ts'
import type { Story, Transaction } from '../../../../worker/payments/domain/types.ts'
import { DatabaseUnreachable } from '../../../../worker/payments/ledger/libsql/database-libsql.ts'
import { statement } from '../../../../worker/payments/ledger/libsql/statement-libsql.ts'
import { type LedgerSetup, MINUTE, T0 } from '../../../support/ledger-setup.ts'
import { alertRow, webhookEventRow } from '../../../support/payment-rows.ts'
import { database, holding, logged, setupOver, useMemoryLedger } from './memory-ledger.ts'

useMemoryLedger()

const REFUNDED = { status: 'Refunded' } as const

const all = async (sql: string) => (await database.read([statement(sql)]))[0]
const batch = async () => (await all('SELECT batch FROM payment_ledger'))?.[0]?.batch

describe('a save', () => {
  it('changes nothing when it arrives after it was sent again', async () => {
    const link = holding()
    const w = setupOver(link.database)
    const transaction = await w.charged()
    link.hold()
    const { outcome, pending } = await w.webhook(transaction)
    expect([outcome, pending.length]).toEqual(['applied', 1])
    const before = [await w.story(transaction), await batch()]
    await expect(link.land()).rejects.toThrow('payment_ledger.batch')
    expect([await w.story(transaction), await batch()]).toEqual(before)
  })

  it('changes nothing when it arrives after another event changed its payment', async () => {
    const link = holding()
    const w = setupOver(link.database)
    const transaction = await w.charged()
    link.hold()
    const failing = w.ledger.finishCharge({
      transactionId: transaction.id,
      eventId: w.id(),
      now: 1,
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

  // Most saves insert a row, whose id was generated once: a late one is refused for that alone. For
  // those that only update, the comparison is all that refuses them, as the last lines show.
  it.each([
    {
      name: 'the answer that a refund was accepted',
      begin: (w: LedgerSetup) => w.reached('Paid'),
      first: { amount: 25_000, end: { kind: 'accepted', nextCheckAt: 9 } },
      next: async (w: LedgerSetup, paid: Transaction) => void (await w.webhook(paid, REFUNDED)),
      read: ({ refunds }: Story) => refunds.map(({ status }) => status),
      is: ['succeeded'],
      would: ['accepted'],
    },
  ] as const)('that inserts nothing, $name, is refused too when it is late', async (late) => {
    const link = holding()
    const w = setupOver(link.database)
    const payment = await late.begin(w)
    const refund = await w.claimed(payment, { amount: late.first.amount })
    link.hold()
    await w.endRefund(refund, late.first.end)
    await late.next(w, payment)
    await expect(link.land()).rejects.toThrow('payment_ledger.batch')
    expect(late.read(await w.story(payment))).toEqual(late.is)
    await link.landUncompared()
    expect(late.read(await w.story(payment))).toEqual(late.would)
  })

  it('is found when it arrived before it is sent again, and its event is due after its lease', async () => {
    let isLost = false
    const w = setupOver({
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
    expect([outcome, pending]).toEqual(['applied', []])
    expect((await w.story(transaction)).webhookEvents).toHaveLength(1)
    const due = await w.outbox.claimPending({ now: T0 + 2 * MINUTE, limit: 9 })
    expect(due.map(({ type }) => type)).toContain('PaymentSucceeded')
  })
})

describe('a call of a gateway', () => {
  it('does not dispatch its event again when its beginning is repeated', async () => {
    const w = setupOver(database)
    const start = w.start()
    expect((await w.ledger.beginCharge(start)).state).toBe('begun')
    expect(w.deliverer.take()).toHaveLength(1)
    expect((await w.ledger.beginCharge(start)).state).toBe('begun')
    expect(w.deliverer.take()).toEqual([])
  })

  it('is ended once when the answer to its save was lost', async () => {
    const link = holding()
    const w = setupOver(link.database)
    const transaction = await w.pending()
    link.hold()
    await w.answer(transaction)
    await expect(link.land()).rejects.toThrow('payment_ledger.batch')
    expect(await w.eventsOf(transaction)).toEqual(['PaymentInitiated'])
  })
})

describe('a refused save', () => {
  it('is loaded and decided again, on what the other writer has stored', async () => {
    let meanwhile: string | undefined
    const w = setupOver({
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
    // Once: no group was halved.
    expect(logged.filter((event) => event === 'payments.ledger.retry')).toHaveLength(1)
  })
})

describe('a second ledger', () => {
  it('writes beside the first one, and both answer all of their callers', async () => {
    const [one, other] = [setupOver(database), setupOver(database)]
    const payments = await Promise.all(
      Array.from({ length: 8 }, (_, n) =>
        (n % 2 === 0 ? one : other).charged({ request: { reference: `order-${n}` } }),
      ),
    )
    const answers = await Promise.all(
      payments.map((payment, n) => (n % 2 === 0 ? other : one).webhook(payment)),
    )
    expect(answers.map(({ outcome }) => outcome)).toEqual(payments.map(() => 'applied'))
    expect(await all('SELECT id FROM payment_webhook_events')).toHaveLength(8)
  })
})

describe('an operation that throws', () => {
  it('takes back what it has put, and keeps what others have put before', () => {
    const [stored, fresh] = [alertRow({ id: '01STORED' }), alertRow({ id: '01NEW' })]
    const rows = new WorkingSet({ installation: 'ours' }, { alerts: [stored] })
    const seen = { ...stored, acknowledged_at: 5 }
    rows.attempt(() => rows.put({ alerts: [seen] }))
    const failing = () =>
      rows.attempt(() => {
        rows.put({ alerts: [{ ...stored, acknowledged_at: 6 }, fresh] })
        rows.put({ webhookEvents: [webhookEventRow({ transaction_id: '01TX' })] })
        throw new Error('no')
      })
    expect(failing).toThrow('no')
    expect(rows.changesOf('alerts')).toEqual({
      inserted: [],
      updated: [{ before: stored, after: seen }],
    })
    expect(rows.changesOf('webhookEvents')).toEqual({ inserted: [], updated: [] })
  })
})

describe('a database without the batch number that saves are compared with', () => {
  it.each([
    ['row', 'DELETE FROM payment_ledger'],
    ['table', 'DROP TABLE payment_ledger'],
  ])('refuses with a code if the %s is missing, and works once it is there', async (_, sql) => {
    const w = setupOver(database)
    database.exec(sql)
    await expect(w.begin()).rejects.toMatchObject({ code: 'schema_mismatch' })
    database.exec(readFileSync('schema.sql', 'utf8'))
    expect((await w.begin()).state).toBe('begun')
  })
})
