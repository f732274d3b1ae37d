// A gateway or the database is down for longer than a request waits: clear refusals, no unwanted
// rows, and everything settled afterwards. These tests wait for real seconds, at the same time.

import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { Faults } from '../../local/simulator/faults.ts'
import type { GatewayHealth } from '../../worker/payments/gateways/guard/guard.ts'
import { atATime } from '../support/at-a-time.ts'
import { PATIENT } from '../support/patience.ts'
import {
  allDelivered,
  answersOf,
  delivered,
  once,
  seed,
  send,
  sendUntilAccepted,
  signed,
  stored,
  undelivered,
} from '../support/payment-faults.ts'
import { freshReference, order, PaymentSystem } from '../support/payment-system.ts'
import { Tap } from '../support/tap.ts'

/** From opening to the first probe. */
const OPEN_MS = 30_000
/** More where a charge of `expectOpen` was the probe. */
const FIVE = expect.toSatisfy((count: number) => count >= 5)

/** One for each test, so that they can wait at the same time; builds of the edge cannot overlap. */
const systems: PaymentSystem[] = []
beforeAll(async () => {
  for (let count = 0; count < 3; count++) systems.push(await PaymentSystem.start('workerd'))
})
afterAll(async () => {
  for (const system of systems) await system[Symbol.asyncDispose]()
})

function systemOf(test: 0 | 1 | 2): PaymentSystem {
  const system = systems[test]
  if (!system) throw new Error('it did not start')
  return system
}

interface Answered {
  status: number
  code: string | undefined
  retryAfterS: number
  text: string
  tookMs: number
}

async function charge(system: PaymentSystem, reference: string, gateway: string) {
  const startedAt = performance.now()
  const response = await system.post('/charges', order({ reference, gateway }))
  const text = await response.text()
  const { code } = JSON.parse(text) as { code?: string }
  const retryAfterS = Number(response.headers.get('retry-after') ?? Number.NaN)
  const tookMs = performance.now() - startedAt
  return { status: response.status, code, retryAfterS, text, tookMs } satisfies Answered
}

const told = ({ receiver }: PaymentSystem, type: string, gateway: string) =>
  receiver.events.filter((event) => event.type === type && event.data.gateway === gateway)

const rowsOf = async ({ database }: PaymentSystem, references: string[]) =>
  await database.query(
    `SELECT id, status FROM payment_transactions
      WHERE reference IN (SELECT value FROM json_each(:references))`,
    { references: JSON.stringify(references) },
  )

const orders = (count: number): string[] => Array.from({ length: count }, freshReference)

/**
 * A busy machine may charge after the 30 s. That charge is the probe: it fails, which opens the
 * circuit for the next one.
 */
async function expectOpen(system: PaymentSystem, gateway: string): Promise<void> {
  for (;;) {
    const { state, openUntil = '' } = await breakerOf(system, gateway)
    expect(state).not.toBe('closed')
    const reference = freshReference()
    await system.simulator.faults(reference, { outage: 502 })
    const answer = await charge(system, reference, gateway)
    if (Date.now() < Date.parse(openUntil)) return await expectRefused(system, reference, answer)
  }
}

async function expectRefused(
  system: PaymentSystem,
  reference: string,
  refused: Answered,
): Promise<void> {
  expect(refused).toMatchObject({ status: 503, code: 'gateway_unavailable' })
  expect(refused.retryAfterS).toBeGreaterThanOrEqual(1)
  expect(refused.retryAfterS).toBeLessThanOrEqual(OPEN_MS / 1_000)
  expect(await rowsOf(system, [reference])).toEqual([])
  expect(await system.simulator.payments(reference)).toEqual([])
}

async function breakerOf(system: PaymentSystem, gateway: string) {
  const { gateways } = await system.get<{ gateways: GatewayHealth[] }>('/gateways')
  const found = gateways.find(({ key }) => key === gateway)
  if (!found) throw new Error(`there is no gateway ${gateway}`)
  return found.breaker.charge
}

