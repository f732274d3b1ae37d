// The Worker is killed between two steps of one payment: stored events are delivered, what the
// gateway did is found, and nothing is done twice.

import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { PATIENT } from '../support/patience.ts'
import { endLeases, seed, send, signed } from '../support/payment-faults.ts'
import { freshReference, order, PaymentSystem } from '../support/payment-system.ts'
import { Tap } from '../support/tap.ts'

/** The gateway's answer, on this machine. */
const ON_ITS_WAY_MS = 100
/** From the call to the gateway until it acts. A busy test kills something before that. */
const SLOW_MS = 4_000

let system: PaymentSystem
beforeAll(async () => {
  system = await PaymentSystem.start('workerd')
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
    const [told, ...more] = received()
    expect(more).toEqual([])
    expect(told).toMatchObject({ type, status: 204 })
    expect(told?.forged).toBeUndefined()
    // A receiver that got it before the crash recognises it by this id.
    expect(told?.id).toBe(held()[0]?.headers.get('webhook-id'))

    await endLeases(system.database)
    expect(await system.sweep(edge)).toMatchObject({ delivered: 0 })
    const { status, events, webhookEvents, alerts } = await system.story(id)
    expect(status).toBe(after)
    if (told?.data.alert) expect(alerts).toEqual([told.data.alert])
    expect(webhookEvents).toHaveLength(1)
    expect(events).toMatchObject([{ type, deliveries: [{ status: 'delivered' }] }])
    await tap.close()
  },
)

/** A charge whose answer is lost when the edge is killed. */
function begin(reference: string, gateway: string): void {
  const headers = { 'Idempotency-Key': `key-${reference}` }
  void system.post('/charges', order({ reference, gateway }), headers).catch(() => undefined)
}

const again = (reference: string, gateway = 'redirect') =>
  system.post('/charges', order({ reference, gateway }), { 'Idempotency-Key': `key-${reference}` })

const rowOf = async (reference: string) => {
  const rows = await system.database.query(
    'SELECT id, status, gateway_transaction_id AS name FROM payment_transactions WHERE reference = :reference',
    { reference },
  )
  expect(rows.length).toBeLessThan(2)
  return rows[0] && { id: String(rows[0].id), status: rows[0].status, name: rows[0].name }
}

const isStored = (references: string[]) => async () =>
  (await Promise.all(references.map(rowOf))).every((row) => row !== undefined)

const isAtGateway = (references: string[]) => async () => {
  const all = await Promise.all(references.map((it) => system.simulator.payments(it)))
  return all.every(({ length }) => length === 1)
}

/** The gateway has one payment of the order, ours is that one, and one event says it is paid. */
async function expectOnePayment(reference: string): Promise<void> {
  const [atGateway, ...more] = await system.simulator.payments(reference)
  if (!atGateway) throw new Error(`the gateway has no payment of ${reference}`)
  expect(more).toEqual([])
  expect(await rowOf(reference)).toMatchObject({ name: atGateway.id, status: 'Pending' })
  await system.simulator.act(atGateway.id, 'pay')
  const row = await rowOf(reference)
  expect(row).toMatchObject({ status: 'Paid' })
  const { events } = await system.story(row?.id ?? '')
  expect(events.map(({ type }) => type)).toEqual(['PaymentInitiated', 'PaymentSucceeded'])
}

/** If the page was in the lost answer, the answer still has the id of the payment. */
async function expectFound(reference: string): Promise<void> {
  const answer = await again(reference)
  const transactionId = (await rowOf(reference))?.id
  expect([200, 201, 503]).toContain(answer.status)
  const found = answer.ok
    ? { status: 'Pending', redirectUrl: expect.any(String) }
    : { code: 'gateway_unavailable' }
  expect(await answer.json()).toMatchObject({ transactionId, ...found })
}

/** The payment is found by the same request sent again, or by the sweeper. */
async function recover(byKey: string[], bySweep: string[]): Promise<void> {
  for (const reference of [...byKey, ...bySweep]) {
    await system.simulator.faults(reference, {})
    const answer = await again(reference)
    expect(answer.status, 'the killed Worker may still be alive').toBe(409)
    expect(await answer.json()).toMatchObject({ code: 'in_progress' })
    await system.passTime((await rowOf(reference))?.id ?? '')
  }
  for (const reference of byKey) await expectFound(reference)
  expect(await system.sweep()).toMatchObject({ chargedAgain: bySweep.length, failed: 0 })
  for (const reference of bySweep) await expectFound(reference)
  for (const reference of [...byKey, ...bySweep]) await expectOnePayment(reference)
}

it('an edge killed before the gateway answered finds the one payment, made or not yet made', async () => {
  const [made, madeToo, late, lateToo] = Array.from({ length: 4 }, freshReference)
  if (!made || !madeToo || !late || !lateToo) throw new Error('there are four')
  const bank = freshReference()
  for (const it of [made, madeToo, bank]) await system.simulator.faults(it, { timeout: true })
  // The gateway makes these after the edge was killed, and maybe after we asked again.
  for (const it of [late, lateToo]) await system.simulator.faults(it, { slowMs: SLOW_MS })
  for (const it of [made, madeToo]) begin(it, 'redirect')
  begin(bank, 'fib')
  await expect.poll(isAtGateway([made, madeToo, bank]), PATIENT).toBe(true)
  for (const it of [late, lateToo]) begin(it, 'redirect')
  await expect.poll(isStored([late, lateToo]), PATIENT).toBe(true)
  await system.edge.crash()
  await recover([made, late], [madeToo, lateToo])

  // This gateway has no idempotency key, so the order is not charged a second time.
  await system.simulator.faults(bank, {})
  await system.passTime((await rowOf(bank))?.id ?? '')
  const answer = await again(bank, 'fib')
  expect(answer.status).toBe(503)
  expect(await answer.json()).toMatchObject({ code: 'gateway_unavailable' })
  expect(await system.sweep()).toMatchObject({ chargedAgain: 0, failed: 0 })
  expect(await system.simulator.payments(bank)).toHaveLength(1)
})

it('an edge killed before it stored the answer of the gateway finds the one payment', async () => {
  const [byKey, bySweep] = [freshReference(), freshReference()]
  for (const it of [byKey, bySweep]) await system.simulator.faults(it, { slowMs: SLOW_MS })
  for (const it of [byKey, bySweep]) begin(it, 'redirect')
  await expect.poll(isStored([byKey, bySweep]), PATIENT).toBe(true)
  // The answer of the gateway cannot be stored.
  await system.database.kill()
  await expect.poll(isAtGateway([byKey, bySweep]), PATIENT).toBe(true)
  await sleep(ON_ITS_WAY_MS)
  await system.edge.crash(() => system.database.restart())
  await recover([byKey], [bySweep])
})
