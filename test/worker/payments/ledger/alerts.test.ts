// Alerts in the ledger: each is one event, durable like the others.

import { describe, expect, it } from 'vitest'
import { ALERTED, type DispatchedEvent } from '../../../support/ledger-fakes.ts'
import { HOUR, iso, T0 } from '../../../support/ledger-setup.ts'
import { rivalledSetup } from './memory-ledger.ts'

/** The alerts of these events, by their kind. */
const alertsIn = (pending: readonly DispatchedEvent[]) =>
  pending.flatMap((event) => ('alert' in event.payload ? [event.payload.alert.kind] : []))

describe('an alert', () => {
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
      await w.ledger.settleCheck({ asked: claimed.check.asked, now, noAnswer: 'unknown' })
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
