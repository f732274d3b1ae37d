// What is counted about payments.

import { expect, it } from 'vitest'
import { settle } from '../../../libraries/testing/fake-clock.ts'
import { ORDER, meteredPayments as setUp } from './metered-payments.ts'

it('Webhooks are counted by their outcome, groups by size, and alerts by kind', async () => {
  const { clock, charge, webhook, values } = setUp()
  await charge()
  expect(await webhook({ amount: 400 })).toBe('ok')
  expect(await webhook({ amount: 400 })).toBe('duplicate')
  expect(await webhook('forged')).toBe('invalid')
  expect(await webhook({ eventId: 'old', occurredAt: clock.now() - 3_600_000 })).toBe('stale')
  expect(await webhook({ eventId: 'e-2', gatewayTransactionId: 'g-2', reference: '?' })).toBe('ok')
  await settle()
  const counted = values()
  expect(counted).toMatchObject({
    'webhooks_total{gateway="bank",outcome="applied"}': 1,
    'webhooks_total{gateway="bank",outcome="duplicate"}': 1,
    'webhooks_total{gateway="bank",outcome="invalid"}': 1,
    'webhooks_total{gateway="bank",outcome="stale"}': 1,
    'webhooks_total{gateway="bank",outcome="parked"}': 1,
    webhook_seconds_count: 5,
    'alerts_raised_total{kind="amount_mismatch"}': 1,
    'gateway_calls_total{gateway="bank",verdict="success"}': 1,
    'deliveries_total{subscriber="listeners",outcome="failed"}': 1,
  })
  expect(counted.ledger_group_operations_count).toBe(counted.ledger_group_seconds_count)
  expect(counted.ledger_group_operations_sum).toBeGreaterThan(4)
})

it('A sweep shows what of it failed, until one does not, and whether there are payments', async () => {
  const { payments, charge, away, values } = setUp()
  await payments.sweeper.look()
  expect(values()).not.toHaveProperty('has_payments')
  await charge()
  await payments.sweeper.sweep()
  expect(values()).toMatchObject({ has_payments: 1 })
  away(true)
  await payments.sweeper.sweep()
  expect(values()).toMatchObject({ has_payments: 1, sweep_failures: 1 })
  away(false)
  await payments.sweeper.sweep()
  expect(values()).not.toHaveProperty('sweep_failures')
})

it('A sweep shows how old the outbox is, and which alerts are open', async () => {
  const { clock, charge, webhook, payments, take, values } = setUp()
  await charge()
  await webhook({ amount: 400 })
  await settle()
  await clock.advance(120_000)
  await payments.sweeper.sweep()
  expect(values()).toMatchObject({
    'outbox_events{subscriber="listeners"}': 1,
    'outbox_oldest_seconds{subscriber="listeners"}': 120,
    'alerts_open{kind="amount_mismatch"}': 1,
  })
  take()
  await clock.advance(3_600_000)
  await payments.sweeper.sweep()
  await settle()
  await payments.sweeper.sweep()
  expect(values()).not.toHaveProperty(['outbox_events{subscriber="listeners"}'])
  expect(values()).not.toHaveProperty(['outbox_oldest_seconds{subscriber="listeners"}'])
  expect(values()).toMatchObject({
    'deliveries_total{subscriber="listeners",outcome="delivered"}': 1,
  })
})

it('A circuit is open until a call succeeds', async () => {
  const { clock, payments, fetched, values } = setUp()
  const circuit = 'gateway_circuit_open{gateway="bank",kind="charge"}'
  fetched.status = 503
  for (let n = 0; n < 5; n++) {
    const order = { ...ORDER, reference: `order-${n}`, description: 'A lamp' }
    await payments.charge(order).catch(() => undefined)
  }
  expect(values()).toMatchObject({
    [circuit]: 1,
    'gateway_calls_total{gateway="bank",verdict="failure"}': 5,
  })
  fetched.status = 200
  await clock.advance(31_000)
  await payments.charge({ ...ORDER, reference: 'order-9', description: 'A lamp' })
  expect(values()).not.toHaveProperty([circuit])
})

it('Reading the numbers makes no call, and reads no database', async () => {
  const { charge, calls, values } = setUp()
  await charge()
  await settle()
  const before = calls()
  expect(before).toBeGreaterThan(0)
  for (let n = 0; n < 3; n++) values()
  await settle()
  expect(calls()).toBe(before)
})
