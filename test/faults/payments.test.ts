// Payments under faults that `npm run prove` does not have, or has only by chance: the Worker dies
// between a commit and its events, clients disconnect, the database is away for seconds, and a
// circuit is open when the edge starts again.

import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { atATime } from '../support/at-a-time.ts'
import { PATIENT } from '../support/patience.ts'
import {
  endLeases,
  once,
  type Seeded,
  seed,
  send,
  signed,
  stored,
  undelivered,
} from '../support/payment-faults.ts'
import { freshReference, order, PaymentSystem } from '../support/payment-system.ts'
import { Tap } from '../support/tap.ts'

let system: PaymentSystem
beforeAll(async () => {
  system = await PaymentSystem.start({ host: 'workerd' })
})
afterAll(() => system[Symbol.asyncDispose]())

it.each([
  ['PaymentSucceeded', 'Pending', 'Paid'],
  // Paid after all: a late payment.
  ['AlertRaised', 'Failed', 'Failed'],
])(
  'the sweeper delivers %s of an edge killed after the commit, and the retry is a duplicate',
  async (type, before, after) => {
    const tap = await Tap.before(system.receiver.url)
    const edge = await system.anotherEdge({ PAYMENT_EVENTS_URL: `${tap.url}/events` })
    const [payment] = await seed(system.database, 1)
    if (!payment) throw new Error('nothing was seeded')
    const { id } = payment
    const put = 'UPDATE payment_transactions SET status = :before WHERE id = :id'
    await system.database.query(put, { id, before })
    const callback = await signed(payment)
    tap.holds = ({ body }) => body.includes(`"${type}"`)
    expect(await send(edge, callback)).toMatchObject({ status: 200, word: 'ok' })
    const held = () => tap.seen.filter(({ isHeld }) => isHeld)
    await expect.poll(() => held().length, PATIENT).toBe(1)
    await edge.crash()
    tap.holds = () => false
    const received = () => system.receiver.events.filter((it) => it.data.transaction?.id === id)
    expect(received()).toEqual([])

    expect(await send(edge, callback)).toMatchObject({ status: 200, word: 'duplicate' })
    // The edge that has the lease may still be alive.
    expect(await system.sweep(edge)).toMatchObject({ delivered: 0, undelivered: 0 })
    await endLeases(system.database)
    expect(await system.sweep(edge)).toMatchObject({ delivered: 1, undelivered: 0, failed: 0 })
    const [event, ...more] = received()
    expect(more).toEqual([])
    expect(event).toMatchObject({ type, status: 204 })
    expect(event?.forged).toBeUndefined()
    // A receiver that got it before the crash recognises it by this id.
    expect(event?.id).toBe(held()[0]?.headers.get('webhook-id'))

    await endLeases(system.database)
    expect(await system.sweep(edge)).toMatchObject({ delivered: 0 })
    const { status, events, webhookEvents, alerts } = await system.story(id)
    expect(status).toBe(after)
    if (event?.data.alert) expect(alerts).toEqual([event.data.alert])
    expect(webhookEvents).toHaveLength(1)
    expect(events).toMatchObject([{ type, deliveries: [{ status: 'delivered' }] }])
    await tap.close()
  },
)

const signedAll = (payments: Seeded[]) => atATime(8, payments, (payment) => signed(payment))

/** The event of each is delivered, by the edge that recorded it or by the sweeper. */
async function expectAllDelivered(payments: Seeded[]): Promise<void> {
  await expect
    .poll(async () => {
      await endLeases(system.database)
      await system.sweep()
      return undelivered(system, payments)
    }, PATIENT)
    .toEqual([])
}

/** All at once. `goes`: its client disconnects, and sends again when the others are answered. */
async function sentWithLeavers(payments: Seeded[], stepMs: number) {
  const callbacks = await signedAll(payments)
  // The first ones lead the calls, and they go as well.
  const goes = (at: number) => at < 3 || at % 4 === 0
  const answers = await Promise.all(
    callbacks.map(async (callback, at) => {
      if (!goes(at)) return await send(system.edge, callback)
      const abort = new AbortController()
      const { signal } = abort
      const init = { method: 'POST', ...callback, signal }
      const gone = system.edge.fetch('/payments/webhooks/redirect', init)
      // At every stage, from the first byte to the answer.
      const leaving = sleep((at % 40) * stepMs).then(() => abort.abort())
      await Promise.allSettled([gone, leaving])
      return undefined
    }),
  )
  // Their gateways got no answer, so they send again.
  const again = await atATime(
    8,
    callbacks.filter((_, at) => goes(at)),
    (callback) => send(system.edge, callback),
  )
  return { answered: answers.filter((answer) => answer !== undefined), again }
}

