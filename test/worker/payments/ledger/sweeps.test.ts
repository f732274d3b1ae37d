// What the sweeper takes from the ledger: checks and events that are due, and their results.

import { describe, expect, it } from 'vitest'
import { LEASE_MS } from '../../../../worker/payments/acts/store.ts'
import { ENDPOINT, LISTENERS, POSTED } from '../../../support/ledger-fakes.ts'
import { HOUR, MINUTE, T0 } from '../../../support/ledger-setup.ts'
import { rivalledSetup } from './memory-ledger.ts'

/** The first event of a charge that was begun, and its delivery. */
async function begunEvent(w: ReturnType<typeof rivalledSetup>) {
  const { pending } = await w.caused(w.begin())
  const [event] = pending
  return { event, outboxId: event?.outboxId ?? '', id: event?.delivery?.id ?? '' }
}

describe('a check', () => {
  it('can be claimed when it is due, once until its next time', async () => {
    const w = rivalledSetup()
    const transaction = await w.charged()
    const due = T0 + 5 * MINUTE
    const claim = { until: due + MINUTE, limit: 9 }
    expect(await w.ledger.claimChecks({ ...claim, now: due - 1 })).toEqual([])
    expect(await w.ledger.claimChecks({ ...claim, now: due })).toMatchObject([
      { transaction, request: w.start().request, isUnsent: false },
    ])
    expect(await w.ledger.claimChecks({ ...claim, now: due })).toEqual([])
    const again = { now: due + MINUTE, until: due + HOUR, limit: 9 }
    expect(await w.ledger.claimChecks(again)).toHaveLength(1)
  })

  it('of one payment can be claimed before it is due, and the sweeper does not claim it meanwhile', async () => {
    const w = rivalledSetup()
    const transaction = await w.charged()
    const now = T0 + 1_000
    const claim = { transactionId: transaction.id, now, until: T0 + HOUR }
    expect(await w.ledger.claimCheck(claim)).toMatchObject({
      state: 'claimed',
      check: { transaction, request: w.start().request, isUnsent: false },
    })
    const due = { until: T0 + 9 * HOUR, limit: 9 }
    expect(await w.ledger.claimChecks({ ...due, now: T0 + HOUR - 1 })).toEqual([])
    expect(await w.ledger.claimChecks({ ...due, now: T0 + HOUR })).toHaveLength(1)
  })

  it('is due soon after a stale event for a Pending payment', async () => {
    const w = rivalledSetup()
    const transaction = await w.charged()
    const names = {
      gatewayTransactionId: transaction.gatewayTransactionId ?? '',
      reference: 'order-1',
    }
    const claim = { now: T0 + 2_000, until: T0 + HOUR, limit: 9 }
    await w.ledger.checkSoon({ gateway: 'fib', ids: names, now: T0 + 2_000 })
    await w.ledger.checkSoon({
      gateway: 'redirect',
      ids: { ...names, gatewayTransactionId: 'x' },
      now: T0 + 2_000,
    })
    expect(await w.ledger.claimChecks(claim)).toEqual([])
    await w.ledger.checkSoon({ gateway: 'redirect', ids: names, now: T0 + 2_000 })
    expect(await w.ledger.claimChecks(claim)).toHaveLength(1)
  })

  it('that two make at once, or that a webhook came before, is one change and one event', async () => {
    const w = rivalledSetup()
    const { id: transactionId, ...charged } = await w.charged()
    const now = T0 + 5 * MINUTE
    const claimed = await w.ledger.claimCheck({ transactionId, now, until: now + HOUR })
    if (claimed.state !== 'claimed') throw new Error(claimed.state)
    const { asked } = claimed.check
    const report = { status: 'Paid', amount: charged.amount, currency: charged.currency } as const
    const settle = () => {
      const answer = { id: w.id(), report, askedAt: now, onMismatch: 'log' } as const
      return w.ledger.settleCheck({ asked, now, answer })
    }
    const outcomes = (await Promise.all([settle(), settle()])).map(({ outcome }) => outcome)
    expect(outcomes.toSorted()).toEqual(['applied', undefined])
    const { webhookEvents } = await w.story(transactionId)
    expect(webhookEvents).toMatchObject([{ eventId: `recheck:${transactionId}:Paid:25000` }])
  })
})

