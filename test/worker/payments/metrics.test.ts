// What is counted about payments, over the ledger on SQLite as hosts wire it.

import { expect, it } from 'vitest'
import { FakeClock, settle } from '../../../libraries/testing/fake-clock.ts'
import { InvalidWebhookSignatureException } from '../../../worker/payments/domain/exceptions.ts'
import type { VerifiedWebhook } from '../../../worker/payments/domain/types.ts'
import { createGuard } from '../../../worker/payments/gateways/guard.ts'
import { createRefusals } from '../../../worker/payments/gateways/refusals.ts'
import { openLedger } from '../../../worker/payments/ledger/libsql/open-ledger-libsql.ts'
import { countingLog } from '../../../worker/payments/metrics.ts'
import { createDeliverer } from '../../../worker/payments/outbox/deliver.ts'
import { subscribersOf } from '../../../worker/payments/outbox/subscribers.ts'
import { createPayments } from '../../../worker/payments/payments.ts'
import { libsqlQueries } from '../../../worker/payments/queries/queries-libsql.ts'
import { Metrics } from '../../../worker/shared/metrics.ts'
import { metricsText } from '../../../worker/shared/metrics-node.ts'
import { paymentsConfig, webhookRequest } from '../../support/payments.ts'
import { sqliteDatabase } from '../../support/sqlite-database.ts'

const ORDER = { gateway: 'bank', reference: 'order-1', amount: 500, currency: 'IQD' }

function setUp() {
  const clock = new FakeClock()
  const all = new Metrics()
  let calls = 0
  const own = sqliteDatabase()
  const database: typeof own = {
    ...own,
    read: (...given) => {
      calls++
      return own.read(...given)
    },
    write: (...given) => {
      calls++
      return own.write(...given)
    },
  }
  let isTaken = false
  const config = paymentsConfig({
    gateways: new Map([
      [
        'bank',
        {
          key: 'bank',
          privateFields: [],
          echoedFields: [],
          currencies: 'any' as const,
          chargeRepeatableForMs: 0,
          async charge(_, call) {
            await call.send({
              endpoint: 'pay',
              method: 'GET',
              url: 'http://bank.example/',
              isIdempotent: false,
            })
            return { ok: true, gatewayTransactionId: 'g-1', redirectUrl: 'https://bank.example/1' }
          },
          async handleWebhook({ body }) {
            if (body === 'forged') throw new InvalidWebhookSignatureException('forged')
            return JSON.parse(body) as VerifiedWebhook
          },
        },
      ],
    ]),
    listeners: {
      PaymentSucceeded: () => (isTaken ? undefined : Promise.reject(new Error('busy'))),
    },
  })
  const fetched = { status: 200 }
  const fetch = () => {
    calls++
    return Promise.resolve(Response.json({}, fetched))
  }
  const host = { clock, log: countingLog(all, ['bank'], () => undefined), fetch }
  const deliverer = createDeliverer({ ...config, ...host })
  const { gateways, listeners, endpoint } = config
  const subscribers = subscribersOf(listeners, endpoint)
  const payments = createPayments({
    config,
    ledger: openLedger({ database, subscribers, deliver: deliverer.deliver, ...host }),
    guard: createGuard({ gateways, store: new Map(), ...host }),
    refusals: createRefusals(clock),
    deliverer,
    queries: libsqlQueries(database),
    keepAlive: () => undefined,
    ...host,
  })
  const webhook = async (own: Partial<VerifiedWebhook> | 'forged') => {
    const event = { ...ORDER, gatewayTransactionId: 'g-1', eventId: 'e-1', status: 'Paid' }
    const payload = { ...event, occurredAt: clock.now(), raw: {}, ...(own === 'forged' ? {} : own) }
    const body = own === 'forged' ? own : JSON.stringify(payload)
    return (await payments.receive('bank', webhookRequest(body, 0), 'correlation')).body
  }
  const charge = () => payments.charge({ ...ORDER, description: 'A lamp' })
  return {
    clock,
    payments,
    webhook,
    charge,
    fetched,
    take: () => {
      isTaken = true
    },
    calls: () => calls,
    /** The values that are not 0. */
    values: () =>
      Object.fromEntries(
        metricsText(all)
          .split('\n')
          .filter((line) => line !== '' && !line.startsWith('#') && !line.includes('_bucket'))
          .map((line) => [line.slice(10, line.lastIndexOf(' ')), Number(line.split(' ').at(-1))])
          .filter(([, value]) => value !== 0),
      ) as Record<string, number>,
  }
}

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
