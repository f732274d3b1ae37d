// Whatever the order, doubling and delay of charges, webhooks, refunds and sweeps.

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  eventOf,
  judge,
  type PaymentStatus,
  UNPAID_ENDS,
} from '../../../../worker/payments/domain/status.ts'
import type { Story } from '../../../../worker/payments/queries/queries.ts'
import { hostClock } from '../../../../worker/shared/clock.ts'
import { ALERTED, FakeDispatcher, FakeGuard, T0, World } from '../../../contract/ledger-world.ts'
import { sqliteLedger } from '../../../support/sqlite-ledger.ts'
import { type Call, steps } from './money-steps.ts'

const RANK: Record<PaymentStatus, number> = {
  Pending: 0,
  Paid: 1,
  PartiallyRefunded: 2,
  Refunded: 3,
  Failed: 4,
  Cancelled: 4,
  Expired: 4,
}

/** Everything that is stored of all payments, but for who is telling it just now. */
async function everything(w: World) {
  const page = { limit: 1_000 }
  const transactions = await w.queries.transactions({}, page)
  return {
    stories: await Promise.all(transactions.map(({ id }) => w.story(id))),
    webhookEvents: await w.queries.webhookEvents({}, page),
    alerts: await w.queries.alerts({ all: true }, page),
  }
}

type Everything = Awaited<ReturnType<typeof everything>>

/** The events of its life, without those of its alerts. */
const movesOf = ({ events }: Pick<Story, 'events'>) =>
  events.filter(({ type }) => type !== 'AlertRaised')

/** The statuses that a payment was told to have, in the only order that the graph could have. */
function pathOf(story: Pick<Story, 'events'>): PaymentStatus[] {
  const told = movesOf(story).map(({ payload }) => payload.transaction.status)
  return told.toSorted((a, b) => RANK[a] - RANK[b])
}

function checkStory(story: Story): void {
  const { transaction, webhookEvents, refunds } = story
  const events = movesOf(story)
  const path = pathOf(story)
  // The end state is one that the graph allows, and each change of status fired one event.
  expect(path[0]).toBe('Pending')
  expect(path.at(-1)).toBe(transaction.status)
  for (const [at, to] of path.slice(1).entries()) {
    expect(judge(path[at] as PaymentStatus, to)).toBe('applied')
    expect(path[at]).not.toBe(to)
  }
  // Each event has its change, and its change a cause.
  for (const { id, type, payload } of events) {
    const { status } = payload.transaction
    expect(type).toBe(status === 'Pending' ? 'PaymentInitiated' : eventOf(status))
    const webhook = webhookEvents.find((each) => each.id === id)
    const refund = refunds.find((each) => each.id === id)
    if (webhook) expect(webhook).toMatchObject({ outcome: 'applied', toStatus: status })
    else if (refund) expect(refund.status).toBe('succeeded')
    else if (payload.transaction.error?.code === 'replaced') expect(status).toBe('Cancelled')
    else expect(status).toBe(type === 'PaymentInitiated' ? 'Pending' : 'Failed')
  }
  for (const each of webhookEvents) {
    const { outcome, fromStatus, toStatus, id } = each
    const isChange = outcome === 'applied' && fromStatus !== toStatus
    expect(events.some((event) => event.id === id)).toBe(isChange)
  }
  // Money that is back was paid before.
  const back = refunds.filter(({ status }) => status === 'succeeded')
  const sum = back.reduce((total, { amount }) => total + amount, 0)
  expect(transaction.refundedAmount).toBeGreaterThanOrEqual(sum)
  const { paid } = transaction
  expect(paid !== undefined).toBe(path.includes('Paid'))
  expect(transaction.refundedAmount).toBeLessThanOrEqual(paid?.amount ?? 0)
  const isBack = transaction.status === 'Refunded' || transaction.status === 'PartiallyRefunded'
  if (!isBack) expect(transaction.refundedAmount).toBe(0)
  if (transaction.status === 'Refunded') {
    expect(transaction.refundedAmount).toBe(paid?.amount)
  }
  const underWay = refunds.filter(({ status }) => status === 'claimed' || status === 'accepted')
  expect(underWay.length).toBeLessThanOrEqual(1)
}

/** Each alert is one event, which says what the alert says. Nobody acknowledges one here. */
function checkAlerts({ stories, alerts }: Everything): void {
  const events = stories.flatMap(({ events: all }) => all)
  const raised = events.flatMap(({ payload }) => ('alert' in payload ? [payload.alert] : []))
  const byId = (a: { id: string }, b: { id: string }) => byText(a.id, b.id)
  expect(raised.toSorted(byId)).toEqual(alerts.toSorted(byId))
}

/** Whatever was replaced: an order has one attempt at most that is open or was paid. */
function checkOrders({ stories }: Everything): void {
  const live = stories
    .map(({ transaction }) => transaction)
    .filter(({ status }) => !UNPAID_ENDS.includes(status))
  expect(new Set(live.map(({ reference }) => reference)).size).toBe(live.length)
}

