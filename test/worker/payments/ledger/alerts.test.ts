// Alerts in the ledger: each is one event, durable like the others.

import { describe, expect, it } from 'vitest'
import { ALERTED, type DispatchedEvent } from '../../../support/ledger-fakes.ts'
import { HOUR, iso, T0 } from '../../../support/ledger-setup.ts'
import { rivalledSetup } from './writer-setup.ts'

/** The alerts of these events, by their kind. */
const alertsIn = (pending: readonly DispatchedEvent[]) =>
  pending.flatMap((event) => ('alert' in event.payload ? [event.payload.alert.kind] : []))

describe('an alert', () => {
  it('causes an event with the alert and the payment, beside the event of the change', async () => {
    const w = rivalledSetup(ALERTED)
    const transaction = await w.charged()
    const { pending } = await w.webhook(transaction, {
      amount: 20_000,
      receivedAt: T0 + 10_000,
    })
    const after = await w.read(transaction)
    const [raised] = await w.queries.alerts({}, { limit: 9 })
    const { acknowledgedAt: _, ...alert } = raised ?? {}
    expect(pending).toMatchObject([
      { type: 'PaymentSucceeded' },
      {
        type: 'AlertRaised',
        createdAt: T0 + 10_000,
        payload: { alert, transaction: after },
        listeners: { attempts: 0 },
        delivery: { attempts: 0 },
      },
    ])
    expect(alert).toMatchObject({
      kind: 'amount_mismatch',
      gateway: 'redirect',
      transactionId: transaction.id,
      detail: { amount: 20_000, expectedAmount: 25_000 },
      createdAt: iso(T0 + 10_000),
    })
    const { events } = await w.story(transaction)
    expect(events.map(({ id }) => id).slice(1)).toEqual(pending.map(({ outboxId }) => outboxId))
    expect(events[2]?.payload).toEqual({ alert, transaction: after })
  })

  it('is an error in the log, since a person has to look at it', async () => {
    const w = rivalledSetup()
    const transaction = await w.charged()
    await w.webhook(transaction, { amount: 20_000 })
    const [alert] = await w.queries.alerts({}, { limit: 9 })
    const { id, kind, gateway, transactionId } = alert ?? {}
    const fields = { id, kind, gateway, transactionId }
    expect(w.logged).toContainEqual(['payments.alert.raised', fields, 'error'])
  })

  it('causes one event, however often its webhook arrives', async () => {
    const w = rivalledSetup(ALERTED)
    const arrival = w.arrival(await w.reached('Failed'))
    const call = (own = {}) => w.caused(w.ledger.webhook({ ...arrival, ...own }))
    const answers = await Promise.all([call(), call(), call({ id: w.id() })])
    answers.push(await call(), await call({ id: w.id() }))
    expect(answers.filter(({ outcome }) => outcome === 'duplicate')).toHaveLength(2)
    expect(answers.flatMap(({ pending }) => alertsIn(pending))).toEqual(['late_payment'])
    const { events } = await w.story(answers[0]?.transactionId ?? '')
    expect(events.filter(({ type }) => type === 'AlertRaised')).toHaveLength(1)
  })

  it('causes one event for a check without a result, until the alert is acknowledged', async () => {
    const w = rivalledSetup(ALERTED)
    const { id: transactionId } = await w.charged()
    const late = T0 + 100 * HOUR
    const settle = async (now: number) => {
      const claimed = await w.ledger.claimCheck({ transactionId, now, until: now + HOUR })
      if (claimed.state !== 'claimed') throw new Error(claimed.state)
      await w.ledger.settleCheck({ asked: claimed.check.asked, now, said: 'unknown' })
      return w.deliverer.take()
    }
    const [first] = await settle(late)
    expect(alertsIn(first ? [first] : [])).toEqual(['unsettled'])
    expect(await settle(late + HOUR)).toEqual([])
    const [raised] = await w.queries.alerts({}, { limit: 9 })
    await w.ledger.acknowledge({ id: raised?.id ?? '', by: 'ada', now: late + 2 * HOUR })
    const [again] = await settle(late + 3 * HOUR)
    expect(alertsIn(again ? [again] : [])).toEqual(['unsettled'])
    expect(again?.outboxId).not.toBe(first?.outboxId)
  })

  it('is dispatched until it is accepted, or dead with another alert', async () => {
    const w = rivalledSetup(ALERTED)
    const transaction = await w.reached('Failed')
    const [event] = (await w.webhook(transaction)).pending
    const outboxId = event?.outboxId ?? ''
    const nextAttemptAt = T0 + HOUR
    const id = event?.delivery?.id ?? ''
    const listeners = { ok: false, error: 'x', nextAttemptAt }
    const delivery = { id, ok: false, nextAttemptAt }
    await w.outbox.settleDispatched([{ outboxId, listeners, delivery }], T0 + 20_000)
    const due = await w.outbox.claimPending({ now: nextAttemptAt, limit: 99 })
    expect(due.find((each) => each.outboxId === outboxId)).toMatchObject({
      type: 'AlertRaised',
      listeners: { attempts: 1 },
      delivery: { attempts: 1 },
    })
    await w.outbox.settleDispatched(
      [{ outboxId, listeners: { ok: true }, delivery: { id, ok: false } }],
      T0 + 2 * HOUR,
    )
    expect(await w.alerts()).toEqual(['delivery_dead', 'late_payment'])
    // That alert has no event, or this would go on for ever.
    expect(w.deliverer.take()).toEqual([])
  })

  it('is named by its payment while it is open, of several the most urgent, in events and answers too', async () => {
    const w = rivalledSetup(ALERTED)
    const failed = await w.reached('Failed')
    const { pending } = await w.webhook(failed, { amount: 1 })
    const alerts = await w.queries.alerts({}, { limit: 9 })
    const idOf = (kind: string) => alerts.find((alert) => alert.kind === kind)?.id ?? ''
    const named = (kind: string) => ({ alert: { id: idOf(kind), kind } })
    const paid = { status: 'Failed', paid: { amount: 1, currency: 'IQD' } }
    expect(await w.read(failed)).toMatchObject({ ...named('late_payment'), ...paid })
    for (const { payload } of pending as { payload: object }[]) {
      expect(payload).toMatchObject({ transaction: { ...named('late_payment'), ...paid } })
    }
    expect(await w.begin({ idempotencyKey: 'none' })).toMatchObject({ state: 'begun' })
    await w.ledger.acknowledge({ id: idOf('late_payment'), by: 'ada', now: T0 + HOUR })
    expect(await w.read(failed)).toMatchObject(named('amount_mismatch'))
    await w.ledger.acknowledge({ id: idOf('amount_mismatch'), by: 'ada', now: T0 + HOUR })
    expect(await w.read(failed)).not.toHaveProperty('alert')

    const other = await w.charged({ request: { reference: 'order-2' } })
    const caused = await w.webhook(other, { amount: 1 })
    const { alert } = await w.read(other)
    expect(alert).toMatchObject({ kind: 'amount_mismatch' })
    expect(caused.pending[0]).toMatchObject({
      type: 'PaymentSucceeded',
      payload: { transaction: { alert } },
    })
    const again = await w.begin({ request: { reference: 'order-2' } })
    expect(again).toMatchObject({ state: 'answered', transaction: { alert } })
    await w.outbox.settleDispatched(
      [{ outboxId: caused.pending[0]?.outboxId ?? '', listeners: { ok: false } }],
      T0 + HOUR,
    )
    expect(await w.alerts()).toContain('listener_dead')
    expect((await w.read(other)).alert).toEqual(alert)
  })

  it('is open until somebody acknowledges it, and keeps the name of the first who did', async () => {
    const w = rivalledSetup()
    const transaction = await w.reached('Expired')
    await w.webhook(transaction)
    const [alert] = await w.queries.alerts({}, { limit: 9 })
    expect(alert).toMatchObject({
      kind: 'late_payment',
      gateway: 'redirect',
      transactionId: transaction.id,
      createdAt: iso(T0 + 10_000),
    })
    expect(alert).not.toHaveProperty('acknowledgedAt')
    const id = alert?.id ?? ''
    expect(await w.ledger.acknowledge({ id: 'nobody', by: 'ada', now: T0 })).toBe(false)
    expect(await w.ledger.acknowledge({ id, by: 'ada', now: T0 + HOUR })).toBe(true)
    expect(await w.ledger.acknowledge({ id, by: 'bob', now: T0 + 2 * HOUR })).toBe(true)
    expect(await w.queries.alerts({}, { limit: 9 })).toEqual([])
    const seen = { ...alert, acknowledgedAt: iso(T0 + HOUR), acknowledgedBy: 'ada' }
    expect(await w.queries.alerts({ all: true }, { limit: 9 })).toEqual([seen])
    expect((await w.story(transaction)).alerts).toEqual([seen])
  })

  it('is open again when that is taken back within a minute, and told so once', async () => {
    const w = rivalledSetup(ALERTED)
    const transaction = await w.reached('Expired')
    await w.webhook(transaction)
    const [alert] = await w.queries.alerts({}, { limit: 9 })
    const id = alert?.id ?? ''
    const raised = async () =>
      (await w.story(transaction)).events.filter(({ type }) => type === 'AlertRaised').length
    const before = await raised()
    expect(await w.ledger.reopen({ id: 'nobody', by: 'ada', now: T0 })).toBe('unknown')
    expect(await w.ledger.reopen({ id, by: 'ada', now: T0 + HOUR })).toBe('open')
    expect(await raised()).toBe(before)
    await w.ledger.acknowledge({ id, by: 'ada', now: T0 + HOUR })
    expect((await w.read(transaction)).alert).toBeUndefined()
    expect(await w.ledger.reopen({ id, by: 'ada', now: T0 + HOUR + 60_000 })).toBe('open')
    expect(await w.ledger.reopen({ id, by: 'ada', now: T0 + HOUR + 60_000 })).toBe('open')
    const again = { ...alert, createdAt: iso(T0 + HOUR + 60_000) }
    expect(await w.queries.alerts({}, { limit: 9 })).toEqual([again])
    expect((await w.read(transaction)).alert).toEqual({ id, kind: 'late_payment' })
    expect(await raised()).toBe(before + 1)
    const { audit } = await w.story(transaction)
    expect(audit.filter(({ action }) => action === 'reopen')).toMatchObject([{ about: id }])
  })

  it('is told in its order also by a clock that is behind', async () => {
    const w = rivalledSetup(ALERTED)
    const transaction = await w.reached('Expired')
    await w.webhook(transaction)
    const [alert] = await w.queries.alerts({}, { limit: 9 })
    const id = alert?.id ?? ''
    const raisedAt = T0 + 10_000
    await w.ledger.acknowledge({ id, by: 'ada', now: raisedAt - 5_000 })
    expect(await w.ledger.reopen({ id, by: 'ada', now: raisedAt - 9_000 })).toBe('open')
    await w.ledger.acknowledge({ id, by: 'ada', now: raisedAt - 1_000 })
    const { events } = await w.story(transaction)
    const times = events.flatMap(({ payload }) => {
      const told = payload as { alert?: { createdAt: string; acknowledgedAt?: string } } | undefined
      return told?.alert ? [told.alert.acknowledgedAt ?? told.alert.createdAt] : []
    })
    const later = raisedAt + 1
    expect(times).toEqual([raisedAt, raisedAt, later, later].map(iso))
  })

  it('stays closed where the clock was set back since, and nobody knows for how long it was', async () => {
    const w = rivalledSetup()
    await w.webhook(await w.reached('Expired'))
    const [alert] = await w.queries.alerts({}, { limit: 9 })
    const id = alert?.id ?? ''
    await w.ledger.acknowledge({ id, by: 'ada', now: T0 + HOUR })
    expect(await w.ledger.reopen({ id, by: 'ada', now: T0 + HOUR / 2 })).toBe('too_late')
  })

  it('opens again about another amount of a payment that had come whole before', async () => {
    const w = rivalledSetup()
    const transaction = await w.reached('Paid')
    await w.webhook(transaction, { eventId: 'again', amount: 26_000, receivedAt: T0 + HOUR })
    const [alert] = await w.queries.alerts({}, { limit: 9 })
    expect(alert).toMatchObject({ kind: 'amount_mismatch', detail: { amount: 26_000 } })
    const id = alert?.id ?? ''
    await w.ledger.acknowledge({ id, by: 'ada', now: T0 + HOUR + 1 })
    expect(await w.ledger.reopen({ id, by: 'ada', now: T0 + HOUR + 2 })).toBe('open')
  })

  it('stays closed later', async () => {
    const w = rivalledSetup()
    const transaction = await w.reached('Expired')
    await w.webhook(transaction)
    const [alert] = await w.queries.alerts({}, { limit: 9 })
    const id = alert?.id ?? ''
    await w.ledger.acknowledge({ id, by: 'ada', now: T0 + HOUR })
    expect(await w.ledger.reopen({ id, by: 'ada', now: T0 + HOUR + 60_001 })).toBe('too_late')
    expect(await w.queries.alerts({}, { limit: 9 })).toEqual([])
  })
})
