// Charges in the ledger: what a caller is answered, and what is stored with it. The rules are tested
// in acts/.

import { describe, expect, it } from 'vitest'
import { HOUR, iso, T0 } from '../../../support/ledger-setup.ts'
import { rivalledSetup } from './memory-ledger.ts'

const NO = { code: 'declined', message: 'No.' }
const KEY = { idempotencyKey: 'key-1' }

describe('a charge', () => {
  it('is stored with its event before the gateway is called', async () => {
    const w = rivalledSetup()
    const metadata = { table: 4, isGift: true, note: null }
    const start = w.start({ request: { metadata, customerPhone: '9647800000000' } })
    const begun = await w.caused(w.ledger.beginCharge(start))
    expect(begun).toMatchObject({
      state: 'begun',
      transaction: {
        id: start.id,
        gateway: 'redirect',
        reference: 'order-1',
        attempt: 1,
        status: 'Pending',
        amount: 25_000,
        currency: 'IQD',
        refundedAmount: 0,
        description: 'Three books',
        metadata,
        correlationId: 'correlation-1',
        createdAt: iso(T0),
        updatedAt: iso(T0),
      },
      pending: [
        {
          outboxId: start.id,
          type: 'PaymentInitiated',
          correlationId: 'correlation-1',
          createdAt: T0,
          listeners: { attempts: 0 },
          delivery: { attempts: 0 },
        },
      ],
    })
    const { transaction, events } = await w.story(start.id)
    expect(begun).toMatchObject({ transaction })
    expect(transaction.externalReferenceId).toMatch(/^[0-9a-f-]{36}$/)
    expect(transaction).not.toHaveProperty('gatewayTransactionId')
    const { customerPhone: _, ...request } = start.request
    expect(events).toMatchObject([{ id: start.id, type: 'PaymentInitiated' }])
    expect(events[0]?.payload).toEqual({ gateway: 'redirect', request, transaction })
  })

  it('gets the same answer when its call is repeated', async () => {
    const w = rivalledSetup()
    const start = w.start(KEY)
    const first = await w.ledger.beginCharge(start)
    expect(await w.ledger.beginCharge(start)).toEqual(first)
    expect(await w.queries.transactions({}, { limit: 9 })).toHaveLength(1)
    expect((await w.story(start.id)).events).toHaveLength(1)
  })

  it('requested fifty times at once is one charge', async () => {
    const w = rivalledSetup()
    const all = await Promise.all(Array.from({ length: 50 }, () => w.begin()))
    const states = all.map(({ state }) => state)
    expect(states.filter((state) => state === 'begun')).toHaveLength(1)
    expect(states.filter((state) => state === 'in_progress')).toHaveLength(49)
    expect(await w.queries.transactions({}, { limit: 99 })).toHaveLength(1)
  })

  it('gives an open charge any number of keys, for ever, also at once', async () => {
    const w = rivalledSetup()
    const charge = await w.charged({ idempotencyKey: 'key-0' })
    const keys = Array.from({ length: 20 }, (_, n) => ({ idempotencyKey: `key-${n}` }))
    const found = { state: 'answered', transaction: { id: charge.id, status: 'Pending' } }
    for (const answer of await Promise.all(keys.map((key) => w.begin(key)))) {
      expect(answer).toMatchObject(found)
    }
    await w.webhook(charge)
    const paid = { state: 'answered', transaction: { id: charge.id, status: 'Paid' } }
    for (const key of keys) expect(await w.begin(key)).toMatchObject(paid)
  })
})

describe('a charge that replaces another', () => {
  it('gets all further keys of that one, too, and those stay with it', async () => {
    const w = rivalledSetup()
    const first = await w.charged(KEY)
    for (const idempotencyKey of ['key-2', 'key-3']) await w.begin({ idempotencyKey })
    const start = w.start({
      idempotencyKey: 'key-3',
      now: T0 + 99 * HOUR,
      replaces: { transactionId: first.id, eventId: w.id(), nextCheckAt: T0 + HOUR },
    })
    const second = await w.ledger.beginCharge(start)
    expect(second).toMatchObject({ state: 'begun', transaction: { id: start.id } })
    await w.finish({ ...first, id: start.id }, { kind: 'refused', error: NO })
    for (const idempotencyKey of ['key-1', 'key-2', 'key-3']) {
      expect(await w.begin({ idempotencyKey })).toMatchObject({
        state: 'answered',
        transaction: { id: start.id, status: 'Failed' },
      })
    }
  })
})
