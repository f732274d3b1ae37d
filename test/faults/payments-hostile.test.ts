// Attackers at the URLs of webhooks: they leave nothing in the database, cannot flood the host
// application, and the webhooks of the real gateways are accepted in time.

import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { UnsecuredJWT } from 'jose'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import type { EncodedWebhook } from '../../simulator/webhooks.ts'
import { atATime } from '../support/at-a-time.ts'
import { LAST } from '../support/edge.ts'
import { PATIENT } from '../support/patience.ts'
import {
  type Attempt,
  answersOf,
  once as paidOnce,
  type Seeded,
  seed,
  send,
  sendAgain,
  signed,
  stored,
} from '../support/payment-faults.ts'
import { PaymentSystem, SECRETS } from '../support/payment-system.ts'
import { Tap } from '../support/tap.ts'

const json = { 'content-type': 'application/json' }

let system: PaymentSystem
beforeAll(async () => {
  system = await PaymentSystem.start({ host: 'workerd' })
})
afterAll(() => system[Symbol.asyncDispose]())

/** What an attacker sends so that a payment counts as paid. */
async function forgeries(payment: Seeded): Promise<EncodedWebhook[]> {
  const otherKey = await signed(payment, ['pay'], 'a-key-that-the-attacker-has-made-up-now')
  const clientSecret = await signed(payment, ['pay'], SECRETS.redirect.client_secret)
  const genuine = await signed(payment)
  const unsecured = new UnsecuredJWT({ eventType: 'STATUS_CHANGED', eventId: 'forged' }).encode()
  return [
    otherKey,
    clientSecret,
    { headers: json, body: genuine.body.slice(0, -4).concat('"}') },
    { headers: json, body: JSON.stringify({ webhook_token: unsecured }) },
    { headers: json, body: JSON.stringify({ id: payment.gatewayTransactionId, status: 'PAID' }) },
    { headers: json, body: '' },
  ]
}

/** Bodies that begin and do not end, a byte now and then. */
async function drip(count: number): Promise<Socket[]> {
  const { hostname, port } = new URL(system.edge.origin)
  return await Promise.all(
    Array.from({ length: count }, async () => {
      const socket = connect(Number(port), hostname)
      await once(socket, 'connect')
      // The edge may hang up on it at any time.
      socket.on('error', () => socket.destroy())
      socket.write(
        `POST /payments/webhooks/redirect HTTP/1.1\r\nHost: ${hostname}:${port}\r\n` +
          'Content-Type: application/json\r\nContent-Length: 200000\r\n\r\n{',
      )
      const timer = setInterval(() => socket.write(' '), 100)
      socket.once('close', () => clearInterval(timer))
      return socket
    }),
  )
}

/** A body of a MiB without a length header. */
function endless(): ReadableStream<Uint8Array> {
  let left = 16
  return new ReadableStream({
    pull(controller) {
      if (left-- > 0) controller.enqueue(new Uint8Array(64 << 10).fill(32))
      else controller.close()
    },
  })
}

async function sendHuge(): Promise<string> {
  const headers = { ...json, ...LAST }
  const init = { method: 'POST', headers, body: endless(), duplex: 'half' as const }
  // The edge may hang up before it has all, which is an answer too.
  const answer = await system.edge
    .fetch('/payments/webhooks/redirect', init)
    .then(async (it) => `${it.status} ${await it.text()}`)
    .catch(() => 'hung up')
  return answer
}

