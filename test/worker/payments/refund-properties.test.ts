// Refunds of each driver in any order, their events doubled and late: what is stored at the end is
// what the gateway holds, and each change was told once.

import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { Payment } from '../../../simulator/payments.ts'
import type { Story } from '../../../worker/payments/domain/types.ts'
import type { DriverName } from '../../../worker/payments/gateways/registry.ts'
import { isEnded, PAID, type Read, RefundWorld } from './refund-world.ts'

type Verb =
  | 'ask'
  | 'atDesk'
  | 'ends'
  | 'refundsFail'
  | 'deliver'
  | 'overtake'
  | 'release'
  | 'wait'
  | 'setClock'
  | 'sweep'

const step = <V extends Verb>(
  weight: number,
  verb: V,
  ...args: ArbitrariesOf<Parameters<RefundWorld[V]>>
) => ({ weight, arbitrary: fc.tuple(fc.constant(verb), ...args) })

type Step = ReturnType<typeof step>['arbitrary'] extends fc.Arbitrary<infer Each> ? Each : never

type ArbitrariesOf<Args extends unknown[]> = { [at in keyof Args]: fc.Arbitrary<Args[at]> }

/** Mostly deliveries: refunds are few. */
const steps = (name: DriverName) => {
  const index = fc.nat({ max: 20 })
  const amount =
    name === 'stripe' || name === 'mollie'
      ? fc.constantFrom(PAID, 5_000, 10_000, 20_000)
      : fc.constant(PAID)
  return fc.array(
    fc.oneof(
      step(3, 'ask', amount),
      step(2, 'atDesk', amount, fc.constantFrom('succeeded', 'pending')),
      step(4, 'ends', index, fc.constantFrom('succeeded', 'failed', 'canceled')),
      step(1, 'refundsFail', fc.boolean()),
      step(8, 'deliver', index),
      step(2, 'overtake', amount),
      step(3, 'release'),
      step(2, 'wait', fc.constantFrom(1, 500, 3_000)),
      step(1, 'sweep'),
      step(1, 'setClock', fc.constantFrom(-100, 500, -500, -10_000, 30_000, -60_000)),
    ),
    { minLength: 3, maxLength: 25 },
  )
}

const reads = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: fc.constant('now' as const) },
    { weight: 1, arbitrary: fc.constant('fails' as const) },
    { weight: 2, arbitrary: fc.constant('late' as const) },
  ),
  { maxLength: 20 },
)

/** The refunds that the gateway holds, with the states that ours have. */
function heldBy({ gateway, state, refunds = [] }: Payment) {
  if (gateway === 'stripe' || gateway === 'mollie') {
    return refunds.map(({ id, amount, status }) => ({ id, amount, status: stateOf(status) }))
  }
  if (state === 'refunded') return [{ amount: PAID, status: 'succeeded' }]
  // The redirect gateway does not show one that is under way.
  return gateway === 'fib' && state === 'refund_requested'
    ? [{ amount: PAID, status: 'accepted' }]
    : []
}

const stateOf = (status: 'pending' | 'succeeded' | 'failed' | 'canceled'): string => {
  if (status === 'pending') return 'accepted'
  return isEnded(status) ? 'failed' : status
}

function expectGateways(story: Story, payment: Payment): void {
  const { transaction, refunds, alerts } = story
  const held = heldBy(payment)
  const made = held.filter(({ status }) => status === 'succeeded')
  const sum = made.reduce((total, { amount }) => total + amount, 0)
  expect(transaction.refundedAmount).toBe(sum)
  const sorted = (rows: readonly object[]) => rows.map((row) => JSON.stringify(row)).toSorted()
  const isListed = ['stripe', 'mollie'].includes(payment.gateway)
  const rows = refunds.map(({ gatewayRefundId: id, amount, status }) =>
    isListed ? { id, amount, status } : { amount, status },
  )
  // One that was refused, and that a bank without ids has dropped, is only in our rows.
  const known = rows.filter((row) => row.status !== 'failed' || ('id' in row && row.id))
  expect(sorted(known)).toEqual(sorted(held))
  if (!isListed) return
  const failed = held.filter(({ status }) => status === 'failed')
  const told = alerts.filter(({ kind }) => kind === 'refund_failed')
  const named = told.map(({ detail }) => ({
    id: detail.gatewayRefundId ?? detail.refundId,
    amount: detail.amount,
    status: 'failed',
  }))
  expect(sorted(named)).toEqual(sorted(failed))
  for (const { detail } of told) {
    const own = refunds.find(({ id }) => id === detail.refundId)
    expect(detail.askedBy).toBe(own ? 'ada' : undefined)
  }
}