it('300 at once, some with clients that disconnect, are each applied once and answered', async () => {
  const all: Seeded[] = []
  const words = new Set<string>()
  // Until some are recorded before their client disconnects, for which a busy edge needs longer.
  for (let stepMs = 5; !words.has('duplicate') && stepMs < 200; stepMs *= 2) {
    const payments = await seed(system.database, 300)
    all.push(...payments)
    const { answered, again } = await sentWithLeavers(payments, stepMs)
    expect(answered.length).toBeGreaterThan(200)
    expect(answered.map(({ status, word }) => `${status} ${word}`)).toEqual(
      answered.map(() => '200 ok'),
    )
    expect(again.map(({ status }) => status)).toEqual(again.map(() => 200))
    for (const { word } of again) words.add(word)
  }
  expect([...words]).toContain('duplicate')
  expect(await stored(system.database, all)).toEqual(once(all))
  await expectAllDelivered(all)
  expect(await system.log()).not.toMatch(/hung|not_recorded|Uncaught|background_failed/)
})

it('a long wait for the database ends with each webhook answered, applied once and delivered', async () => {
  const payments = await seed(system.database, 150)
  const callbacks = await signedAll(payments)
  await system.database.process?.kill()
  const sent = Promise.all(callbacks.map((callback) => send(system.edge, callback)))
  // With growing pauses: they have waited for seconds by then.
  const retried = /payments\.ledger\.retry.*"failures":7\b/
  await expect.poll(() => system.log(), PATIENT).toMatch(retried)
  await system.database.process?.start()
  const answers = await sent
  expect(new Set(answers.map(({ status, word }) => `${status} ${word}`))).toEqual(
    new Set(['200 ok']),
  )
  expect(await stored(system.database, payments)).toEqual(once(payments))
  await expect.poll(() => undelivered(system, payments), PATIENT).toEqual([])
  // One event for each. A busy machine may answer it too late, and then gets it again.
  const eventsOf = ({ id }: Seeded) => new Set(system.receiver.of(id).map((event) => event.id)).size
  expect(payments.map(eventsOf)).toEqual(payments.map(() => 1))
})

// Last, because the gateway stays out for 30 s.
it('a circuit that five failures opened is still open after a restart, and refuses the sweeper', async () => {
  const { simulator } = system
  const charge = async (reference: string, gateway = 'redirect') => {
    const response = await system.post('/charges', order({ reference, gateway }))
    const { code } = (await response.json()) as { code?: string }
    return { status: response.status, code, retryAfter: response.headers.get('Retry-After') }
  }
  const out = {
    status: 503,
    code: 'gateway_unavailable',
    retryAfter: expect.stringMatching(/^\d+$/),
  }
  const references = Array.from({ length: 5 }, freshReference)
  for (const reference of references) await simulator.faults(reference, { outage: 502 })
  const answers = await Promise.all(references.map((reference) => charge(reference)))
  expect(answers).toEqual(references.map(() => out))
  const opened = () => system.receiver.events.filter(({ type }) => type === 'CircuitOpened')
  await vi.waitUntil(() => opened().length > 0, PATIENT)
  expect(opened()).toHaveLength(1)
  const rows = await system.rows()
  for (const restart of [() => Promise.resolve(), () => system.edge.crash()]) {
    await restart()
    const reference = freshReference()
    expect(await charge(reference)).toEqual(out)
    expect(await simulator.payments(reference)).toEqual([])
  }
  expect(await system.rows()).toEqual(rows)
  // Another gateway has its own circuit, and webhooks of this one are accepted.
  expect((await charge(freshReference(), 'fib')).status).toBe(201)
  const [payment] = await seed(system.database, 1)
  if (payment) expect(await send(system.edge, await signed(payment))).toMatchObject({ word: 'ok' })
  const pending = await system.database.query(
    `SELECT id FROM payment_transactions
      WHERE reference IN (SELECT value FROM json_each(:references))`,
    { references: JSON.stringify(references) },
  )
  for (const { id } of pending) await system.passTime(String(id))
  expect(await system.sweep()).toMatchObject({ unreachable: 5, chargedAgain: 0, failed: 0 })
})
