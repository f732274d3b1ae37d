// A database of the first schema after its upgrade, with today's ledger: every payment continues.

import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { prepareDatabase } from '../../../local/libsql-server.ts'
import type { PaymentsConfig } from '../../../worker/payments/config.ts'
import type { VerifiedWebhook } from '../../../worker/payments/domain/payload.ts'
import type { Transaction } from '../../../worker/payments/domain/transaction.ts'
import type { AnyGateway } from '../../../worker/payments/gateways/gateway.ts'
import { openLibsqlLedger } from '../../../worker/payments/ledger/libsql/open-ledger-libsql.ts'
import { paymentsMetrics } from '../../../worker/payments/metrics.ts'
import { createDispatcher } from '../../../worker/payments/outbox/dispatcher.ts'
import { createPayments, type Payments } from '../../../worker/payments/payments.ts'
import { libsqlQueries } from '../../../worker/payments/queries/queries-libsql.ts'
import { hostClock } from '../../../worker/shared/clock.ts'
import { Metrics } from '../../../worker/shared/metrics.ts'
import { EventReceiver } from '../../support/event-receiver.ts'
import { type LibsqlServer, startLibsql } from '../../support/libsql.ts'

const SECRET = `whsec_${btoa('a-secret-of-the-host-application')}`
/** A minute after the fixture's last row: nothing in it is old. */
const BEGUN_AT = Date.parse('2026-11-22T07:27:00Z')
const startedAt = Date.now()
const clock = { ...hostClock, now: () => BEGUN_AT + Date.now() - startedAt }

let libsql: LibsqlServer
let payments: Payments
const receiver = new EventReceiver(SECRET)
/** By an order's reference: the gateway's id of the payment. Default: made from our own id. */
const named = new Map<string, string>()

beforeAll(async () => {
  await receiver.listen()
  const fixture = readFileSync('test/fixtures/payments-schema-1.sql', 'utf8')
  const older = fixture.replaceAll('https://shop.test/events', receiver.url)
  libsql = await startLibsql({ older })
  await prepareDatabase(libsql, process.cwd(), { signal: AbortSignal.timeout(60_000) })
  const gateways = new Map(['redirect', 'fib', 'stripe'].map((key) => [key, gatewayOf(key)]))
  const config: PaymentsConfig = {
    gateways,
    accounts: new Map(),
    routePrefix: 'payments/webhooks',
    middleware: [],
    toleranceMs: 300_000,
    onMismatch: 'log',
    references: 'shared',
    listeners: {},
    endpoint: { url: receiver.url, secrets: [SECRET] },
    database: { url: libsql.url, authToken: libsql.token },
    publicUrl: undefined,
    ledgerLocation: undefined,
  }
  const metrics = paymentsMetrics(new Metrics(), [...gateways.keys()])
  const host = { clock, log: () => undefined, fetch, metrics }
  const dispatcher = createDispatcher({ ...config, ...host })
  payments = createPayments({
    config,
    ledger: openLibsqlLedger({
      ...{ config, database: libsql.database, breakers: new Map(), ...host },
      dispatch: (pending) => dispatcher.dispatch(pending),
    }),
    dispatcher,
    queries: libsqlQueries(libsql.database),
    keepAlive: (work) => void work.catch(() => undefined),
    ...host,
  })
}, 60_000)
afterAll(async () => {
  await libsql.stop()
  receiver.close()
})

/** Accepts every charge and refund. A test decides what a webhook contains. */
const gatewayOf = (key: string): AnyGateway => ({
  key,
  privateFields: [],
  echoedFields: [],
  currencies: 'any',
  chargeIsIdempotent: key !== 'fib',
  refunds: key === 'stripe' ? 'partial' : 'full',
  charge: async ({ reference, externalReferenceId }) => ({
    ok: true,
    gatewayTransactionId: named.get(reference) ?? `gateway-${externalReferenceId}`,
    redirectUrl: 'https://bank.example/pay',
  }),
  refund: async () => ({ ok: true, isDone: true, gatewayRefundId: 'back-1' }),
  checkStatus: async () => ({ known: false }),
  handleWebhook: async ({ body }) => JSON.parse(body) as VerifiedWebhook,
})

/** The newest attempt. */
async function read(reference: string): Promise<Transaction> {
  const [found] = await payments.queries.transactions({ reference }, { limit: 1 })
  if (!found || 'invalid' in found) throw new Error(`there is no ${reference}`)
  return found
}

