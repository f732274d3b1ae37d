// The end of a run: all faults are over, what would happen within hours happens now, and the final
// state of everything is recorded.

import { setTimeout as sleep } from 'node:timers/promises'
import type { Payment } from '../../../simulator/payments.ts'
import type { BoardClient } from './board-client.ts'
import type { BoardLoad } from './loads/board-load.ts'
import { isInParts } from './loads/desk.ts'
import type { Recorder } from './recorder.ts'
import { bodyOf, type System } from './system.ts'

/** A circuit that the last fault opened is tried again after 30 s. */
const MAX_REST_MS = 240_000
/** A sidecar that could not publish for a while waits up to 30 s before it tries again. */
const MAX_BOARD_REST_MS = 180_000
const POLL_MS = 1_000
/** Longer together than the gateways wait before they send a webhook again. */
const QUIET_POLLS = 5
/** No clock that runs right is so far ahead. */
const AHEAD_MS = 3_600_000
/** More than a time service sets a clock back by at once. */
const STEP_MS = 120_000

/** Payments that one sweep asks about at most. */
const SWEEP_CHECKS = 50
const MOVES = ['delivered', 'undelivered', 'moved', 'chargedAgain', 'unreachable', 'failed']

type Json = Record<string, unknown>

interface Rest {
  /** Since when nothing has changed. */
  since?: string
  /** What still changed as the time was over: `sweep`, `rows`, `webhook`, `clock`. */
  moving?: string[]
}

/** Until nothing has changed for a while, or it takes too long: the checker finds what is left. */
export async function paymentsRest(system: System, recorder: Recorder): Promise<Rest> {
  const until = performance.now() + MAX_REST_MS
  let before = ''
  let rest: Rest = {}
  for (let quiet = 0; quiet < QUIET_POLLS && performance.now() < until; ) {
    await passTime(system)
    const isStill = await sweepAll(system, recorder)
    const time = new Date(system.now()).toISOString()
    const now = JSON.stringify(await system.query(COUNTS))
    const moves = {
      sweep: !isStill,
      rows: now !== before,
      webhook: system.proxies.webhooks.inFlight > 0,
      clock: await isAheadOfClock(system),
    }
    const moving = Object.entries(moves).flatMap(([what, isMoving]) => (isMoving ? [what] : []))
    quiet = moving.length === 0 ? quiet + 1 : 0
    rest = quiet === 0 ? { moving } : { since: rest.since ?? time }
    before = now
    await sleep(POLL_MS)
  }
  return rest
}

/** Until nothing is due any more. True if the first sweep already had nothing to do. */
async function sweepAll({ askPayments }: System, recorder: Recorder): Promise<boolean> {
  let isStill = true
  for (;;) {
    const sweep = askPayments<Json>('/sweep', { method: 'POST' })
    const report = await sweep.catch((error: unknown): Json => ({ error: String(error) }))
    recorder.write({ kind: 'sweep', ...report })
    isStill &&= MOVES.every((what) => report[what] === 0)
    // It checks so many at most at a time.
    if (report.checked !== SWEEP_CHECKS) return isStill
  }
}

/**
 * Checks and deliveries that are due later are due now. Not so what a clock planned that ran hours
 * ahead, and is right again: that the product has to find out by itself.
 */
async function passTime({ query, now }: System): Promise<void> {
  const isAhead = (...columns: string[]) =>
    columns.map((column) => `ifnull(${column}, 0) > ${now() + AHEAD_MS}`).join(' OR ')
  await query(
    // called_until 0: the gateway was never called for it.
    `UPDATE payment_transactions AS t SET next_check_at = 0, called_until = MIN(called_until, 1)
      WHERE next_check_at IS NOT NULL AND NOT (${isAhead('next_check_at')}
        AND (${isAhead('created_at', 'updated_at', 'last_check_at')} OR EXISTS (
          SELECT 1 FROM payment_refunds r WHERE r.transaction_id = t.id
            AND (${isAhead('r.updated_at')}))))`,
  )
  for (const table of ['payment_outbox', 'payment_deliveries']) {
    await query(
      `UPDATE ${table} SET next_attempt_at = 0, leased_until = NULL
        WHERE NOT (${isAhead('created_at')} AND ${isAhead('next_attempt_at')})`,
    )
  }
}

/**
 * A clock that stepped back: until it is where it was, what is read now counts as read before. One
 * that was an hour ahead is not waited for.
 */
async function isAheadOfClock({ query, now }: System): Promise<boolean> {
  const [from, to] = [now(), now() + STEP_MS]
  const rows = await query(
    `SELECT 1 FROM payment_transactions WHERE updated_at > ${from} AND updated_at < ${to} LIMIT 1`,
  )
  return rows.length > 0
}

/** How many rows there are of each table and status. */
const COUNTS = `
  SELECT 'transaction' AS what, status, COUNT(*) AS n FROM payment_transactions GROUP BY 2
  UNION ALL SELECT 'refund', status, COUNT(*) FROM payment_refunds GROUP BY 2
  UNION ALL SELECT 'event', outcome, COUNT(*) FROM payment_webhook_events GROUP BY 2
  UNION ALL SELECT 'outbox', done_at IS NULL, COUNT(*) FROM payment_outbox GROUP BY 2
  UNION ALL SELECT 'delivery', status, COUNT(*) FROM payment_deliveries GROUP BY 2`

