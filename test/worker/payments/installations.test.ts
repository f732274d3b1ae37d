// Two installations on one account of each gateway: of the same orders, a restored backup, a copy.

import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { backUp, restore } from '../../../system/database/backup/backup.ts'
import { prepareSchema } from '../../../system/database/migrate.ts'
import type { GatewayUnavailableException } from '../../../worker/payments/domain/exceptions.ts'
import { newId } from '../../../worker/payments/domain/new-id.ts'
import { fib } from '../../../worker/payments/gateways/fib/fib.ts'
import type { AnyGateway } from '../../../worker/payments/gateways/gateway.ts'
import { createGuard } from '../../../worker/payments/gateways/guard.ts'
import { redirect } from '../../../worker/payments/gateways/redirect/redirect.ts'
import { stripe } from '../../../worker/payments/gateways/stripe/stripe.ts'
import { openLedger } from '../../../worker/payments/ledger/ledger.ts'
import { openThreaded } from '../../../worker/payments/ledger/libsql/threaded-libsql.ts'
import { createRefusals } from '../../../worker/payments/ledger/refused-webhooks.ts'
import { createDeliverer, subscribersOf } from '../../../worker/payments/outbox/deliver.ts'
import { createPayments, type Payments } from '../../../worker/payments/payments.ts'
import { libsqlQueries } from '../../../worker/payments/queries/queries-libsql.ts'
import { hostClock } from '../../../worker/shared/clock.ts'
import { requestHash } from '../../../worker/shared/sha256.ts'
import { RULES } from '../../support/acts.ts'
import { paymentsConfig, webhookRequest } from '../../support/payments.ts'
import { type Asked, asked } from '../../support/payments-setup.ts'
import {
  API_KEY,
  CLIENT,
  type SimulatorSetup,
  STRIPE,
  setUpSimulator,
} from '../../support/simulator.ts'
import { tempFolder } from '../../support/temp-folder.ts'

const REDIRECT = {
  api_key: API_KEY,
  scope: 'payment:read payment:write reverse:write',
  service_type: 'Delivery',
  lang: 'en',
}

let dir: string
let at: SimulatorSetup
let close: (() => Promise<void>)[]
beforeEach(async () => {
  dir = tempFolder()
  at = await setUpSimulator()
  close = []
})
afterEach(async () => {
  for (const each of close) await each()
  await at[Symbol.asyncDispose]()
})

interface Installation extends Payments, Asked {
  /** The requests that it has sent to gateways, with their bodies. */
  sent: string[]
}

/** With the database of this file, and the same accounts as all others. */
async function open(name: string): Promise<Installation> {
  const database = await openThreaded(join(dir, name))
  await prepareSchema(database)
  const client = { base_url: at.url, client_id: CLIENT.id, client_secret: CLIENT.secret }
  const of = { secret_key: STRIPE.secretKey, webhook_secret: STRIPE.webhookSecret }
  const gateways = new Map<string, AnyGateway>([
    ['redirect', redirect.create('redirect', { ...client, ...REDIRECT })],
    ['fib', fib.create('fib', client)],
    ['stripe', stripe.create('stripe', { base_url: at.url, ...of })],
  ])
  const sent: string[] = []
  const counted: typeof fetch = async (input, init) => {
    const request = new Request(input, init)
    if (!request.url.includes('token')) {
      sent.push(`${request.method} ${request.url} ${await request.clone().text()}`)
    }
    return await fetch(request)
  }
  const pending = new Set<Promise<unknown>>()
  const clock = hostClock
  const log = () => undefined
  const deliverer = createDeliverer({
    listeners: {},
    endpoint: undefined,
    clock,
    log,
    fetch: counted,
  })
  const subscribers = subscribersOf({}, undefined)
  const ledger = openLedger({
    database,
    rules: RULES,
    subscribers,
    deliver: deliverer.deliver,
    clock,
    log,
  })
  const payments = createPayments({
    config: paymentsConfig({ gateways }),
    guard: createGuard({ gateways, clock, store: new Map(), fetch, log }),
    refusals: createRefusals(clock),
    queries: libsqlQueries(database),
    ledger,
    deliverer,
    clock,
    log,
    fetch: counted,
    keepAlive: (work) => void pending.add(work),
  })
  close.push(async () => {
    await Promise.all(pending)
    await database.close()
  })
  return { ...payments, ...asked(payments), sent }
}