/** Five charges fail so; the fifth opens the circuit. */
async function open(system: PaymentSystem, gateway: string, faults: readonly Faults[]) {
  const references = orders(5)
  for (const [at, reference] of references.entries()) {
    await system.simulator.faults(reference, faults[at % faults.length] ?? {})
  }
  const answers = await Promise.all(references.map((it) => charge(system, it, gateway)))
  for (const answer of answers) {
    expect(answer).toMatchObject({ status: 503, code: 'gateway_unavailable' })
    expect(answer.retryAfterS).toBeGreaterThan(0)
    expect(answer.text).not.toContain('<')
  }
  await vi.waitUntil(() => told(system, 'CircuitOpened', gateway).length > 0, PATIENT)
  expect(told(system, 'CircuitOpened', gateway)).toHaveLength(1)
  return { references, answers }
}

describe.concurrent('during an outage,', () => {
  it('a failing gateway is not called after five charges, and one probe closes the circuit', async () => {
    const system = systemOf(0)
    const { references } = await open(system, 'redirect', [{ outage: 502 }, { outage: 200 }])
    await expectOpen(system, 'redirect')
    // It is unknown whether the gateway made the payments.
    const pending = await rowsOf(system, references)
    expect(pending.map(({ status }) => status)).toEqual(references.map(() => 'Pending'))
    // Another gateway has its own circuit, and webhooks of this one are accepted.
    expect((await charge(system, freshReference(), 'fib')).status).toBe(201)
    const [payment] = await seed(system.database, 1)
    if (payment)
      expect(await send(system.edge, await signed(payment))).toMatchObject({ word: 'ok' })
    // The sweeper is refused as well, which does not count as its failure.
    for (const { id } of pending) await system.passTime(String(id))
    expect(await system.sweep()).toMatchObject({ unreachable: FIVE, chargedAgain: 0, failed: 0 })

    // After a restart of the edge the circuit is still open.
    await system.edge.crash()
    await expectOpen(system, 'redirect')

    // It stays open as long as the edge reports.
    for (;;) {
      const breaker = await breakerOf(system, 'redirect')
      if (breaker.state !== 'open') break
      const leftMs = Date.parse(breaker.openUntil ?? '') - Date.now()
      expect(leftMs).toBeLessThanOrEqual(OPEN_MS)
      // Late enough to be worth it, and early enough for an edge that is busy to answer in time.
      if (leftMs > 10_000) await expectOpen(system, 'redirect')
      await sleep(1_000)
    }
    const [probe = '', ...others] = orders(3)
    // Longer than the others take to be refused, shorter than a gateway is waited for.
    await system.simulator.faults(probe, { slowMs: 10_000 })
    const probing = charge(system, probe, 'redirect')
    await vi.waitUntil(async () => (await rowsOf(system, [probe])).length === 1, PATIENT)
    for (const reference of others) {
      await expectRefused(system, reference, await charge(system, reference, 'redirect'))
    }
    expect((await probing).status).toBe(201)
    for (const reference of others) {
      expect((await charge(system, reference, 'redirect')).status).toBe(201)
    }
    expect(told(system, 'CircuitOpened', 'redirect')).toHaveLength(1)

    await system.simulator.everywhere({})
    for (const { id } of pending) await system.passTime(String(id))
    expect(await system.sweep()).toMatchObject({ chargedAgain: FIVE, unreachable: 0, failed: 0 })
    for (const reference of references) {
      expect(await system.simulator.payments(reference)).toHaveLength(1)
    }
  })

  it('a bank that never answers causes timeouts, opens the circuit, and is not charged twice', async () => {
    const system = systemOf(1)
    const slow = freshReference()
    await system.simulator.faults(slow, { slowMs: 3_000 })
    // A slow one is waited for.
    const waited = charge(system, slow, 'fib')
    const { references, answers } = await open(system, 'fib', [{ timeout: true }])
    expect(await waited).toMatchObject({ status: 201 })
    for (const { tookMs } of answers) {
      expect(tookMs).toBeGreaterThanOrEqual(15_000)
    }
    await vi.waitUntil(() => told(system, 'GatewayTimeout', 'fib').length >= 5, PATIENT)
    const timeouts = told(system, 'GatewayTimeout', 'fib')
    expect(timeouts).toHaveLength(5)
    for (const { data } of timeouts) {
      expect(data).toMatchObject({ gateway: 'fib', endpoint: 'payments' })
      expect(data.durationMs).toBeGreaterThanOrEqual(15_000)
    }
    await expectOpen(system, 'fib')
    for (const reference of references) {
      expect(await system.simulator.payments(reference)).toHaveLength(1)
    }
    expect(await rowsOf(system, references)).toHaveLength(5)
  })

  it('webhooks wait for the database as long as gateways wait, and then get a plain 503', async () => {
    const system = systemOf(2)
    const payments = await seed(system.database, 100)
    const callbacks = await Promise.all(payments.map((payment) => signed(payment)))
    await system.database.kill()
    const reference = freshReference()
    const [attempts, charged, list] = await Promise.all([
      Promise.all(callbacks.map((callback) => send(system.edge, callback))),
      charge(system, reference, 'redirect'),
      system
        .api('/transactions')
        .then(async (it) => ({ status: it.status, text: await it.text() })),
    ])
    expect(answersOf(attempts)).toEqual(['503 unavailable'])
    for (const { headers, tookMs } of attempts) {
      expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
      expect(tookMs).toBeGreaterThan(20_000)
    }
    expect(charged).toMatchObject({ status: 503, code: 'ledger_unavailable' })
    expect(charged.tookMs).toBeLessThan(20_000)
    expect(list.status).toBe(503)
    expect(charged.text + list.text).not.toMatch(/sqlite|busy|locked|fetch|127\.0\.0\.1/i)
    expect(await system.simulator.payments(reference)).toEqual([])

    await system.database.restart()
    const again = await atATime(64, callbacks, (callback) =>
      sendUntilAccepted(system.edge, callback),
    )
    expect(answersOf(again.map((all) => all.at(-1)).filter((it) => it !== undefined))).toEqual([
      '200 ok',
    ])
    expect(await stored(system.database, payments)).toEqual(once(payments))
    const ids = payments.map(({ id }) => id)
    const isOne = async () => (await delivered(system.database, ids)).length === 1
    await vi.waitUntil(isOne, PATIENT)
    expect(await delivered(system.database, ids)).toEqual(allDelivered(ids.length))
    expect(undelivered(system, payments)).toEqual([])
  })

  it('a batch is sent again when the database has not answered for six seconds', async () => {
    const system = systemOf(1)
    const tap = await Tap.before(system.database.url)
    const edge = await system.anotherEdge({ LIBSQL_URL: tap.url })
    const payments = await seed(system.database, 50)
    const callbacks = await Promise.all(payments.map((payment) => signed(payment)))
    tap.holds = ({ method }) => method === 'POST'
    const sent = Promise.all(callbacks.map((callback) => send(edge, callback)))
    const read = system.api('/transactions', {}, edge)
    // The first batch and the read are out, and the next ones come through.
    await vi.waitUntil(() => tap.seen.filter(({ isHeld }) => isHeld).length >= 2, PATIENT)
    tap.holds = () => false
    expect((await read).status).toBe(503)
    const attempts = await sent
    expect(answersOf(attempts)).toEqual(['200 ok'])
    const slowest = Math.max(...attempts.map(({ tookMs }) => tookMs))
    expect(slowest).toBeGreaterThan(6_000)
    expect(await stored(system.database, payments)).toEqual(once(payments))
    await tap.close()
  })
})