/** Whether every client had the files as they are before it took too long. Nothing is saved. */
export async function boardRests(
  recorder: Recorder,
  { files }: BoardLoad,
  clients: readonly BoardClient[],
): Promise<boolean> {
  const until = performance.now() + MAX_BOARD_REST_MS
  const isRight = ({ view }: BoardClient) =>
    isSame(view.tasks, files.tasks) && isSame(view.sessions, files.sessions)
  // Claims go on, so on a slow machine there may be no moment in which all have read everything.
  const isDone = () => clients.every((client) => client.isIdle && isRight(client))
  while (!isDone() && performance.now() < until) await sleep(POLL_MS / 20)
  const [tasks, sessions] = [files.tasks, files.sessions].map((its) => Object.fromEntries(its))
  recorder.write({ kind: 'files', tasks, sessions })
  return clients.every(isRight)
}

const isSame = (one: Map<string, number>, other: Map<string, number>): boolean =>
  one.size === other.size && [...one].every(([key, value]) => other.get(key) === value)

/** Everything that can be asked for: of the gateways, and of the API. */
export async function writeDown(system: System, recorder: Recorder, rest: Rest): Promise<void> {
  recorder.write({ kind: 'at-rest', ...rest })
  const payments = await system.simulator.payments()
  for (const payment of payments.toReversed()) recorder.write(bookingOf(payment))
  await writeTransactions(system, recorder, 'stored')
  const { movements } = await system.askPayments<{ movements: Json[] }>('/movements')
  for (const movement of movements) recorder.write({ kind: 'movement', movement })
  for (const event of await all(system, 'webhook-events', 'webhookEvents')) {
    recorder.write({ kind: 'event', event })
  }
  for (const delivery of await noticesRest(system)) {
    recorder.write({ kind: 'delivery', delivery, isAhead: isFarAhead(system, delivery) })
  }
  for (const row of await activity(system)) recorder.write({ kind: 'activity', row })
  for (const alert of await all(system, 'alerts', 'alerts', '&all=true')) {
    recorder.write({ kind: 'alert', alert })
  }
}

export async function writeTransactions(
  system: System,
  recorder: Recorder,
  kind: 'stored' | 'later',
): Promise<void> {
  for (const { id } of await all(system, 'transactions', 'transactions')) {
    const transaction = await system.askPayments<Json>(`/transactions/${String(id)}`)
    recorder.write({ kind, transaction })
  }
}

function bookingOf({ gateway, refusedRefunds: refused, ...payment }: Payment) {
  const { id, reference, externalReference, state, amount, currency } = payment
  const money = payment.paid ?? { amount, currency }
  const isPaid = ['paid', 'refund_requested', 'refunded'].includes(state)
  // `name`: under which we asked for it.
  const refunds = isInParts(gateway)
    ? (payment.refunds ?? []).map(({ metadata, id, amount, status }) => {
        return { id, amount, status, name: metadata.refund_id }
      })
    : undefined
  const made = refunds?.filter(({ status }) => status === 'succeeded')
  const sum = made?.reduce((all, refund) => all + refund.amount, 0)
  const refunded = sum ?? (state === 'refunded' ? money.amount : 0)
  const names = { id, reference, externalReference, state, amount, currency }
  const paid = isPaid ? money : undefined
  return { kind: 'booking', gateway, payment: { ...names, paid, refunded, refused, refunds } }
}

/** All pages of a list. */
async function all(system: System, path: string, name: string, filter = ''): Promise<Json[]> {
  const rows: Json[] = []
  for (let cursor = ''; ; ) {
    const page = await system.askPayments<Json>(`/${path}?limit=200${filter}${cursor}`)
    rows.push(...(page[name] as Json[]))
    if (page.cursor === undefined) return rows
    cursor = `&cursor=${String(page.cursor)}`
  }
}

/** The history of the board, the oldest row first. */
async function activity(system: System): Promise<Json[]> {
  const rows: Json[] = []
  for (let before = ''; ; ) {
    const answer = await system.askBoard(`/activity?limit=1000${before}`)
    const page = await bodyOf<{ activity: Json[]; next?: number }>(answer)
    rows.push(...page.activity)
    if (page.next === undefined) return rows.toReversed()
    before = `&before=${page.next}`
  }
}

/** A clock that was an hour ahead planned it: it waits for that hour, as long as any may. */
const isFarAhead = ({ now }: System, { nextAt }: Json) =>
  nextAt !== undefined && Date.parse(String(nextAt)) > now() + AHEAD_MS / 2

/** The deliveries, once none is pending, or it takes too long. */
async function noticesRest(system: System): Promise<Json[]> {
  const until = performance.now() + MAX_REST_MS
  for (;;) {
    const { deliveries } = await bodyOf<{ deliveries: Json[] }>(await system.askBoard('/notices'))
    const isOver = deliveries.every((it) => it.state !== 'pending' || isFarAhead(system, it))
    if (isOver || performance.now() > until) return deliveries
    await sleep(POLL_MS)
  }
}
