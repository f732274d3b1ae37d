// Charges, webhooks, refunds and sweeps in random order, repeated and delayed.

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { judge } from '../../../../worker/payments/domain/apply-event.ts'
import { isUnpaid } from '../../../../worker/payments/domain/payment.ts'
import {
  BESIDE_SUMS,
  EVENT_OF,
  type PaymentStatus,
  UNPAID_ENDS,
} from '../../../../worker/payments/domain/status.ts'
import type { AlertRecord, Story } from '../../../../worker/payments/domain/types.ts'
import {
  type Database,
  DatabaseUnreachable,
} from '../../../../worker/payments/ledger/libsql/database-libsql.ts'
import type { Statement } from '../../../../worker/payments/ledger/libsql/statement-libsql.ts'
import { hostClock } from '../../../../worker/shared/clock.ts'
import { ALERTED, FakeDeliverer } from '../../../support/ledger-fakes.ts'
import { LedgerSetup, MINUTE, T0 } from '../../../support/ledger-setup.ts'
import { sqliteDatabase, sqliteLedger } from '../../../support/sqlite-database.ts'
import { impatient, setupOver } from './memory-ledger.ts'
import { type Call, steps } from './money-steps.ts'

/** It computes for some ten seconds, and a busy machine may give it a twentieth of a core. */
const BUSY_MS = 300_000

const RANK: Record<PaymentStatus, number> = {
  Pending: 0,
  Paid: 1,
  PartiallyRefunded: 2,
  Refunded: 3,
  Failed: 4,
  Cancelled: 4,
  Expired: 4,
}

/** All stored data of all payments, without the leases of dispatches and of checks. */
async function everything(w: LedgerSetup) {
  const page = { limit: 1_000 }
  const transactions = await w.queries.transactions({}, page)
  return {
    stories: (await Promise.all(transactions.map(({ id }) => w.story(id)))).map((story) => ({
      ...story,
      check: {},
    })),
    webhookEvents: await w.queries.webhookEvents({}, page),
    alerts: await w.queries.alerts({ all: true }, page),
    movements: await w.queries.movements({ after: 0, before: T0 * 2 }, 1_000),
    pause: await w.queries.pause(),
  }
}

type Everything = Awaited<ReturnType<typeof everything>>

/** The events that changed its status, without those of its alerts. */
const changesOf = ({ events }: Pick<Story, 'events'>) =>
  events.filter(({ type }) => !type.startsWith('Alert'))

/** It was paid after it had ended, and keeps its status. */
const isPaidLate = ({ transaction }: Story): boolean =>
  UNPAID_ENDS.includes(transaction.status) && transaction.paid !== undefined

/** The statuses in a payment's events, in the only order that the graph allows. */
function pathOf(story: Pick<Story, 'events'>): PaymentStatus[] {
  const statuses = changesOf(story)
    .filter(({ type }) => type !== 'RefundAmountChanged')
    .map(({ payload }) => payload.transaction.status)
  return statuses.toSorted((a, b) => RANK[a] - RANK[b])
}

function checkStory(story: Story, before: Story | undefined): void {
  const { transaction, webhookEvents, refunds } = story
  const events = changesOf(story)
  const isTold = (id: string) => before?.events.some((event) => event.id === id) === true
  const path = pathOf(story)
  // The graph allows each change of status, and each change caused one event.
  expect(path[0]).toBe('Pending')
  expect(path.at(-1)).toBe(transaction.status)
  for (const [at, to] of path.slice(1).entries()) {
    expect(judge(path[at] as PaymentStatus, to)).toBe('applied')
    expect(path[at]).not.toBe(to)
  }
  // Each event has its change, and each change has its cause.
  for (const { id, type, payload } of events) {
    const { status } = payload.transaction
    if (type === 'RefundAmountChanged') continue
    expect(type).toBe(EVENT_OF[status])
    const webhook = webhookEvents.find((each) => each.id === id)
    const refund = refunds.find((each) => each.id === id)
    if (webhook) expect(webhook).toMatchObject({ outcome: 'applied', toStatus: status })
    // One that was told before may have failed since.
    else if (refund && isTold(id)) expect(['succeeded', 'failed']).toContain(refund.status)
    else if (refund) expect(refund.status).toBe('succeeded')
    else if (/^(replaced|cancelled)$/.test(payload.transaction.error?.code ?? ''))
      expect(status).toBe('Cancelled')
    else expect(status).toBe(type === 'PaymentInitiated' ? 'Pending' : 'Failed')
  }
  for (const each of webhookEvents) {
    const { outcome, fromStatus, toStatus, id } = each
    const isChange = outcome === 'applied' && fromStatus !== toStatus
    const told = events.find((event) => event.id === id)
    if (told?.type !== 'RefundAmountChanged') expect(told !== undefined).toBe(isChange)
  }
  // Only paid money is refunded.
  const done = refunds.filter(({ status }) => status === 'succeeded')
  const sum = done.reduce((total, { amount }) => total + amount, 0)
  const { paid } = transaction
  expect(transaction.refundedAmount).toBe(Math.min(sum, Math.max(0, paid?.amount ?? 0)))
  checkRevisions(story)
  const isLate = webhookEvents.some(({ outcome }) => outcome === 'late_payment')
  expect(paid !== undefined).toBe(path.includes('Paid') || isLate)
  expect(transaction.refundedAmount).toBeLessThanOrEqual(paid?.amount ?? 0)
  const isRefunded = transaction.status === 'Refunded' || transaction.status === 'PartiallyRefunded'
  if (!isRefunded && !isLate) expect(transaction.refundedAmount).toBe(0)
  const unknown = refunds.filter(({ status }) => status === 'claimed')
  expect(unknown.length).toBeLessThanOrEqual(1)
}

