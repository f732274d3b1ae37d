// A charge or refund is saved without a load where the ledger knows its rows; a wrong guess is
// refused, and only costs time.

import { beforeEach, describe, expect, it } from 'vitest'
import type { World } from '../../../contract/ledger-world.ts'
import { database, holding, useWriterBed, worldOver } from './writer-bed.ts'

useWriterBed()

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
