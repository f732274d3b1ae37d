// The list of payments and the search in it, on both engines.

import { beforeEach, describe, expect, it } from 'vitest'
import { type LedgerSetup, MINUTE, T0 } from '../../../support/ledger-setup.ts'
import { setupOver } from '../ledger/memory-ledger.ts'
import { emptyDatabases } from './engines.ts'

describe.each(emptyDatabases())('payments %s', (_, make) => {
  let w: LedgerSetup
  beforeEach(async () => {
    w = setupOver(await make())
  })

  const find = async (filter: object, page: object = {}) =>
    (await w.queries.transactions(filter, { limit: 9, ...page })).map(({ id }) => id)

  it('are found by any part of what the shop named, however it is written', async () => {
    const metadata = { customer: 'زينب Hadi', phone: '+964 770 123 4567', table: 4 }
    const a = await w.charged({ request: { reference: 'ORD-10231', metadata } })
    const b = await w.charged({ request: { reference: 'ord_10232', gateway: 'fib' } })
    for (const q of ['10231', 'ord-10231', 'ORD 10231', '#ord-10231', '١٠٢٣١', '770123', 'زَيْنَب']) {
      expect(await find({ q }), q).toEqual([a.id])
    }
    for (const q of ['1023', 'three BOOKS', 'or', 'O', 'd102']) {
      expect(await find({ q }), q).toEqual([b.id, a.id])
    }
    // Too short for a part, and the beginning of nothing.
    for (const q of ['rd', '%', '*', '?', '[', '"', "'", '10233']) {
      expect(await find({ q }), q).toEqual([])
    }
    expect(await find({ q: '  ' })).toEqual([b.id, a.id])
  })

  it('are found by words in any order, each by itself, as any keyboard has them', async () => {
    const metadata = { customer: 'کریم الجبوری', city: 'ڕاپەڕین' }
    const a = await w.charged({ request: { reference: 'ORD-2026-10231', metadata } })
    await w.charged({ request: { reference: 'ORD-2026-10299', metadata: { customer: 'Sara' } } })
    for (const q of [
      'ord 10231',
      '10231 ord',
      'الجبوري كريم',
      'كريم 10231',
      'راپەرين',
      'جبورى ord',
    ]) {
      expect(await find({ q }), q).toEqual([a.id])
    }
    expect(await find({ q: '10231 Sara' })).toEqual([])
  })

  it('are found by the beginning or the end of an id, and not by its middle', async () => {
    const a = await w.charged({ gatewayTransactionId: 'cs_Test-A1b2C3d4E5f6' } as object)
    const b = await w.pending({ request: { reference: 'other', gateway: 'stripe' } })
    const { id, externalReferenceId, gatewayTransactionId = '' } = a
    for (const q of [id, id.toLowerCase(), id.slice(-4), id.slice(-12), id.slice(3)]) {
      expect(await find({ q }), q).toEqual([a.id])
    }
    for (const q of [externalReferenceId.slice(0, 9), externalReferenceId.toUpperCase()]) {
      expect(await find({ q }), q).toEqual([a.id])
    }
    for (const q of [gatewayTransactionId, gatewayTransactionId.slice(-6).toUpperCase()]) {
      expect(await find({ q }), q).toEqual([a.id])
    }
    expect(await find({ q: id.slice(2, -2) })).toEqual([])
    expect(await find({ q: id.slice(0, 6) })).toEqual([b.id, a.id])
    expect(await find({ q: '0' })).toEqual([b.id, a.id])
  })

  it('are found by an amount and a currency, as requested and as paid', async () => {
    const a = await w.charged({ request: { reference: 'a', amount: 1_250, currency: 'USD' } })
    const b = await w.charged({ request: { reference: 'b', amount: 1_250 } })
    const c = await w.charged({ request: { reference: 'c' } })
    await w.webhook(c, { status: 'Paid', amount: 1_250 })
    expect(await find({ amount: 1_250 })).toEqual([c.id, b.id, a.id])
    expect(await find({ amount: 1_250, currency: 'IQD' })).toEqual([c.id, b.id])
    expect(await find({ amount: 25_000 })).toEqual([c.id])
    expect(await find({ currency: 'USD' })).toEqual([a.id])
    expect(await find({ currency: 'EUR' })).toEqual([])
    expect(await find({ amount: 1_250, q: 'books', status: 'Paid' })).toEqual([c.id])
    expect(await find({ amount: 1_250 }, { limit: 2 })).toEqual([c.id, b.id])
    expect(await find({ amount: 1_250 }, { limit: 2, before: b.id })).toEqual([a.id])
    expect(await find({ amount: 0 })).toEqual([])
  })

  it('are found by an amount that is typed as people write it, in the currency’s own units', async () => {
    const a = await w.charged({ request: { reference: 'a', amount: 2_000, currency: 'USD' } })
    const b = await w.charged({ request: { reference: 'b', amount: 20 } })
    const c = await w.charged({ request: { reference: 'c' } })
    await w.webhook(c, { status: 'Paid', amount: 20 })
    for (const q of ['20,00', '20.00', '٢٠', '20']) {
      expect(await find({ q }), q).toEqual([c.id, b.id, a.id])
    }
    expect(await find({ q: '25.000' })).toEqual([c.id])
    expect(await find({ q: '20,00', currency: 'USD' })).toEqual([a.id])
    expect(await find({ q: '20,00', status: 'Paid' })).toEqual([c.id])
    expect(await find({ q: '20,00' }, { limit: 2 })).toEqual([c.id, b.id])
    expect(await find({ q: '20,00' }, { limit: 2, before: b.id })).toEqual([a.id])
    expect(await find({ q: '2000' })).toEqual([])
  })

  it('are found by their notes, and by what needs a person', async () => {
    const a = await w.charged({ request: { reference: 'a' } })
    const b = await w.charged({ request: { reference: 'b' } })
    const note = { id: w.id(), by: 'ada', now: T0 }
    await w.ledger.writeNote({ ...note, transactionId: a.id, text: 'She called.\nراجعت' })
    await w.ledger.writeNote({ ...note, transactionId: a.id, text: 'She called.\nراجعت' })
    expect(await find({ q: 'called راجعت' })).toEqual([a.id])
    expect((await w.story(a)).notes).toMatchObject([{ text: 'She called.\nراجعت', by: 'ada' }])
    expect((await w.story(a)).audit).toMatchObject([{ action: 'note', about: note.id }])
    expect(JSON.stringify((await w.story(a)).audit)).not.toContain('called')
    const nobody = { ...note, id: w.id(), transactionId: 'nobody', text: 'x' }
    expect(await w.ledger.writeNote(nobody)).toBeUndefined()

    expect(await find({ needs: 'person' })).toEqual([])
    await w.webhook(b, { status: 'Paid', amount: 20 })
    expect(await find({ needs: 'person' })).toEqual([b.id])
    expect(await find({ needs: 'person', q: 'books' })).toEqual([b.id])
    expect(await find({ needs: 'person', gateway: 'fib' })).toEqual([])
  })

  it('are found by when they were made, paid and last changed', async () => {
    const a = await w.reached('Paid', { request: { reference: 'a' } })
    const b = await w.charged({ request: { reference: 'b' } })
    await w.webhook(b, { status: 'Paid', occurredAt: T0 + 5 * MINUTE, receivedAt: T0 + 9 * MINUTE })
    const all = [b.id, a.id]
    expect(await find({ after: T0 })).toEqual(all)
    expect(await find({ after: T0 + 1 })).toEqual([])
    expect(await find({ before: T0 })).toEqual([])
    expect(await find({ before: T0 + 1, after: 0, q: 'books' })).toEqual(all)
    expect(await find({ before: T0, q: 'books' })).toEqual([])
    expect(await find({ by: 'paid', after: T0 + 5 * MINUTE })).toEqual([b.id])
    expect(await find({ by: 'paid', before: T0 + 5 * MINUTE })).toEqual([a.id])
    expect(await find({ by: 'updated', after: T0 + 9 * MINUTE, q: 'books' })).toEqual([b.id])
    expect(await find({ by: 'paid', after: -1e15, before: 8.64e15 })).toEqual(all)
  })

  it('are filtered by all of it together, and filtered ones do not count for a page', async () => {
    const of = (reference: string, gateway = 'redirect') => ({ request: { reference, gateway } })
    const a = await w.reached('Paid', of('order-1'))
    const b = await w.charged(of('order-2', 'fib'))
    const c = await w.charged(of('order-3'))
    expect(await find({ q: 'order', status: 'Paid' })).toEqual([a.id])
    expect(await find({ q: 'order', gateway: 'fib' })).toEqual([b.id])
    expect(await find({ q: 'order', gateway: 'nobody' })).toEqual([])
    expect(await find({ q: 'order', reference: 'order-3' })).toEqual([c.id])
    expect(await find({ q: 'order', status: 'Paid' }, { limit: 1 })).toEqual([a.id])
    expect(await find({ q: 'order' }, { limit: 2 })).toEqual([c.id, b.id])
    expect(await find({ q: 'order' }, { limit: 2, before: b.id })).toEqual([a.id])
    expect(await find({ q: 'order', status: 'Pending' }, { limit: 1, before: c.id })).toEqual([
      b.id,
    ])
  })
})