/** One step of one payment. */
function checkChange(before: Story | undefined, after: Story): void {
  const then = before?.transaction
  const now = after.transaction
  expect(now.refundedAmount).toBeGreaterThanOrEqual(then?.refundedAmount ?? 0)
  const known = new Set(before?.events.map(({ id }) => id))
  const fresh = pathOf({ events: after.events.filter(({ id }) => !known.has(id)) })
  // What was told since is exactly the way from there to here.
  const way = then ? [then.status, ...fresh] : fresh
  expect(way.at(-1)).toBe(now.status)
  for (const [at, to] of way.slice(1).entries()) {
    expect(judge(way[at] as PaymentStatus, to)).toBe('applied')
  }
  expect(movesOf(after)).toHaveLength(movesOf(before ?? { events: [] }).length + fresh.length)
}

/** A webhook did what the graph says of the payment as it was, and nothing to any other. */
function checkWebhook(
  event: NonNullable<Call['event']>,
  { outcome, transactionId }: { outcome?: string; transactionId?: string },
  before: Everything,
  after: Everything,
): void {
  const storyOf = ({ stories }: Everything, id = transactionId) =>
    stories.find(({ transaction }) => transaction.id === id)
  for (const { transaction } of before.stories) {
    const isStill = transaction.id !== transactionId || outcome !== 'applied'
    if (isStill) expect(storyOf(after, transaction.id)?.transaction).toEqual(transaction)
  }
  const from = storyOf(before)?.transaction.status
  if (outcome === 'duplicate') {
    expect(after).toEqual(before)
    return
  }
  if (from === undefined) {
    expect(outcome).toBe('parked')
    return
  }
  const verdict = event.isAlert ? 'unchanged' : judge(from, event.status as PaymentStatus)
  const mayReject = verdict === 'applied' && event.onMismatch === 'reject'
  expect(mayReject ? ['applied', 'rejected'] : [verdict]).toContain(outcome)
}

type Life = typeof steps extends fc.Arbitrary<infer Drawn> ? Drawn : never

/** Plays it, checking each step; answers the events that were handed to the dispatcher. */
async function live(w: World, life: Life, seen: Set<string>): Promise<string[]> {
  const told: string[] = []
  const lasting: Call[] = []
  let now = T0
  let before = await everything(w)
  for (const { step, waitMs, again } of life) {
    now += waitMs
    const call = await step(w, now)
    if (!call) continue
    const answer = await call.make()
    const after = await everything(w)
    told.push(...answer.pending.map(({ outboxId }) => outboxId))
    for (const story of after.stories) {
      const old = before.stories.find((each) => each.transaction.id === story.transaction.id)
      checkChange(old, story)
      checkStory(story)
    }
    checkAlerts(after)
    checkOrders(after)
    if (call.event) checkWebhook(call.event, answer, before, after)
    note(after, seen)

    // A repetition changes nothing: at once, or of any call before.
    if (call.isLasting) lasting.push(call)
    const old = again === undefined ? undefined : lasting[again % lasting.length]
    for (const repeated of call.goesOn ? [old] : [call, old]) {
      if (!repeated) continue
      await repeated.make()
      expect(await everything(w)).toEqual(after)
    }
    before = after
  }
  return told
}

function note({ stories, alerts, webhookEvents }: Everything, seen: Set<string>): void {
  for (const { transaction, refunds } of stories) {
    if (transaction.error) seen.add(transaction.error.code)
    seen.add(transaction.status)
    for (const { status } of refunds) seen.add(`refund ${status}`)
  }
  for (const { kind } of alerts) seen.add(kind)
  for (const { outcome } of webhookEvents) seen.add(outcome)
}

describe('money', () => {
  it('moves only as the graph allows, is told once, and never comes back twice', async () => {
    const seen = new Set<string>()
    await fc.assert(
      fc.asyncProperty(steps, async (life) => {
        const guard = new FakeGuard()
        const dispatcher = new FakeDispatcher()
        const { ledger, queries } = sqliteLedger({
          ...{ guard, subscribers: ALERTED, dispatch: dispatcher.dispatch },
          ...{ clock: hostClock, log: () => undefined },
        })
        const bed = { ledger, outbox: ledger, queries, close: async () => undefined }
        const w = new World(bed, { guard, dispatcher })
        const told = await live(w, life, seen)
        const { stories } = await everything(w)
        // Each event was handed over once, when it was caused; none is left out.
        const stored = stories.flatMap(({ events }) => events.map(({ id }) => id))
        expect(told.toSorted(byText)).toEqual(stored.toSorted(byText))
      }),
      { numRuns: 60, endOnFailure: true },
    )
    // The lives were not too dull to prove anything.
    const dull = [
      ...['Pending', 'Paid', 'Failed', 'Cancelled', 'Expired', 'Refunded', 'PartiallyRefunded'],
      ...['applied', 'unchanged', 'illegal', 'rejected', 'parked', 'late_payment'],
      ...['amount_mismatch', 'refund_failed', 'unsettled', 'replaced'],
      ...['refund claimed', 'refund accepted', 'refund succeeded', 'refund failed'],
    ].filter((each) => !seen.has(each))
    expect(dull).toEqual([])
  })
})

const byText = (a: string, b: string) => (a < b ? -1 : 1)
