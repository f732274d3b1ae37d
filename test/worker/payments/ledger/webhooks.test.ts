// Webhooks in the ledger: recorded once, and applied to their payment, now or when it appears.

import { describe, expect, it } from 'vitest'
import { NOBODY } from '../../../support/ledger-fakes.ts'
import { iso, MINUTE, T0 } from '../../../support/ledger-setup.ts'
import { rivalledSetup } from './memory-ledger.ts'

const LESS = { amount: 20_000, currency: 'IQD' }

describe('a webhook', () => {
  it('changes its payment, and stores one event, which is dispatched', async () => {
    const w = rivalledSetup()
    const transaction = await w.charged()
    const arrival = w.arrival(transaction, { receivedAt: T0 + 10_000, eventId: 'e-1' })
    const recorded = await w.caused(w.ledger.webhook(arrival))
    expect(recorded).toMatchObject({
      outcome: 'applied',
      transactionId: transaction.id,
      pending: [
        {
          outboxId: arrival.id,
          type: 'PaymentSucceeded',
          correlationId: 'correlation-2',
          createdAt: T0 + 10_000,
          listeners: { attempts: 0 },
          delivery: { attempts: 0 },
        },
      ],
    })
    const story = await w.story(transaction)
    expect(story.transaction).toMatchObject({
      status: 'Paid',
      updatedAt: iso(T0 + 10_000),
      paidAt: iso(T0 + 10_000),
      paid: { amount: 25_000, currency: 'IQD' },
    })
    expect(story.events.map(({ type }) => type)).toEqual(['PaymentInitiated', 'PaymentSucceeded'])
    expect(story.events[1]?.id).toBe(arrival.id)
    expect(story.events[1]?.payload).toEqual({ transaction: story.transaction })
    expect(story.webhookEvents).toEqual([
      {
        id: arrival.id,
        gateway: 'redirect',
        eventId: 'e-1',
        gatewayTransactionId: transaction.gatewayTransactionId,
        reference: 'order-1',
        transactionId: transaction.id,
        fromStatus: 'Pending',
        toStatus: 'Paid',
        amount: 25_000,
        currency: 'IQD',
        isMismatch: false,
        outcome: 'applied',
        raw: { a: ['body', 1, null] },
        correlationId: 'correlation-2',
        occurredAt: iso(T0 + 10_000),
        receivedAt: iso(T0 + 10_000),
      },
    ])
  })

  it('is recorded once when the ledger is called twice at the same time', async () => {
    const w = rivalledSetup()
    const known = await w.charged()
    const parked = await w.pending({ request: { reference: 'order-7' } })
    const unknown = { reference: '', gatewayTransactionId: 'nobody' }
    for (const arrival of [w.arrival(known), w.arrival(parked, unknown)]) {
      const [one, other] = await Promise.all([
        w.ledger.webhook(arrival),
        w.ledger.webhook(structuredClone(arrival)),
      ])
      expect(one).toEqual(other)
      expect(await w.ledger.webhook(arrival)).toEqual(one)
    }
    expect(await w.eventsOf(known)).toEqual(['PaymentInitiated', 'PaymentSucceeded'])
    expect((await w.story(known)).webhookEvents).toHaveLength(1)
    const left = await w.queries.webhookEvents({ outcome: 'parked' }, { limit: 9 })
    expect(left).toHaveLength(1)
  })

  it('is a duplicate when it comes again, and changes nothing', async () => {
    const w = rivalledSetup()
    const transaction = await w.charged()
    await w.webhook(transaction, { eventId: 'e-1' })
    const before = await w.story(transaction)
    const again = await w.webhook(transaction, { eventId: 'e-1', status: 'Refunded' })
    expect(again).toMatchObject({ outcome: 'duplicate', pending: [] })
    expect(await w.story(transaction)).toEqual(before)
  })

  it('stores the event of a change as done if there are no subscribers', async () => {
    const w = rivalledSetup(NOBODY)
    const transaction = await w.charged()
    expect((await w.webhook(transaction)).pending).toEqual([])
    const { events } = await w.story(transaction)
    expect(events).toHaveLength(2)
    for (const event of events) {
      expect(event.listenersDoneAt).toBeDefined()
      expect(event.deliveries).toEqual([])
    }
    expect(await w.outbox.claimPending({ now: T0 + 9e9, limit: 9 })).toEqual([])
  })

  it('is refused, and not stored, if its time or its amount is impossible', async () => {
    const w = rivalledSetup()
    const transaction = await w.charged()
    const none = [Number.NaN, 0.5, -1, Date.UTC(10_000, 0, 1)]
    for (const occurredAt of none) {
      await expect(w.webhook(transaction, { occurredAt })).rejects.toThrow(/not a time/)
    }
    for (const amount of [Number.NaN, 2 ** 60, 0.5]) {
      await expect(w.webhook(transaction, { amount })).rejects.toThrow(/not an amount/)
    }
    expect((await w.story(transaction)).webhookEvents).toEqual([])
  })
})

