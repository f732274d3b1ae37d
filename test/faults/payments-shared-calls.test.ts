// Webhooks that share one call to the ledger's object, on the runtime itself: a client that
// disconnects or waits for long does not affect the answers and payments of the others.

import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
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
import { PaymentSystem } from '../support/payment-system.ts'

let system: PaymentSystem
beforeAll(async () => {
  system = await PaymentSystem.start('workerd')
})
afterAll(() => system[Symbol.asyncDispose]())

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
  await system.database.kill()
  const sent = Promise.all(callbacks.map((callback) => send(system.edge, callback)))
  await sleep(4_500)
  await system.database.restart()
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