/** Each change of the refunded amount is told once, and has the next number. */
function checkRevisions({ transaction, events }: Story): void {
  const told = events.filter(
    ({ type }) => type === 'PaymentRefunded' || type === 'RefundAmountChanged',
  )
  const numbers = told.map(({ payload }) => payload.transaction.refundRevision)
  expect(numbers.toSorted((a, b) => a - b)).toEqual(told.map((_, at) => at + 1))
  expect(transaction.refundRevision).toBe(told.length)
  for (const { payload } of told) {
    if (!('previousRefundedAmount' in payload)) continue
    expect(payload.previousRefundedAmount).not.toBe(payload.transaction.refundedAmount)
  }
}

/**
 * The last event of each alert has its fields. A refund settles one; if it fails, it is open again.
 * Money or an end settles one about a payment without a status.
 */
function checkAlerts({ stories, alerts }: Everything): void {
  const events = stories.flatMap(({ events: all }) => all)
  const alertsIn = (event: string) => {
    const all = events.flatMap(({ type, payload }) =>
      type === event && 'alert' in payload ? [payload.alert] : [],
    )
    return [...new Map(all.map((alert) => [alert.id, alert])).values()]
  }
  const byId = (a: { id: string }, b: { id: string }) => byText(a.id, b.id)
  const asRaised = ({
    acknowledgedAt: _,
    acknowledgedBy,
    gatewayReference,
    ...rest
  }: AlertRecord) => rest
  // A dispute is described anew as it goes on.
  const lasting = <Of extends { kind: string; detail: object }>(alert: Of) =>
    alert.kind === 'dispute' ? { ...alert, detail: {} } : alert
  expect(alertsIn('AlertRaised').map(lasting).toSorted(byId)).toEqual(
    alerts.map(asRaised).map(lasting).toSorted(byId),
  )
  const settled = alerts.filter(({ acknowledgedBy = '' }) =>
    ['refund', 'gateway'].includes(acknowledgedBy),
  )
  const open = alerts.filter(({ acknowledgedAt }) => acknowledgedAt === undefined)
  const ended = alertsIn('AlertSettled').filter(({ id }) => open.every((each) => each.id !== id))
  expect(ended.toSorted(byId)).toEqual(settled.toSorted(byId))
  // That of an order which was paid twice may have been settled by a refund of the other payment.
  for (const { transactionId } of settled.filter(({ kind }) => kind === 'late_payment')) {
    const { transaction } = stories.find((each) => each.transaction.id === transactionId) ?? {}
    expect(transaction?.refundedAmount).toBe(transaction?.paid?.amount)
  }
}

/** An order has at most one attempt that is open or was paid, whatever was replaced. */
function checkOrders({ stories }: Everything): void {
  const live = stories
    .map(({ transaction }) => transaction)
    .filter(({ status }) => !UNPAID_ENDS.includes(status))
  expect(new Set(live.map(({ reference }) => reference)).size).toBe(live.length)
}

