// Charges in the ledger: what a caller is answered, and what is stored with it. The rules are tested
// in domain/.

import { describe, expect, it } from 'vitest'
import type { Transaction } from '../../../../worker/payments/domain/types.ts'
import {
  type ChargeWish,
  HOUR,
  iso,
  type LedgerSetup,
  MINUTE,
  T0,
} from '../../../support/ledger-setup.ts'
import { rivalledSetup } from './writer-setup.ts'

const NO = { code: 'declined', message: 'No.' }
const KEY = { idempotencyKey: 'key-1' }

/** Named by its gateway, which gave no page. */
async function stranded(w: LedgerSetup, wish: ChargeWish = KEY): Promise<Transaction> {
  const transaction = await w.pending(wish)
  const gatewayTransactionId = `gateway-${transaction.id}`
  const result = { kind: 'unknown', gatewayTransactionId, nextCheckAt: T0 + MINUTE } as const
  return (await w.finish(transaction, result)).transaction
}

const replacing = (w: LedgerSetup, { id: transactionId }: Transaction, wish: ChargeWish = KEY) =>
  w.start({
    ...wish,
    now: T0 + 2 * MINUTE,
    replaces: { transactionId, eventId: w.id(), nextCheckAt: T0 + HOUR },
  })

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

  it('is not stored while the gateway’s circuit is open', async () => {
    const w = rivalledSetup()
    w.mayCall = false
    expect(await w.begin()).toEqual({ state: 'not_admitted' })
    expect(await w.queries.transactions({}, { limit: 9 })).toEqual([])
    expect(await w.outbox.claimPending({ now: T0 + HOUR, limit: 9 })).toEqual([])
  })

  it('is answered as before while the circuit is open, or stays without an answer', async () => {
    const w = rivalledSetup()
    const transaction = await w.charged({ idempotencyKey: 'key-1' })
    const open = await w.pending({ request: { reference: 'order-2' } })
    await w.finish(open, { kind: 'unknown', nextCheckAt: T0 + HOUR })
    w.mayCall = false
    expect(await w.begin({ idempotencyKey: 'key-1' })).toEqual({
      state: 'answered',
      transaction,
      opened: w.answerOf(transaction),
    })
    const other = { idempotencyKey: 'key-1', requestHash: 'another' }
    expect(await w.begin(other)).toEqual({ state: 'conflict', over: 'key', fields: [] })
    expect(await w.begin({ idempotencyKey: 'key-2' })).toMatchObject({ state: 'answered' })
    expect(await w.begin({ request: { reference: 'order-2' } })).toMatchObject({
      state: 'unknown',
      transaction: { id: open.id, status: 'Pending' },
      nextCheckAt: T0 + HOUR,
    })
    w.mayCall = true
    await w.webhook(transaction)
    expect(await w.begin({ idempotencyKey: 'key-2' })).toMatchObject({ state: 'answered' })
    // It was not claimed in the meantime.
    const again = { request: { reference: 'order-2' }, now: T0 + MINUTE }
    expect(await w.begin(again)).toMatchObject({ state: 'begun' })
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

  it('with the key of a charge at another gateway is another payment', async () => {
    const w = rivalledSetup()
    const ours = await w.pending(KEY)
    const theirs = await w.pending({ ...KEY, request: { gateway: 'fib' } })
    expect(theirs.id).not.toBe(ours.id)
    expect(theirs.externalReferenceId).not.toBe(ours.externalReferenceId)
    expect(await w.begin(KEY)).toMatchObject({ state: 'in_progress' })
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

describe('a charge that was answered', () => {
  it('has the gateway’s id, and is found again with its current status', async () => {
    const w = rivalledSetup()
    const transaction = await w.pending(KEY)
    const answer = w.answerOf(transaction, { qrCode: 'QR', deepLink: 'bank://1' })
    const times = { expiresAt: T0 + HOUR, nextCheckAt: T0 + HOUR }
    const result = { kind: 'answered', answer, ...times } as const
    const finished = await w.finish(transaction, result)
    expect(finished).toMatchObject({
      pending: [],
      transaction: {
        status: 'Pending',
        gatewayTransactionId: answer.gatewayTransactionId,
        redirectUrl: 'https://pay.example/hosted/1',
        expiresAt: iso(T0 + HOUR),
        updatedAt: iso(T0 + 1_000),
      },
    })
    expect(await w.read(transaction)).toEqual(finished.transaction)
    expect(await w.begin({ ...KEY, now: T0 + 2_000 })).toEqual({
      state: 'answered',
      transaction: finished.transaction,
      opened: answer,
    })
    await w.webhook(finished.transaction)
    expect(await w.begin({ ...KEY, now: T0 + 90_000 })).toMatchObject({
      state: 'answered',
      transaction: { id: transaction.id, status: 'Paid' },
      opened: answer,
    })
  })

  it('is not repeated after a webhook has reported it', async () => {
    const w = rivalledSetup()
    const transaction = await w.pending()
    await w.webhook(transaction)
    const paid = await w.read(transaction)
    expect(paid.status).toBe('Paid')
    expect(await w.begin({ now: T0 + 2 * MINUTE })).toEqual({
      state: 'answered',
      transaction: paid,
    })
  })

  it('does not get an id of another payment, and parked events are applied when it gets its own', async () => {
    const w = rivalledSetup()
    const other = await w.charged({ request: { reference: 'order-2' } })
    const { gatewayTransactionId = '' } = other
    const transaction = await w.pending()
    const unknown = { kind: 'unknown', nextCheckAt: T0 + HOUR } as const
    const taken = await w.finish(transaction, { ...unknown, gatewayTransactionId })
    expect(taken.transaction).not.toHaveProperty('gatewayTransactionId')
    // Its webhook arrives before it has this id.
    const early = { gatewayTransactionId: 'gateway-1', reference: '' }
    expect((await w.webhook(transaction, early)).outcome).toBe('parked')
    const named = await w.finish(transaction, { ...unknown, gatewayTransactionId: 'gateway-1' })
    expect(named.transaction).toMatchObject({
      status: 'Paid',
      gatewayTransactionId: 'gateway-1',
    })
    expect(named.pending).toMatchObject([{ type: 'PaymentSucceeded' }])
  })
})

describe('a charge that replaces another', () => {
  it('begins when that one ends, each with its event, and gets its key', async () => {
    const w = rivalledSetup()
    const first = await stranded(w)
    const start = replacing(w, first)
    const second = await w.caused(w.ledger.beginCharge(start))
    expect(second).toMatchObject({
      state: 'begun',
      transaction: { id: start.id, attempt: 2, status: 'Pending' },
      pending: [
        { outboxId: start.replaces?.eventId, type: 'PaymentCancelled' },
        { outboxId: start.id, type: 'PaymentInitiated' },
      ],
    })
    const ended = await w.read(first)
    expect(ended).toMatchObject({ status: 'Cancelled', error: { code: 'replaced' } })
    const { transaction } = second as { transaction: Transaction }
    expect(transaction.externalReferenceId).not.toBe(ended.externalReferenceId)
    expect(await w.eventsOf(first)).toEqual(['PaymentInitiated', 'PaymentCancelled'])
    expect(await w.eventsOf(transaction)).toEqual(['PaymentInitiated'])
    expect(await w.alerts()).toEqual([])
  })

  it('gets all further keys of that one, too, and those stay with it', async () => {
    const w = rivalledSetup()
    const first = await w.charged(KEY)
    for (const idempotencyKey of ['key-2', 'key-3']) await w.begin({ idempotencyKey })
    const start = replacing(w, first, { idempotencyKey: 'key-3' })
    const later = { ...start, now: T0 + 99 * HOUR, until: T0 + 100 * HOUR }
    const second = await w.ledger.beginCharge(later)
    expect(second).toMatchObject({ state: 'begun', transaction: { id: start.id } })
    await w.finish({ ...first, id: start.id }, { kind: 'refused', error: NO })
    for (const idempotencyKey of ['key-1', 'key-2', 'key-3']) {
      expect(await w.begin({ idempotencyKey })).toMatchObject({
        state: 'answered',
        transaction: { id: start.id, status: 'Failed' },
      })
    }
  })

  it('does not change the other while its gateway’s circuit is open', async () => {
    const w = rivalledSetup()
    const first = await stranded(w)
    w.mayCall = false
    const refused = await w.caused(w.ledger.beginCharge(replacing(w, first)))
    expect(refused).toMatchObject({
      state: 'unknown',
      transaction: { id: first.id },
      pending: [],
    })
    expect(await w.read(first)).toMatchObject({ status: 'Pending' })
  })
})