describe('a pending event', () => {
  it('is dispatched after its commit, and due again when its lease is over', async () => {
    const w = rivalledSetup()
    const begun = await w.caused(w.begin())
    if (begun.state !== 'begun') throw new Error(begun.state)
    const claim = (now: number) => w.outbox.claimPending({ now, limit: 9 })
    expect(await claim(T0 + LEASE_MS - 1)).toEqual([])
    expect(await claim(T0 + LEASE_MS)).toEqual(begun.pending)
    expect(await claim(T0 + LEASE_MS)).toEqual([])
    // Calls that had the time before that, and waited for their turn since.
    for (const waited of [1, 25_000]) expect(await claim(T0 + LEASE_MS - waited)).toEqual([])
    expect(await claim(T0 + 2 * LEASE_MS)).toEqual(begun.pending)
  })

  it('is claimed once by many calls at the same time, the oldest first', async () => {
    const w = rivalledSetup()
    const ids: string[] = []
    for (const reference of ['a', 'b', 'c']) {
      ids.push((await w.pending({ request: { reference } })).id)
    }
    const claim = { now: T0 + HOUR, limit: 1 }
    const first = await w.outbox.claimPending(claim)
    expect(first.map(({ outboxId }) => outboxId)).toEqual(ids.slice(0, 1))
    const all = await Promise.all(Array.from({ length: 9 }, () => w.outbox.claimPending(claim)))
    const rest = all.flat().map(({ outboxId }) => outboxId)
    expect(new Set(rest)).toEqual(new Set(ids.slice(1)))
    expect(rest).toHaveLength(2)
  })

  it('that listeners never accepted is given up with an alert', async () => {
    const w = rivalledSetup(LISTENERS)
    const { id } = await w.pending()
    await w.outbox.settleDispatched(
      [{ outboxId: id, listeners: { ok: false, error: 'x' } }],
      T0 + 5,
    )
    expect(await w.outbox.claimPending({ now: T0 + 99 * HOUR, limit: 9 })).toEqual([])
    expect(await w.queries.alerts({}, { limit: 9 })).toMatchObject([
      {
        kind: 'listener_dead',
        transactionId: id,
        gateway: 'redirect',
        detail: { event: id, type: 'PaymentInitiated', reference: 'order-1', error: 'x' },
      },
    ])
  })

  it('that the endpoint never accepted is dead with an alert, until it is sent again', async () => {
    const w = rivalledSetup(POSTED)
    const { event, outboxId, id } = await begunEvent(w)
    const delivery = { id, ok: false, error: 'refused' }
    await w.outbox.settleDispatched([{ outboxId, delivery }], T0 + 5)
    expect(await w.alerts()).toEqual(['delivery_dead'])
    expect((await w.story(outboxId)).events).toMatchObject([
      { deliveries: [{ status: 'dead', attempts: 1, lastError: 'refused' }] },
    ])
    expect(await w.outbox.claimPending({ now: T0 + 99 * HOUR, limit: 9 })).toEqual([])

    expect(await w.ledger.redeliver({ id: 'nobody', now: T0 + HOUR })).toBe(false)
    expect(await w.ledger.redeliver({ id, now: T0 + HOUR })).toBe(true)
    const [again] = await w.outbox.claimPending({ now: T0 + HOUR, limit: 9 })
    expect(again).toMatchObject({ outboxId, delivery: { id, endpoint: ENDPOINT, attempts: 0 } })
    expect(again).toHaveProperty('payload', event && 'payload' in event && event.payload)
  })

  it('that the endpoint answers with 410 is pending with one alert, until it accepts one', async () => {
    const w = rivalledSetup(POSTED)
    const { outboxId, id } = await begunEvent(w)
    const gone = { id, ok: false, status: 410, nextAttemptAt: T0 + 9 }
    await w.outbox.settleDispatched([{ outboxId, delivery: gone }], T0 + 5)
    await w.outbox.claimPending({ now: T0 + 9, limit: 9 })
    await w.outbox.settleDispatched([{ outboxId, delivery: gone }], T0 + 10)
    const alerts = await w.queries.alerts({}, { limit: 9 })
    expect(alerts).toMatchObject([
      { kind: 'endpoint_gone', detail: { endpoint: ENDPOINT, lastStatus: 410, event: outboxId } },
    ])
    expect((await w.story(outboxId)).events).toMatchObject([
      { deliveries: [{ status: 'pending', attempts: 2, lastStatus: 410 }] },
    ])

    await w.outbox.claimPending({ now: T0 + HOUR, limit: 9 })
    const accepted = { id, ok: true, status: 204 }
    await w.outbox.settleDispatched([{ outboxId, delivery: accepted }], T0 + HOUR)
    expect(await w.alerts()).toEqual([])
  })

  it('that is dead again after it was sent again raises its alert again', async () => {
    const w = rivalledSetup(POSTED)
    const { outboxId, id } = await begunEvent(w)
    const dispatched = [{ outboxId, delivery: { id, ok: false, status: 410 } }]
    await w.outbox.settleDispatched(dispatched, T0 + 5)
    const [alert] = await w.queries.alerts({}, { limit: 9 })
    expect(alert?.detail).toEqual({
      deliveryId: id,
      endpoint: ENDPOINT,
      lastStatus: 410,
      event: outboxId,
      type: 'PaymentInitiated',
      reference: 'order-1',
      amount: 25_000,
      currency: 'IQD',
    })
    await w.ledger.acknowledge({ id: alert?.id ?? '', by: 'ada', now: T0 + HOUR })
    await w.ledger.redeliver({ id, now: T0 + HOUR })
    expect(await w.alerts()).toEqual([])
    await w.outbox.claimPending({ now: T0 + HOUR, limit: 9 })
    await w.outbox.settleDispatched(dispatched, T0 + HOUR + 5)
    expect(await w.alerts()).toEqual(['delivery_dead'])
  })
})
