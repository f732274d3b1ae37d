// Webhooks report different statuses of the same payments at the same time, through two edges whose
// ledgers write to one database, as can happen briefly when the platform moves a ledger. In every
// order, the graph allows the final status, and each change is one event.

import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Action } from '../../local/simulator/payments.ts'
import {
  eventOf,
  judge,
  NEXT,
  PAYMENT_STATUSES,
  type PaymentStatus,
} from '../../worker/payments/domain/status.ts'
import { atATime } from '../support/at-a-time.ts'
import type { Edge } from '../support/edge.ts'
import { PATIENT } from '../support/patience.ts'
import { seed, send, sendAgain, signed } from '../support/payment-faults.ts'
import { PaymentSystem } from '../support/payment-system.ts'

/** Of the redirect gateway: Paid, Failed, Expired, Refunded. */
const WAYS: Action[][] = [['pay'], ['fail'], ['expire'], ['pay', 'refund']]

let system: PaymentSystem
let edges: readonly Edge[]
beforeAll(async () => {
  system = await PaymentSystem.start('workerd')
  edges = [system.edge, await system.anotherEdge({})]
})
afterAll(() => system[Symbol.asyncDispose]())

function shuffled<Item>(items: readonly Item[]): Item[] {
  return items
    .map((item) => ({ item, at: Math.random() }))
    .sort((one, other) => one.at - other.at)
    .map(({ item }) => item)
}

const status = (value: unknown): PaymentStatus => {
  const found = PAYMENT_STATUSES.find((known) => known === value)
  if (found === undefined) throw new Error(`${String(value)} is not a status`)
  return found
}

/** The changes of a payment are one path through the graph, with one event for each step. */
async function expectOnePath(id: string, said: number): Promise<void> {
  const story = await system.story(id)
  expect(story.webhookEvents).toHaveLength(said)
  const steps = new Map<PaymentStatus, PaymentStatus>()
  for (const event of story.webhookEvents) {
    const [from, to] = [status(event.fromStatus), status(event.toStatus)]
    expect(event.outcome).toBe(judge(from, to))
    if (event.outcome !== 'applied') continue
    expect(steps.has(from), `two paths from ${from}`).toBe(false)
    steps.set(from, to)
  }
  const caused: string[] = []
  let at: PaymentStatus = 'Pending'
  for (let to = steps.get(at); to !== undefined; to = steps.get(at)) {
    expect(NEXT[at]).toContain(to)
    if (to !== 'Pending') caused.push(eventOf(to))
    steps.delete(at)
    at = to
  }
  expect(steps.size, 'every applied event is a step of the path').toBe(0)
  expect(story.status).toBe(at)
  // Events are in the order in which their webhooks arrived, which may not be that of the changes.
  const types = story.events.map(({ type }) => type).filter((type) => type !== 'AlertRaised')
  expect(types).toHaveLength(caused.length)
  expect(new Set(types)).toEqual(new Set(caused))
  expect(story.refundedAmount).toBe(at === 'Refunded' ? story.amount : 0)
  // It is one late payment, with any number of events.
  const isLate = story.webhookEvents.some(({ outcome }) => outcome === 'late_payment')
  expect(story.alerts.map(({ kind }) => kind)).toEqual(isLate ? ['late_payment'] : [])
  const expected = new Set<string>([...caused, ...(isLate ? ['late_payment'] : [])])
  const delivered = async () => {
    const { receiver } = system
    const all = new Set([...receiver.typesOf(id), ...receiver.alertsOf(id)])
    if (all.size < expected.size) await sendAgain(system)
    return all
  }
  await expect.poll(delivered, PATIENT).toEqual(expected)
}

it.each([
  ['40 payments get all four statuses', 40, 1],
  ['one payment gets each status from 20 events', 1, 20],
])(
  '%s, each twice, at once and in any order: one path through the graph, one event per change',
  async (_, count, times) => {
    const payments = await seed(system.database, count)
    const ways = Array.from({ length: times }, () => WAYS).flat()
    const callbacks = await Promise.all(
      payments.flatMap((payment) => ways.map((actions) => signed(payment, actions))),
    )
    const doubled = shuffled([...callbacks, ...callbacks])
    const attempts = await atATime(64, doubled, (callback, at) =>
      send(edges[at % edges.length] ?? system.edge, callback),
    )
    const words = attempts.map(({ word }) => word)
    expect(words.filter((word) => word === 'ok')).toHaveLength(callbacks.length)
    expect(words.filter((word) => word === 'duplicate')).toHaveLength(callbacks.length)
    for (const { id } of payments) await expectOnePath(id, ways.length)
  },
)