describe('an event without a payment', () => {
  it('is applied with others in the order of their times', async () => {
    const w = rivalledSetup()
    const transaction = await w.pending()
    const at = (ms: number) => ({ reference: '', occurredAt: ms })
    await w.webhook(transaction, { ...at(T0 + 900), status: 'Refunded' })
    await w.webhook(transaction, { ...at(T0 + 300), status: 'Paid' })
    const { transaction: after } = await w.answer(transaction, T0 + MINUTE)
    expect(after).toMatchObject({ status: 'Refunded', refundedAmount: 25_000 })
    const types = new Set(await w.eventsOf(transaction))
    expect(types).toEqual(new Set(['PaymentInitiated', 'PaymentSucceeded', 'PaymentRefunded']))
  })

  it('with another amount is logged when its charge is answered', async () => {
    const w = rivalledSetup()
    const transaction = await w.pending()
    const parked = { reference: '', ...LESS, eventId: 'event-1' }
    await w.webhook(transaction, parked)
    expect(w.logged).toEqual([])
    await w.answer(transaction, T0 + MINUTE)
    const fields = {
      gateway: 'redirect',
      correlationId: 'correlation-2',
      eventId: 'event-1',
      status: 'Paid',
      transactionId: transaction.id,
      outcome: 'applied',
      ...LESS,
    }
    const [{ id } = {}] = await w.queries.alerts({}, { limit: 9 })
    const of = { gateway: 'redirect', transactionId: transaction.id }
    expect(w.logged).toEqual([
      ['payments.alert.raised', { id, kind: 'amount_mismatch', ...of }, 'error'],
      ['payments.webhook.amount_mismatch', fields, 'warn'],
    ])
  })
})

describe('an event', () => {
  it('whose ids contradict each other changes neither payment, raises one alert, and both are asked about', async () => {
    const w = rivalledSetup()
    const one = await w.charged()
    const other = await w.charged({ request: { reference: 'order-2' } })
    const { externalReferenceId } = other
    const first = await w.webhook(one, { status: 'Paid', externalReferenceId })
    expect(first).toMatchObject({ outcome: 'rejected', transactionId: one.id })
    expect((await w.read(one)).status).toBe('Pending')
    expect((await w.read(other)).status).toBe('Pending')
    const due = await w.ledger.claimChecks({ now: T0 + MINUTE, until: T0, limit: 9 })
    expect(due).toHaveLength(2)
    await w.webhook(one, { status: 'Failed', externalReferenceId })
    const alerts = await w.queries.alerts({}, { limit: 9 })
    expect(alerts).toMatchObject([
      {
        kind: 'id_mismatch',
        transactionId: one.id,
        detail: { reference: 'order-1', otherTransactionId: other.id, externalReferenceId },
      },
    ])
  })

  it('with an id that is no id of a charge, as its driver says, contradicts nothing', async () => {
    const w = rivalledSetup()
    const one = await w.charged()
    const wish = { status: 'Paid', gatewayTransactionId: 'pi_1', isOtherId: true } as const
    expect(
      await w.webhook(one, { ...wish, externalReferenceId: one.externalReferenceId }),
    ).toMatchObject({ outcome: 'applied' })
  })

  it('without a name of ours is matched by the order, if the money agrees, also as `iqd`', async () => {
    const w = rivalledSetup()
    const one = await w.pending()
    const wish = { status: 'Paid', gatewayTransactionId: 'gateway-1', currency: 'iqd' } as const
    const { reference } = one
    expect(await w.webhook(one, { ...wish, reference, externalReferenceId: '' })).toMatchObject({
      outcome: 'applied',
    })
    expect(w.logged).toEqual([])
    expect((await w.read(one)).paid).toEqual({ amount: 25_000, currency: 'IQD' })
  })
})
