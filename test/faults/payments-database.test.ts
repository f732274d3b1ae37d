// The database or the edge is killed during a burst of webhooks and restarted, or the connection to
// the database loses answers: every payment changes once, and each event is delivered.

import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { atATime } from '../support/at-a-time.ts'
import { PATIENT } from '../support/patience.ts'
import {
  allDelivered,
  answersOf,
  delivered,
  endLeases,
  once,
  type Seeded,
  seed,
  sendUntilAccepted,
  signed,
  stored,
  undelivered,
} from '../support/payment-faults.ts'
import { PaymentSystem } from '../support/payment-system.ts'
import { Tap } from '../support/tap.ts'

const PAYMENTS = 300
const AT_ONCE = 64
const DOWN_MS = 1_500

let workerd: PaymentSystem
beforeAll(async () => {
  workerd = await PaymentSystem.start('workerd')
})
afterAll(() => workerd[Symbol.asyncDispose]())

/** Sends a webhook for each payment. When a quarter is accepted, `fault` happens. */
async function burst(system: PaymentSystem, payments: Seeded[], fault: () => Promise<void>) {
  const callbacks = await Promise.all(payments.map((payment) => signed(payment)))
  let taken = 0
  const { promise: reached, resolve: reach } = Promise.withResolvers<void>()
  const sending = atATime(AT_ONCE, callbacks, async (callback) => {
    const attempts = await sendUntilAccepted(system.edge, callback)
    if (++taken === PAYMENTS / 4) reach()
    return attempts
  })
  await reached
  await fault()
  const attempts = (await sending).flat()
  return { callbacks, attempts }
}

const idsOf = (payments: readonly Seeded[]) => payments.map(({ id }) => id)

async function expectAllDelivered(system: PaymentSystem, payments: Seeded[]): Promise<void> {
  const how = () => delivered(system.database, idsOf(payments))
  await expect.poll(how, PATIENT).toEqual(allDelivered(payments.length))
  expect(undelivered(system, payments)).toEqual([])
}

async function killDatabase(system: PaymentSystem): Promise<void> {
  const payments = await seed(system.database, PAYMENTS)
  const { callbacks, attempts } = await burst(system, payments, async () => {
    await system.database.kill()
    await sleep(DOWN_MS)
    await system.database.restart()
  })
  // The ledger itself repeats what was in flight, so no gateway had to send its webhook again.
  expect(answersOf(attempts)).toEqual(['200 ok'])
  expect(Math.max(...attempts.map(({ tookMs }) => tookMs))).toBeGreaterThan(DOWN_MS)
  expect(await stored(system.database, payments)).toEqual(once(payments))
  // Without the sweeper: the edge that caused an event ran all the time.
  await expectAllDelivered(system, payments)

  const again = await atATime(AT_ONCE, callbacks, (callback) =>
    sendUntilAccepted(system.edge, callback),
  )
  expect(answersOf(again.flat())).toEqual(['200 duplicate'])
  expect(await stored(system.database, payments)).toEqual(once(payments))
}

it('a database killed in a burst loses and repeats no event; webhooks are accepted, but late', async () => {
  await killDatabase(workerd)
})

it('the same is true of an edge in one process whose database is killed in a burst', async () => {
  await using node = await PaymentSystem.start('node')
  await killDatabase(node)
})

it('an edge killed in a burst loses its queue, and retried webhooks are applied once each', async () => {
  const payments = await seed(workerd.database, PAYMENTS)
  const { attempts } = await burst(workerd, payments, () => workerd.edge.crash())
  const answers = answersOf(attempts)
  expect(answers).toContain('none')
  // A duplicate is one that was stored, and whose answer died with the edge.
  const known = ['none', '200 ok', '200 duplicate']
  expect(answers.filter((answer) => !known.includes(answer))).toEqual([])
  expect(await stored(workerd.database, payments)).toEqual(once(payments))

  await endLeases(workerd.database)
  expect(await workerd.sweep()).toMatchObject({ failed: 0, undelivered: 0 })
  await expectAllDelivered(workerd, payments)
})

it('a connection that loses every third answer only costs time: all is written once', async () => {
  const { database, simulator } = workerd
  const tap = await Tap.before(database.url)
  const edge = await workerd.anotherEdge({ LIBSQL_URL: tap.url })
  let passed = 0
  tap.loses = ({ method }) => method === 'POST' && ++passed % 3 === 0
  const payments = await seed(database, 100)
  const callbacks = await Promise.all(payments.map((payment) => signed(payment)))
  const [attempts, charges] = await Promise.all([
    atATime(16, callbacks, (callback) => sendUntilAccepted(edge, callback)),
    atATime(4, payments.slice(0, 20), () => workerd.charged({}, edge)),
  ])
  // A retry of our own is not answered as a duplicate.
  expect(answersOf(attempts.flat())).toEqual(['200 ok'])
  expect(await stored(database, payments)).toEqual(once(payments))

  await atATime(4, charges, async ({ transactionId, gatewayTransactionId }) => {
    // The simulator sends its webhook to the other edge.
    await simulator.act(gatewayTransactionId, 'pay')
    const refund = { gateway: 'redirect', transactionId, amount: 25_000, reason: 'Broken' }
    const answer = await workerd.post('/refunds', refund, {}, edge)
    expect(await answer.json()).toMatchObject({ success: true, refundedAmount: 25_000 })
    const { status, events, refunds } = await workerd.story(transactionId)
    expect(status).toBe('Refunded')
    expect(refunds).toHaveLength(1)
    const told = ['PaymentInitiated', 'PaymentSucceeded', 'PaymentRefunded']
    expect(events.map(({ type }) => type)).toEqual(told)
  })
  const ids = [...idsOf(payments), ...charges.map(({ transactionId }) => transactionId)]
  const count = payments.length + 3 * charges.length
  await expect.poll(() => delivered(database, ids), PATIENT).toEqual(allDelivered(count))
  await tap.close()
})