const DRIVERS = ['redirect', 'stripe', 'fib'] as const
type Driver = (typeof DRIVERS)[number]

const ORDER = {
  amount: 25_000,
  description: 'Two books',
  returnUrl: 'https://shop.example/back',
}

const charge = (
  on: Asked,
  gateway: Driver,
  reference = '1001',
  idempotencyKey?: string,
  more: { replace?: boolean } = {},
) =>
  on.charge(
    {
      ...ORDER,
      ...more,
      gateway,
      reference,
      currency: gateway === 'stripe' ? 'USD' : 'IQD',
    },
    idempotencyKey === undefined ? {} : { idempotencyKey },
  )

/** The installation that the requests to Stripe name. */
const namedBy = ({ sent }: Installation): string[] =>
  sent.flatMap(
    (line) => new URLSearchParams(line.split(' ')[2]).get('metadata[installation]') ?? [],
  )

describe.each(DRIVERS)('two installations on one account of %s', (driver) => {
  it.each([undefined, 'key-1'])('charge the same order, key %s: two payments', async (key) => {
    const [production, staging] = [await open('production.db'), await open('staging.db')]
    const one = await charge(production, driver, '1001', key)
    const other = await charge(staging, driver, '1001', key)
    expect(one.gatewayTransactionId).toBeDefined()
    expect(other.gatewayTransactionId).toBeDefined()
    expect(other.gatewayTransactionId).not.toBe(one.gatewayTransactionId)
    const again = await charge(production, driver, '1001', key)
    expect(again.gatewayTransactionId).toBe(one.gatewayTransactionId)
  })

  it('of which one is a copy of the other share no payment, and a copy leaves open ones alone', async () => {
    const production = await open('production.db')
    const before = await charge(production, driver, 'open', 'key-open')
    await backUp({ file: join(dir, 'production.db') }, join(dir, 'backup'), { overwrites: false })
    const lost = await charge(production, driver)
    await restore(join(dir, 'backup'), { file: join(dir, 'copy.db') }, Date.now(), { asCopy: true })
    const copy = await open('copy.db')
    for (const [reference, theirs, key] of [
      ['1001', lost],
      ['open', before, 'key-open'],
    ] as const) {
      const ours = await charge(copy, driver, reference, key)
      expect(ours.gatewayTransactionId).toBeDefined()
      expect(ours.gatewayTransactionId).not.toBe(theirs.gatewayTransactionId)
    }
    const { length } = copy.sent
    const ids = { gatewayTransactionId: before.gatewayTransactionId ?? '' }
    await copy.ledger.checkSoon({ gateway: driver, ids, now: Date.now() })
    expect(await copy.sweeper.sweep()).toMatchObject({ isIdle: false, checked: 0, failed: 0 })
    expect(await copy.sweeper.sweep()).toMatchObject({ isIdle: true })
    await expect(copy.checkNow(before.transactionId)).rejects.toThrow('this database is a copy')
    expect(copy.sent).toHaveLength(length)
  })
})