/** The movements of a payment add up to what is held of it. */
function checkMovements({ stories, movements }: Everything): void {
  for (const { transaction } of stories) {
    const sum = movements.reduce((total, each) => {
      if ('invalid' in each || each.transactionId !== transaction.id) return total
      const isBeside = BESIDE_SUMS.includes(each.kind)
      return isBeside ? total : total + each.amountMinor
    }, 0)
    expect(sum).toBe((transaction.paid?.amount ?? 0) - transaction.refundedAmount)
  }
}

/** Nothing new is begun while payments are paused. */
function checkPause(before: Everything, after: Everything): void {
  if (before.pause && after.pause) expect(after.stories).toHaveLength(before.stories.length)
}

/** One step of one payment. */
function checkChange(before: Story | undefined, after: Story): void {
  const then = before?.transaction
  const now = after.transaction
  const failed = (story: Story | undefined) =>
    story?.refunds.filter(({ status }) => status === 'failed').length ?? 0
  // Only the end of a refund lowers it.
  if (failed(after) === failed(before)) {
    expect(now.refundedAmount).toBeGreaterThanOrEqual(then?.refundedAmount ?? 0)
  }
  const known = new Set(before?.events.map(({ id }) => id))
  const fresh = pathOf({ events: after.events.filter(({ id }) => !known.has(id)) })
  // The new events are exactly the path from the old status to the new one.
  const path = then ? [then.status, ...fresh] : fresh
  expect(path.at(-1)).toBe(now.status)
  for (const [at, to] of path.slice(1).entries()) {
    expect(judge(path[at] as PaymentStatus, to)).toBe('applied')
  }
  const others = fresh.filter((to) => !to.endsWith('Refunded')).length
  const told = others + now.refundRevision - (then?.refundRevision ?? 0)
  expect(changesOf(after)).toHaveLength(changesOf(before ?? { events: [] }).length + told)
}

/** A webhook changed its payment as the graph says, and no other payment. */
function checkWebhook(
  event: NonNullable<Call['event']>,
  { outcome, transactionId }: { outcome?: string; transactionId?: string },
  before: Everything,
  after: Everything,
): void {
  const storyOf = ({ stories }: Everything, id = transactionId) =>
    stories.find(({ transaction }) => transaction.id === id)
  for (const story of before.stories) {
    const { transaction } = story
    const isOther = transaction.id !== transactionId
    const isUnchanged = isOther || (outcome !== 'applied' && !isPaidLate(story))
    const {
      alert: _,
      refundedAmount,
      refundRevision,
      updatedAt,
      paid,
      paidAt,
      ...kept
    } = transaction
    const isLate = outcome === 'late_payment'
    const sums = { refundedAmount, refundRevision, updatedAt, ...(paid && { paid, paidAt }) }
    const rest = event.isAlert || isLate ? kept : { ...kept, ...sums }
    if (isUnchanged) expect(storyOf(after, transaction.id)?.transaction).toMatchObject(rest)
  }
  const was = storyOf(before)
  const from = was?.transaction.status
  if (outcome === 'duplicate') {
    expect(after).toEqual(before)
    return
  }
  if (!was || from === undefined) {
    expect(outcome).toBe('parked')
    return
  }
  const isReport = isPaidLate(was) && event.status.endsWith('Refunded')
  // What is disputed was paid.
  const isKnown = event.isDisputed === true && event.status === 'Paid' && !isUnpaid(from)
  const verdict =
    event.isAlert || isReport || isKnown ? 'unchanged' : judge(from, event.status as PaymentStatus)
  const mayReject = verdict === 'applied' && event.onMismatch === 'reject'
  const isRefund = event.status.endsWith('Refunded')
  // A refund that is reported again after one has failed; and one that was overtaken.
  const wasPaid = was.transaction.paid !== undefined
  const others = isRefund && wasPaid ? ['applied', 'unchanged'] : []
  expect([...(mayReject ? ['applied', 'rejected'] : [verdict]), ...others]).toContain(outcome)
}

type Life = typeof steps extends fc.Arbitrary<infer Generated> ? Generated : never

