// The audit trail in the ledger: a row for each act that somebody asked for, with its change.

import { beforeEach, describe, expect, it } from 'vitest'
import type { Database } from '../../../../worker/payments/ledger/libsql/database-libsql.ts'
import { HOUR, type LedgerSetup, MINUTE, T0 } from '../../../support/ledger-setup.ts'
import { database, rivalledSetup, setupOver, useMemoryLedger } from './memory-ledger.ts'

const acts = async (w: LedgerSetup) =>
  (await w.queries.audit({}, { limit: 99 })).map(({ action, subject }) => [action, subject])

describe('the audit trail', () => {
  it('has charges, refunds, checks and what replaces them, by whoever asked', async () => {
    const w = rivalledSetup()
    const first = await w.pending({ by: 'ada', request: { reference: 'order-1' } })
    const paid = await w.reached('Paid', { by: 'shop', request: { reference: 'order-2' } })
    const refundId = await w.claimed(paid, { by: 'bob', amount: 4_000 })
    await w.finish(first, { kind: 'unknown', nextCheckAt: T0 + MINUTE })
    const now = T0 + HOUR
    const asked = { id: w.id(), by: 'carl' }
    await w.ledger.claimCheck({ transactionId: first.id, now, until: now + MINUTE, asked })
    const replaces = { transactionId: first.id, eventId: w.id() }
    const begun = await w.begin({ by: 'dora', now, replaces, request: { reference: 'order-1' } })
    if (begun.state !== 'begun') throw new Error(`the charge is ${begun.state}`)
    expect(await acts(w)).toEqual([
      ['charge', 'dora'],
      ['replace', 'dora'],
      ['check', 'carl'],
      ['refund', 'bob'],
      ['charge', 'shop'],
      ['charge', 'ada'],
    ])
    expect((await w.story(paid)).audit).toMatchObject([
      { action: 'charge', amount: 25_000, currency: 'IQD', reference: 'order-2' },
      { action: 'refund', about: refundId, amount: 4_000, currency: 'IQD', gateway: 'redirect' },
    ])
    const [replaced] = await w.queries.audit({ action: 'replace' }, { limit: 9 })
    expect(replaced).toMatchObject({ transactionId: first.id, about: begun.transaction.id })
  })

  it('has redeliveries, the first acknowledgement and refunds of late money', async () => {
    const w = rivalledSetup()
    const failed = await w.reached('Failed')
    const { pending } = await w.webhook(failed)
    const refundId = await w.claimed(failed, { by: 'ada' })
    const [alert] = await w.queries.alerts({}, { limit: 9 })
    await w.ledger.acknowledge({
      id: alert?.id ?? '',
      by: 'bob',
      now: T0 + HOUR,
      gatewayReference: 'bank-7',
    })
    await w.ledger.acknowledge({ id: alert?.id ?? '', by: 'eve', now: T0 + HOUR })
    const { events } = await w.story(failed)
    const delivery = events.flatMap(({ deliveries }) => deliveries)[0]?.id ?? ''
    await w.ledger.redeliver({ id: delivery, now: T0 + HOUR, asked: { id: w.id(), by: 'carl' } })
    expect(pending).toBeDefined()
    expect((await w.story(failed)).audit).toMatchObject(
      expect.arrayContaining([
        expect.objectContaining({ action: 'late_refund', subject: 'ada', about: refundId }),
        expect.objectContaining({ action: 'acknowledge', subject: 'bob', detail: 'late_payment' }),
        expect.objectContaining({ action: 'redeliver', subject: 'carl', about: delivery }),
      ]),
    )
    expect((await acts(w)).flat()).not.toContain('eve')
  })

  it('has an act once, when its call is repeated because the answer was lost', async () => {
    const w = rivalledSetup()
    const start = w.start({ by: 'ada' })
    await w.ledger.beginCharge(start)
    await w.ledger.beginCharge(start)
    const paid = await w.reached('Paid', { request: { reference: 'order-2' } })
    const refund = w.refundStart(paid, { by: 'bob' })
    await w.ledger.beginRefund(refund)
    await w.ledger.beginRefund(refund)
    const asked = { id: w.id(), by: 'carl' }
    const check = { transactionId: paid.id, now: T0 + HOUR, until: T0 + 2 * HOUR, asked }
    await w.ledger.claimCheck(check)
    await w.ledger.claimCheck(check)
    expect((await acts(w)).toSorted(([a = ''], [b = '']) => (a < b ? -1 : 1))).toEqual([
      ['charge', 'ada'],
      ['check', 'carl'],
      ['refund', 'bob'],
    ])
  })

  it('has nothing that nobody asked for: webhooks, the sweeper, what only found a payment', async () => {
    const w = rivalledSetup()
    const paid = await w.reached('Paid')
    await w.begin({ by: 'ada' })
    await w.ledger.claimChecks({ now: T0 + HOUR, until: T0 + 2 * HOUR, limit: 9 })
    const [event] = (await w.story(paid)).events
    await w.ledger.redeliver({ id: event?.deliveries[0]?.id ?? '', now: T0 + HOUR })
    expect(await acts(w)).toEqual([])
  })

  it('is read with filters', async () => {
    const w = rivalledSetup()
    const first = await w.pending({ by: 'ada', request: { reference: 'order-1' } })
    await w.pending({ by: 'bob', now: T0 + HOUR, request: { reference: 'order-2' } })
    const found = async (filter: Parameters<typeof w.queries.audit>[0]) =>
      (await w.queries.audit(filter, { limit: 9 })).map(({ reference }) => reference)
    expect(await found({ subject: 'ada' })).toEqual(['order-1'])
    expect(await found({ transaction: first.id })).toEqual(['order-1'])
    expect(await found({ reference: 'order-2' })).toEqual(['order-2'])
    expect(await found({ action: 'refund' })).toEqual([])
    expect(await found({ after: T0 + 1 })).toEqual(['order-2'])
    expect(await found({ before: T0 + HOUR })).toEqual(['order-1'])
  })
})

describe('the rows of the audit trail', () => {
  useMemoryLedger()
  let calls: string[]
  let counted: Database
  beforeEach(() => {
    calls = []
    counted = {
      ...database,
      load(statements, signal) {
        calls.push('load')
        return database.load(statements, signal)
      },
      write(statements, signal) {
        calls.push('write')
        return database.write(statements, signal)
      },
    }
  })

  it('cost a charge no further round trip', async () => {
    const w = setupOver(counted)
    const transaction = await w.pending({ by: 'ada' })
    await w.answer(transaction)
    expect(calls).toEqual(['load', 'write', 'load', 'write'])
    expect(await acts(w)).toEqual([['charge', 'ada']])
  })

  it('are never changed and never deleted', async () => {
    const w = setupOver(database)
    await w.pending({ by: 'ada' })
    const why = 'payment_audit is append only'
    expect(() => database.exec("UPDATE payment_audit SET subject = 'eve'")).toThrow(why)
    expect(() => database.exec('DELETE FROM payment_audit')).toThrow(why)
    expect(await acts(w)).toEqual([['charge', 'ada']])
  })
})