it.each([{}, { replace: true }])(
  'a copy neither sends nor cancels a charge of which the other installation has lost the answer, %j',
  async (more) => {
    const production = await open('production.db')
    // As a backup finds it that is made between the call and its answer.
    const request = { ...ORDER, gateway: 'stripe', reference: 'lost', currency: 'USD' }
    const begun = await production.ledger.beginCharge({
      id: newId(Date.now()),
      request,
      mayCall: true,
      idempotencyKey: 'key-lost',
      requestHash: await requestHash(request),
      chargeRepeatableForMs: Number.MAX_SAFE_INTEGER,
      now: Date.now() - 600_000,
      until: Date.now() - 500_000,
    })
    if (begun.state !== 'begun') throw new Error(begun.state)
    await backUp({ file: join(dir, 'production.db') }, join(dir, 'backup'), { overwrites: false })
    await restore(join(dir, 'backup'), { file: join(dir, 'copy.db') }, Date.now(), { asCopy: true })
    const copy = await open('copy.db')
    const ours = await charge(copy, 'stripe', 'lost', 'key-lost', more)
    expect(ours.transactionId).not.toBe(begun.transaction.id)
    const theirs = String(begun.transaction.external_reference_id)
    expect(copy.sent.filter((line) => line.includes(theirs))).toEqual([])
    expect(await copy.queries.byId(begun.transaction.id)).toMatchObject({ status: 'Pending' })
    // And the key is that of our charge from now on.
    expect((await charge(copy, 'stripe', 'lost', 'key-lost', more)).transactionId).toBe(
      ours.transactionId,
    )
  },
)

it('a copy refuses to refund what the other installation was paid', async () => {
  const production = await open('production.db')
  const { gatewayTransactionId: id = '', transactionId } = await charge(production, 'stripe')
  await at.act(id, 'pay')
  const [body = ''] = await at.merchant.got(1)
  const [headers = {}] = at.merchant.headers
  const signature = { 'stripe-signature': String(headers['stripe-signature']) }
  const request = webhookRequest(body, Date.now(), signature)
  expect(await production.receive('stripe', request, 'c')).toMatchObject({ body: 'ok' })
  await backUp({ file: join(dir, 'production.db') }, join(dir, 'backup'), { overwrites: false })
  await restore(join(dir, 'backup'), { file: join(dir, 'copy.db') }, Date.now(), { asCopy: true })
  const copy = await open('copy.db')
  const refund = { transactionId, amount: 25_000, reason: 'returned' }
  await expect(copy.refund('stripe', refund)).rejects.toMatchObject({ code: 'invalid_argument' })
  expect(copy.sent).toEqual([])
  expect(await production.refund('stripe', refund)).toMatchObject({ success: true })
})

describe.each(['redirect', 'stripe'] as const)('a restored backup, at %s', (driver) => {
  it('that charges the lost order again gets the same payment', async () => {
    const production = await open('production.db')
    await charge(production, driver, 'before')
    await backUp({ file: join(dir, 'production.db') }, join(dir, 'backup'), { overwrites: false })
    const lost = [await charge(production, driver), await charge(production, driver, '2', 'key-2')]
    await restore(join(dir, 'backup'), { file: join(dir, 'restored.db') }, Date.now())
    const restored = await open('restored.db')
    // This gateway finds the payment, and does not repeat its page.
    const found = ({ cause }: { cause?: unknown }) => cause as GatewayUnavailableException
    const again = [
      await charge(restored, driver).catch(found),
      await charge(restored, driver, '2', 'key-2').catch(found),
    ]
    const ids = (of: typeof again) => of.map(({ gatewayTransactionId: id }) => id)
    expect(ids(again)).toEqual(ids(lost))
    expect(new Set([...namedBy(production), ...namedBy(restored)]).size).toBe(
      driver === 'stripe' ? 1 : 0,
    )
  })
})

it('an event of Stripe about another installation’s payment is ignored, and ours is not', async () => {
  const [production, staging] = [await open('production.db'), await open('staging.db')]
  const { gatewayTransactionId: id = '' } = await charge(production, 'stripe')
  await at.act(id, 'pay')
  const [body = ''] = await at.merchant.got(1)
  const [headers = {}] = at.merchant.headers
  const signature = { 'stripe-signature': String(headers['stripe-signature']) }
  const request = () => webhookRequest(body, Date.now(), signature)
  expect(await staging.receive('stripe', request(), 'c')).toEqual({ status: 200, body: 'ignored' })
  expect(await staging.queries.webhookEvents({}, { limit: 9 })).toEqual([])
  expect(await production.receive('stripe', request(), 'c')).toEqual({ status: 200, body: 'ok' })
  expect(await production.queries.webhookEvents({}, { limit: 9 })).toHaveLength(1)
})