async function tell(of: Transaction, own: Partial<VerifiedWebhook> = {}): Promise<string> {
  const webhook: VerifiedWebhook = {
    gateway: of.gateway,
    gatewayTransactionId: of.gatewayTransactionId ?? '',
    reference: of.reference,
    status: 'Paid',
    amount: of.amount,
    currency: of.currency,
    eventId: crypto.randomUUID(),
    occurredAt: clock.now(),
    ...own,
  }
  const body = JSON.stringify(webhook)
  const request = { headers: new Headers(), query: new URLSearchParams(), body, receivedAt: 0 }
  return (await payments.receive(of.gateway, request, 'correlation')).body
}

/** The host application got this event of the payment. */
const isTold = (of: Transaction, type: string) =>
  expect.poll(() => receiver.typesOf(of.id)).toContain(type)

const ask = ({ gateway, reference, amount, currency }: Transaction, description = reference) => ({
  ...{ gateway, reference, amount, currency, description },
})

describe('after the upgrade', () => {
  it.each(['pending', 'without-page', 'fib-pending', 'stripe-pending', 'rejected'])(
    'the charge %s is paid by its webhook, once, with an event',
    async (reference) => {
      const open = await read(reference)
      const event = { eventId: `paid-${reference}` }
      expect([await tell(open, event), await tell(open, event)]).toEqual(['ok', 'duplicate'])
      const { amount, currency } = open
      expect(await read(reference)).toMatchObject({ status: 'Paid', paid: { amount, currency } })
      await isTold(open, 'PaymentSucceeded')
    },
  )

  it('a webhook that was received before the upgrade is a duplicate', async () => {
    const paid = await read('paid')
    const story = await payments.queries.story(paid.id, Date.now())
    const [event] = story?.webhookEvents ?? []
    if (!event || 'invalid' in event) throw new Error('it has no event')
    expect(await tell(paid, { eventId: event.eventId })).toBe('duplicate')
  })

  it('a repeated charge is the same, although its hash has no phone any more', async () => {
    const { id } = await read('delivery-pending')
    const request = {
      ...ask(await read('delivery-pending'), 'Lamp of delivery-pending'),
      customerPhone: '9647800000001',
    }
    expect(await payments.chargeOrFind(request)).toMatchObject({
      isNew: false,
      response: { transactionId: id, redirectUrl: expect.any(String) },
    })
    const withPhone = {
      ...ask(await read('pending'), 'Lamp of pending'),
      returnUrl: 'https://shop.test/thanks',
      customerPhone: '9647801234567',
      metadata: { service_type: 'Books' },
    }
    const found = await payments.chargeOrFind(withPhone, { idempotencyKey: 'key-of-pending' })
    expect(found).toMatchObject({ isNew: false, response: { reference: 'pending' } })
  })

  it.each(['failed', 'fib-cancelled', 'expired'])(
    'the order %s can be paid again',
    async (order) => {
      const before = await read(order)
      const { isNew } = await payments.chargeOrFind(ask(before, 'another lamp'))
      expect(isNew).toBe(true)
      const again = await read(order)
      expect(again).toMatchObject({ status: 'Pending', attempt: 2 })
      expect(again.externalReferenceId).not.toBe(before.externalReferenceId)
    },
  )

  it.each([
    ['paid', 25_000],
    ['fib-paid', 25_000],
    ['underpaid', 20_000],
    ['overpaid', 30_000],
    ['paid-at-second-attempt', 25_000],
    ['refund-refused', 25_000],
  ])('the payment %s is refunded with what was paid: %i', async (reference, paid) => {
    const { gateway, id, amount } = await read(reference)
    const request = { transactionId: id, amount, reason: 'Broken' }
    const refund = await payments.refund(gateway, request, { correlationId: 'c' })
    expect(refund).toMatchObject({ success: true, refundedAmount: paid })
    const refunded = await read(reference)
    expect(refunded).toMatchObject({ status: 'Refunded', refundedAmount: paid })
    await isTold(refunded, 'PaymentRefunded')
  })

  it('the rest of a partly refunded payment is refunded', async () => {
    const { gateway, id } = await read('stripe-partly-refunded')
    const request = { transactionId: id, amount: 1_500, reason: 'Broken' }
    await payments.refund(gateway, request, { correlationId: 'c' })
    const whole = { status: 'Refunded', refundedAmount: 2_500 }
    expect(await read('stripe-partly-refunded')).toMatchObject(whole)
  })

  it.each([
    ['fib-refund-accepted', 25_000],
    ['fib-underpaid-refund-accepted', 20_000],
    ['refund-unanswered', 25_000],
  ])(
    'the refund of %s, which was under way, is completed by its webhook',
    async (reference, paid) => {
      const open = await read(reference)
      expect(await tell(open, { status: 'Refunded', amount: paid })).toBe('ok')
      expect(await read(reference)).toMatchObject({ status: 'Refunded', refundedAmount: paid })
      const story = await payments.queries.story(open.id, Date.now())
      expect(story?.refunds).toMatchObject([{ status: 'succeeded' }])
      await isTold(open, 'PaymentRefunded')
    },
  )

  it('a parked event is applied when its payment is charged', async () => {
    named.set('parked-before-its-charge', await parkedName('parked-before-its-charge'))
    await payments.chargeOrFind({
      ...{ gateway: 'redirect', reference: 'parked-before-its-charge' },
      ...{ amount: 25_000, currency: 'IQD', description: 'Lamp' },
    })
    const paid = await read('parked-before-its-charge')
    expect(paid).toMatchObject({ status: 'Paid', paid: { amount: 25_000, currency: 'IQD' } })
    await isTold(paid, 'PaymentSucceeded')
  })

  it('a charge without an answer is found, and its parked event is applied', async () => {
    const open = await read('unanswered')
    named.set('unanswered', await parkedName('unanswered-by-another-name'))
    await makeDue(open)
    await payments.sweeper.sweep()
    expect(await read('unanswered')).toMatchObject({
      id: open.id,
      status: 'Paid',
      gatewayTransactionId: named.get('unanswered'),
    })
    await isTold(open, 'PaymentSucceeded')
  })

  it('events whose edge was killed are delivered, and those that were refused, too', async () => {
    for (const reference of ['killed-while-delivering', 'killed-while-charging']) {
      await makeDue(await read(reference))
    }
    await makeDue(await read('delivery-pending'))
    await payments.sweeper.sweep()
    await isTold(await read('killed-while-delivering'), 'PaymentSucceeded')
    await isTold(await read('killed-while-charging'), 'PaymentInitiated')
    await isTold(await read('delivery-pending'), 'PaymentInitiated')
  })

  it.each(['delivery-dead', 'delivery-dead-seen'])(
    'the dead deliveries of %s arrive when a person sends them again',
    async (reference) => {
      const { id } = await read(reference)
      const story = await payments.queries.story(id, Date.now())
      const events = story?.events.flatMap((event) => ('invalid' in event ? [] : [event])) ?? []
      const deliveries = events.flatMap((event) => event.deliveries)
      expect(deliveries.map((delivery) => delivery.status)).toEqual(deliveries.map(() => 'dead'))
      for (const delivery of deliveries) {
        expect(await payments.ledger.redeliver(delivery.id, clock.now())).toBe(true)
      }
      await payments.sweeper.sweep()
      // In any order: the dispatcher sends them at the same time.
      const taken = () => receiver.typesOf(id).toSorted(compare)
      await expect.poll(taken).toEqual(events.map(({ type }) => type).toSorted(compare))
    },
  )

  it('a payment that an old edge set to Paid counts as paid with the requested amount', async () => {
    const { id } = await read('paid-then-failed')
    const forget = 'SET paid_amount = NULL, paid_currency = NULL WHERE id = :id'
    await libsql.query(`UPDATE payment_transactions ${forget}`, { id })
    const asked = { amount: 25_000, currency: 'IQD' }
    expect(await read('paid-then-failed')).toMatchObject({ status: 'Paid', paid: asked })
    const request = { transactionId: id, amount: 25_000, reason: 'Broken' }
    const refund = await payments.refund('redirect', request, { correlationId: 'c' })
    expect(refund).toMatchObject({ success: true, refundedAmount: 25_000 })
  })

  it('open alerts can be acknowledged, and others were acknowledged before', async () => {
    const open = await payments.queries.alerts({}, { limit: 100 })
    const all = await payments.queries.alerts({ all: true }, { limit: 100 })
    expect(all.length - open.length).toBe(2)
    for (const { id } of open) {
      expect(await payments.ledger.acknowledge(id, 'somebody', clock.now())).toBe(true)
    }
    expect(await payments.queries.alerts({}, { limit: 100 })).toEqual([])
  })
})

const compare = (a: string, b: string) => a.localeCompare(b)

async function parkedName(reference: string): Promise<string> {
  const [row] = await libsql.query(
    `SELECT gateway_transaction_id AS name FROM payment_webhook_events
      WHERE outcome = 'parked' AND reference = :reference`,
    { reference },
  )
  return String(row?.name)
}

/** Makes checks and deliveries due now, and ends the leases of killed edges. */
async function makeDue({ id }: Transaction): Promise<void> {
  for (const sql of [
    `UPDATE payment_transactions SET next_check_at = 0, called_until = NULL WHERE id = :id`,
    `UPDATE payment_outbox SET next_attempt_at = 0, leased_until = NULL WHERE transaction_id = :id`,
    `UPDATE payment_deliveries SET next_attempt_at = 0, leased_until = NULL
      WHERE outbox_id IN (SELECT id FROM payment_outbox WHERE transaction_id = :id)`,
  ]) {
    await libsql.query(sql, { id })
  }
}