it('2,000 forged webhooks, some huge or slow, leave no row, and real ones are in time', async () => {
  const payments = await seed(system.database, 200)
  const [victim] = await seed(system.database, 1)
  if (!victim) throw new Error('nothing was seeded')
  const before = await system.rows()
  const sockets = await drip(100)
  const forged = await forgeries(victim)
  const callbacks = await Promise.all(payments.map((payment) => signed(payment)))
  const startedAt = performance.now()
  const [floods, huge, real] = await Promise.all([
    atATime(64, Array.from({ length: 2_000 }), (_, at) => {
      const callback = forged[at % forged.length]
      return send(system.edge, callback ?? { headers: json, body: '' })
    }),
    atATime(8, Array.from({ length: 80 }), sendHuge),
    atATime(4, callbacks, (callback) => send(system.edge, callback)),
  ])
  const tookMs = performance.now() - startedAt
  for (const socket of sockets) socket.destroy()

  expect(answersOf(floods)).toEqual(['401 invalid'])
  expect(['413 too_large', 'hung up']).toEqual(expect.arrayContaining([...new Set(huge)]))
  expect(answersOf(real)).toEqual(['200 ok'])
  // A gateway waits 10 s or more. On a machine that is too busy for that, real webhooks must not
  // wait longer than the forged ones.
  const slowest = (attempts: readonly Attempt[]) => Math.max(...attempts.map((it) => it.tookMs))
  expect(slowest(real)).toBeLessThan(Math.max(10_000, slowest(floods)))
  expect(await stored(system.database, payments)).toEqual(paidOnce(payments))
  const after = await system.rows()
  expect(after).toEqual({
    ...before,
    webhook_events: Number(before.webhook_events) + payments.length,
    outbox: Number(before.outbox) + payments.length,
    deliveries: Number(before.deliveries) + payments.length,
  })
  expect((await system.story(victim.id)).status).toBe('Pending')

  const succeeded = () => {
    const events = system.receiver.events.filter(({ type }) => type === 'PaymentSucceeded')
    return new Set(events.map(({ id }) => id)).size
  }
  const areAllDelivered = async () => {
    if (succeeded() === payments.length) return true
    await sendAgain(system)
    return false
  }
  await expect.poll(areAllDelivered, PATIENT).toBe(true)
  const failures = system.receiver.events.filter(({ type }) => type === 'WebhookVerificationFailed')
  expect(failures.length).toBeGreaterThan(0)
  expect(failures.length).toBeLessThanOrEqual(60 * Math.ceil(tookMs / 60_000))
})

it('200 forged callbacks a second neither delay real ones nor make many calls to the bank', async () => {
  const bank = await Tap.before(system.simulator.url)
  const edge = await system.anotherEdge({ FIB_BASE_URL: bank.url })
  const reads = () => bank.seen.filter(({ path }) => path.endsWith('/status')).length
  const payments = await Promise.all(
    Array.from({ length: 8 }, () => system.charged({ gateway: 'fib' }, edge)),
  )

  let isOver = false
  let strangers = 0
  const startedAt = performance.now()
  const flood = (async () => {
    while (!isOver) {
      const body = () => JSON.stringify({ id: crypto.randomUUID(), status: 'PAID' })
      const made = Array.from({ length: 10 }, () =>
        send(edge, { headers: json, body: body() }, 'fib'),
      )
      strangers += (await Promise.all([...made, sleep(50)])).length - 1
    }
  })()
  // Their budget is spent before the bank tells anything.
  await vi.waitUntil(() => strangers >= 100, PATIENT)
  for (const { transactionId, gatewayTransactionId } of payments) {
    await system.simulator.act(gatewayTransactionId, 'pay')
    const sent = await system.simulator.webhooks(gatewayTransactionId)
    expect(sent.map(({ status }) => status)).toEqual([200])
    expect((await system.story(transactionId)).status).toBe('Paid')
  }
  isOver = true
  await flood
  const tookS = (performance.now() - startedAt) / 1_000
  expect(reads()).toBeLessThanOrEqual(payments.length + 10 + Math.ceil(tookS) + 1)
  // Nor the log: one line says how many there were.
  const lines = (await system.log(edge)).match(/payments\.webhook\.limited/g) ?? []
  expect(lines.length).toBeLessThanOrEqual(1 + Math.ceil(tookS / 60))
  await bank.close()
})