/** Runs all steps and checks each. Returns the ids of the dispatched events. */
async function play(w: LedgerSetup, life: Life, seen: Set<string>): Promise<string[]> {
  const dispatched: string[] = []
  const lasting: Call[] = []
  let now = T0
  let before = await everything(w)
  for (const { step, waitMs, again } of life) {
    now += waitMs
    const call = await step(w, now)
    if (!call) continue
    const answer = await call.make()
    const after = await everything(w)
    dispatched.push(...answer.pending.map(({ outboxId }) => outboxId))
    for (const story of after.stories) {
      const old = before.stories.find((each) => each.transaction.id === story.transaction.id)
      checkChange(old, story)
      checkStory(story, old)
    }
    checkAlerts(after)
    checkMovements(after)
    checkOrders(after)
    checkPause(before, after)
    if (call.event) checkWebhook(call.event, answer, before, after)
    note(after, seen)

    // A repeated call changes nothing, whether it is the last one or an earlier one.
    if (call.isLasting) lasting.push(call)
    const old = again === undefined ? undefined : lasting[again % lasting.length]
    for (const repeated of call.continues ? [old] : [call, old]) {
      if (!repeated) continue
      await repeated.make()
      expect(await everything(w)).toEqual(after)
    }
    before = after
  }
  return dispatched
}

function note(
  { stories, alerts, webhookEvents, movements, pause }: Everything,
  seen: Set<string>,
): void {
  if (pause) seen.add('paused')
  for (const each of movements) if ('kind' in each) seen.add(`moved ${each.kind}`)
  for (const { transaction, refunds } of stories) {
    if (transaction.error) seen.add(transaction.error.code)
    seen.add(transaction.status)
    for (const { status } of refunds) seen.add(`refund ${status}`)
  }
  for (const { kind } of alerts) seen.add(kind)
  for (const { outcome } of webhookEvents) seen.add(outcome)
}

describe('money', { timeout: BUSY_MS }, () => {
  it('moves only as the graph allows, with one event for each change, and is never refunded twice', async () => {
    const seen = new Set<string>()
    const missing = () => OUTCOMES.filter((each) => !seen.has(each))
    const lived = fc.asyncProperty(steps, async (life) => {
      const deliverer = new FakeDeliverer()
      const { ledger, queries } = sqliteLedger({
        subscribers: ALERTED,
        deliver: deliverer.deliver,
        clock: hostClock,
        log: () => undefined,
      })
      const w = new LedgerSetup({ ledger, outbox: ledger, queries }, deliverer)
      const dispatched = await play(w, life, seen)
      const { stories } = await everything(w)
      // Each event was dispatched once, when it was caused.
      const stored = stories.flatMap(({ events }) => events.map(({ id }) => id))
      expect(dispatched.toSorted(byText)).toEqual(stored.toSorted(byText))
    })
    // The rarest outcome is in every tenth life: in one run of 20 the first lives miss one.
    for (let tries = 0; tries < 10 && missing().length > 0; tries++) {
      await fc.assert(lived, { numRuns: 30, endOnFailure: true })
    }
    // The random steps reached every outcome.
    expect(missing()).toEqual([])
  })
})

const saves = (statements: readonly Statement[]) =>
  statements.some(({ sql }) => sql.includes('INSERT INTO'))

describe('money, when the answer to each save is lost,', () => {
  it('moves in the same way, and each event is due after its lease', async () => {
    // Saves without an INSERT claim due rows: repeated, they claim others, so their answers stay.
    const lived = fc.asyncProperty(steps, async (life) => {
      const database = sqliteDatabase()
      const link: Database = {
        ...database,
        async write(statements, signal) {
          const results = await database.write(statements, signal)
          if (saves(statements)) throw new DatabaseUnreachable('its answer was lost')
          return results
        },
      }
      const w = setupOver(link, { clock: impatient, subscribers: ALERTED })
      await play(w, life, new Set())
      const open = database.all('SELECT id FROM payment_outbox WHERE done_at IS NULL')
      const due = await w.outbox.claimPending({ now: T0 + 60_000 * MINUTE, limit: 1_000 })
      expect(due.map(({ outboxId }) => outboxId)).toEqual(
        expect.arrayContaining(open.map(({ id }) => id)),
      )
    })
    await fc.assert(lived, { numRuns: 5, endOnFailure: true })
  })
})

// biome-ignore format: several names a line.
const OUTCOMES = [
  'Pending', 'Paid', 'Failed', 'Cancelled', 'Expired', 'Refunded', 'PartiallyRefunded', 'applied',
  'unchanged', 'illegal', 'rejected', 'parked', 'late_payment', 'amount_mismatch', 'refund_failed',
  'unsettled', 'replaced', 'cancelled', 'moved paid', 'moved late_paid', 'moved refunded',
  'moved refund_failed', 'moved refused_paid', 'refund claimed', 'refund accepted',
  'refund succeeded', 'refund failed', 'paused',
]

const byText = (a: string, b: string) => (a < b ? -1 : 1)
