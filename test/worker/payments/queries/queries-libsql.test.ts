// What can be read back: lists, pages, stories and alerts.

import { describe, expect, it } from 'vitest'
import { toTransaction } from '../../../../worker/payments/domain/rows.ts'
import { type EventWish, HOUR, iso, MINUTE, T0 } from '../../../support/ledger-setup.ts'
import { rivalledSetup } from '../ledger/memory-ledger.ts'

describe('the queries', () => {
  it('return the story of a payment by our id, and not by the gateway’s', async () => {
    const w = rivalledSetup()
    const transaction = await w.charged()
    const named = transaction.gatewayTransactionId ?? ''
    expect((await w.queries.story(transaction.id))?.transaction).toEqual(transaction)
    expect(await w.queries.story(named)).toBeUndefined()
    expect(await w.queries.story('nobody')).toBeUndefined()
  })

  it('find a payment by either id, at its gateway', async () => {
    const w = rivalledSetup()
    const transaction = await w.charged()
    const { id, gatewayTransactionId = '' } = transaction
    for (const name of [id, gatewayTransactionId]) {
      const row = await w.queries.find('redirect', name)
      expect(row && toTransaction(row)).toEqual(transaction)
      expect(await w.queries.find('fib', name)).toBeUndefined()
    }
    expect(await w.queries.find('redirect', 'nobody')).toBeUndefined()
  })

  it('list payments newest first, by status, gateway and order, page by page', async () => {
    const w = rivalledSetup()
    const a = await w.reached('Paid', { request: { reference: 'a' } })
    const b = await w.charged({ request: { reference: 'b' } })
    const c = await w.reached('Paid', { request: { reference: 'a', gateway: 'fib' } })
    const d = await w.reached('Failed', { request: { reference: 'd' } })
    const list = async (filter: object, page: object = {}) =>
      (await w.queries.transactions(filter, { limit: 9, ...page })).map(({ id }) => id)
    expect(await list({})).toEqual([d.id, c.id, b.id, a.id])
    expect(await list({}, { limit: 2 })).toEqual([d.id, c.id])
    expect(await list({}, { limit: 2, before: c.id })).toEqual([b.id, a.id])
    expect(await list({}, { before: a.id })).toEqual([])
    expect(await list({ status: 'Paid' })).toEqual([c.id, a.id])
    expect(await list({ status: 'Paid', gateway: 'fib' })).toEqual([c.id])
    expect(await list({ reference: 'a' })).toEqual([c.id, a.id])
    expect(await list({ reference: 'a', status: 'Failed' })).toEqual([])
    const [first] = await w.queries.transactions({ reference: 'b' }, { limit: 1 })
    expect(first).toEqual(b)
  })

  it('list webhook events newest first, by outcome and gateway, page by page', async () => {
    const w = rivalledSetup()
    const transaction = await w.charged()
    const other = await w.charged({ request: { gateway: 'fib' } })
    const arrivals = [
      w.arrival(transaction, { status: 'Pending' }),
      w.arrival(transaction),
      w.arrival(transaction, { status: 'Failed' }),
      w.arrival(other, { gatewayTransactionId: 'nobody' }),
    ]
    for (const arrival of arrivals) await w.ledger.webhook(arrival)
    const ids = arrivals.map(({ id }) => id).toReversed()
    const list = async (filter: object, page: object = {}) =>
      (await w.queries.webhookEvents(filter, { limit: 9, ...page })).map(({ id }) => id)
    expect(await list({})).toEqual(ids)
    expect(await list({}, { limit: 2 })).toEqual(ids.slice(0, 2))
    expect(await list({}, { limit: 2, before: ids[1] })).toEqual(ids.slice(2))
    expect(await list({ outcome: 'illegal' })).toEqual([arrivals[2]?.id])
    expect(await list({ outcome: 'unchanged' })).toEqual([arrivals[0]?.id])
    expect(await list({ gateway: 'fib' })).toEqual([arrivals[3]?.id])
    expect(await list({ outcome: 'applied', gateway: 'fib' })).toEqual([])
  })

  it('count the webhook events of each minute by outcome, oldest first, without empty minutes', async () => {
    const w = rivalledSetup()
    const transaction = await w.charged()
    const from = T0 + HOUR
    const at = (ms: number, wish: EventWish = {}) =>
      w.webhook(transaction, { receivedAt: from + ms, ...wish })
    const parked = { gatewayTransactionId: 'nobody', reference: '' }
    await at(-1, parked)
    await at(3 * MINUTE - 1)
    await at(0, { status: 'Failed' })
    await at(1, parked)
    await at(MINUTE - 1, parked)
    await at(3 * MINUTE, parked)
    const span = { from, to: from + 3 * MINUTE }
    expect(await w.queries.webhookRates(span)).toEqual([
      { at: iso(from), outcomes: { illegal: 1, parked: 2 } },
      { at: iso(from + 2 * MINUTE), outcomes: { applied: 1 } },
    ])
    const none = { from: from + HOUR, to: from + 2 * HOUR }
    expect(await w.queries.webhookRates(none)).toEqual([])
  })

  it('return the whole story of one payment, oldest first', async () => {
    const w = rivalledSetup()
    const transaction = await w.reached('Paid', { request: { reference: 'a' } })
    const other = await w.reached('Failed', { request: { reference: 'b' } })
    await w.webhook(transaction, { status: 'Cancelled' })
    await w.webhook(other)
    await w.endRefund(await w.claimed(transaction, { amount: 1_000 }), {
      kind: 'refused',
      error: { code: 'refused', message: 'No.' },
    })
    await w.endRefund(await w.claimed(transaction, { amount: 2_000 }), { kind: 'done' })
    await w.webhook(transaction, { status: 'Paid', alert: 'refund_failed' })
    const story = await w.story(transaction)
    expect(story.transaction).toMatchObject({ id: transaction.id, refundedAmount: 2_000 })
    expect(story.webhookEvents.map(({ outcome }) => outcome)).toEqual([
      'applied',
      'illegal',
      'unchanged',
    ])
    expect(story.refunds.map(({ amount, status }) => [amount, status])).toEqual([
      [1_000, 'failed'],
      [2_000, 'succeeded'],
    ])
    expect(story.events.map(({ type }) => type)).toEqual([
      'PaymentInitiated',
      'PaymentSucceeded',
      'PaymentRefunded',
    ])
    expect(story.alerts.map(({ kind }) => kind)).toEqual(['refund_failed'])
  })

  it('list alerts newest first, page by page', async () => {
    const w = rivalledSetup()
    for (const reference of ['a', 'b', 'c']) {
      await w.webhook(await w.charged({ request: { reference } }), { amount: 1 })
    }
    const all = await w.queries.alerts({}, { limit: 9 })
    expect(all).toHaveLength(3)
    const orders = await Promise.all(
      all.map(async ({ transactionId = '' }) => {
        const { transaction } = await w.story(transactionId)
        return transaction.reference
      }),
    )
    expect(orders).toEqual(['c', 'b', 'a'])
    const before = all[0]?.id ?? ''
    expect(await w.queries.alerts({}, { limit: 1, before })).toEqual([all[1]])
  })
})