/** Each change of the sum is told by one event, in the order of its revisions. */
function expectToldOnce({ transaction, events }: Story): void {
  const told = events
    .filter(({ type }) => type === 'PaymentRefunded' || type === 'RefundAmountChanged')
    .map(({ type, payload }) => ({ type, ...payload }))
    .toSorted((a, b) => a.transaction.refundRevision - b.transaction.refundRevision)
  let [sum, status] = [0, 'Paid']
  for (const [at, each] of told.entries()) {
    const { refundRevision, refundedAmount, status: next } = each.transaction
    expect(refundRevision).toBe(at + 1)
    expect(refundedAmount).not.toBe(sum)
    expect(each.type).toBe(next === status ? 'RefundAmountChanged' : 'PaymentRefunded')
    if ('previousRefundedAmount' in each) expect(each.previousRefundedAmount).toBe(sum)
    // The status never moves back, also if the sum does.
    const isAll = refundedAmount === PAID || status === 'Refunded'
    expect(next).toBe(isAll ? 'Refunded' : 'PartiallyRefunded')
    sum = refundedAmount
    status = next
  }
  expect(transaction).toMatchObject({ status, refundedAmount: sum, refundRevision: told.length })
  expect(events.filter(({ type }) => type === 'PaymentSucceeded')).toHaveLength(1)
}

it.each(['redirect', 'fib', 'stripe', 'mollie'] as const)(
  'refunds at %s end as their gateway has them, and each change is told once',
  async (name) => {
    const lived = fc.asyncProperty(steps(name), reads, async (life, answers) => {
      const world = new RefundWorld(name, answers)
      await world.pay()
      for (const [verb, ...args] of life) {
        await (world[verb] as (...args: unknown[]) => Promise<void> | void).apply(world, args)
        // No gateway changes, tells of it and is asked again within one millisecond.
        await world.wait(1)
      }
      await world.finish()
      const story = await world.story()
      expectGateways(story, world.payment)
      expectToldOnce(story)
    })
    const runs = { numRuns: RUNS[name] * MORE, ...(MORE === 1 && { seed: 1 }) }
    await fc.assert(lived, { ...runs, endOnFailure: true, examples: SEEN[name] })
  },
)

/** What was once wrong. */
const SEEN: Record<DriverName, [Step[], Read[]][]> = {
  redirect: [
    [
      [
        ['atDesk', PAID, 'pending'],
        ['deliver', 0],
        ['ends', 0, 'failed'],
        ['overtake', PAID],
        ['overtake', PAID],
      ],
      [],
    ],
  ],
  fib: [
    [
      [
        ['ask', PAID],
        ['deliver', 0],
        ['ends', 8, 'canceled'],
        ['ends', 18, 'failed'],
        ['ends', 12, 'succeeded'],
        ['atDesk', PAID, 'pending'],
        ['wait', 1],
        ['overtake', PAID],
        ['deliver', 1],
        ['sweep'],
        ['overtake', PAID],
        ['release'],
        ['ends', 8, 'failed'],
        ['deliver', 1],
        ['wait', 500],
      ],
      ['now', 'now', 'now', 'late'],
    ],
  ],
  stripe: [],
  mollie: [],
}

const RUNS = { redirect: 20, fib: 40, stripe: 60, mollie: 60 }
/** Times as many, and other ones each time. */
const MORE = Number(process.env.MORE_RUNS ?? 1)
