// The end of a run: everything is healed, what would happen within hours happens now, and what is
// left is written down.

import { setTimeout as sleep } from 'node:timers/promises'
import type { Payment } from '../../local/simulator/payment.ts'
import type { BoardClient } from './board-client.ts'
import type { BoardLoad } from './board-load.ts'
import type { House } from './house.ts'
import type { Recorder } from './record.ts'

/** A circuit that the last fault opened is tried again after 30 s. */
const PATIENCE_MS = 120_000
const LOOK_MS = 1_000
/** Longer together than the gateways wait before they tell again. */
const QUIET_LOOKS = 5

/** Payments that one sweep asks about at most. */
const SWEEP_CHECKS = 50
const MOVES = ['delivered', 'undelivered', 'moved', 'chargedAgain', 'unreachable', 'failed']

type Json = Record<string, unknown>

export async function comeToRest(
  house: House,
  recorder: Recorder,
  board: BoardLoad,
  clients: readonly BoardClient[],
): Promise<void> {
  await Promise.all([paymentsRest(house, recorder), boardRests(board, clients)])
}

/** Until nothing has changed for a while, or patience is over: the checker says what is left. */
async function paymentsRest(house: House, recorder: Recorder): Promise<void> {
  const until = performance.now() + PATIENCE_MS
  let before = ''
  for (let quiet = 0; quiet < QUIET_LOOKS && performance.now() < until; ) {
    await passTime(house)
    const isStill = await sweepAll(house, recorder)
    const now = JSON.stringify(await standing(house))
    quiet = isStill && now === before && house.links.webhooks.passing === 0 ? quiet + 1 : 0
    before = now
    await sleep(LOOK_MS)
  }
}

/** Until nothing is due any more; whether there was nothing to do. */
async function sweepAll(house: House, recorder: Recorder): Promise<boolean> {
  let isStill = true
  for (;;) {
    const report = await sweep(house)
    recorder.write({ kind: 'sweep', ...report })
    isStill &&= MOVES.every((what) => report[what] === 0)
    // It checks so many at most, and those that are due the longest.
    if (report.checked !== SWEEP_CHECKS) return isStill
  }
}

/** What would be asked about or told later is due now. */
async function passTime(house: House): Promise<void> {
  await house.query(
    // 0: it was never called.
    `UPDATE payment_transactions SET next_check_at = 0, called_until = MIN(called_until, 1)
      WHERE next_check_at IS NOT NULL`,
  )
  await house.query('UPDATE payment_outbox SET next_attempt_at = 0, leased_until = NULL')
  await house.query('UPDATE payment_deliveries SET next_attempt_at = 0, leased_until = NULL')
}

async function sweep(house: House): Promise<Json> {
  try {
    return await ask<Json>(house, '/sweep', 'POST')
  } catch (error) {
    return { error: String(error) }
  }
}

/** How much there is of everything, and what it is. */
async function standing(house: House): Promise<unknown> {
  return await house.query(
    `SELECT 'transaction' AS what, status, COUNT(*) AS n FROM payment_transactions GROUP BY 2
      UNION ALL SELECT 'refund', status, COUNT(*) FROM payment_refunds GROUP BY 2
      UNION ALL SELECT 'event', outcome, COUNT(*) FROM payment_webhook_events GROUP BY 2
      UNION ALL SELECT 'outbox', done_at IS NULL, COUNT(*) FROM payment_outbox GROUP BY 2
      UNION ALL SELECT 'delivery', status, COUNT(*) FROM payment_deliveries GROUP BY 2`,
  )
}

async function boardRests(board: BoardLoad, clients: readonly BoardClient[]): Promise<void> {
  const until = performance.now() + PATIENCE_MS
  const isRight = ({ view, isIdle }: BoardClient) =>
    isIdle && isSame(view.tasks, board.files.tasks) && isSame(view.sessions, board.files.sessions)
  while (!clients.every(isRight) && performance.now() < until) await sleep(LOOK_MS / 10)
  // What comes once more shows itself.
  await sleep(LOOK_MS)
}

const isSame = (one: Map<string, number>, other: Map<string, number>): boolean =>
  one.size === other.size && [...one].every(([key, value]) => other.get(key) === value)

/** Everything that can be asked for, from each side's own books. */
export async function writeDown(house: House, recorder: Recorder, board: BoardLoad): Promise<void> {
  const { tasks, sessions } = board.files
  const files = { tasks: Object.fromEntries(tasks), sessions: Object.fromEntries(sessions) }
  recorder.write({ kind: 'files', ...files })
  const books = await fetch(`${house.simulator.url}/_control/payments`)
  const { payments } = (await books.json()) as { payments: Payment[] }
  for (const payment of payments.toReversed()) recorder.write(bookingOf(payment))
  for (const { id } of await all(house, 'transactions', 'transactions')) {
    const transaction = await ask<Json>(house, `/transactions/${String(id)}`)
    recorder.write({ kind: 'stored', transaction })
  }
  for (const event of await all(house, 'webhook-events', 'webhookEvents')) {
    recorder.write({ kind: 'event', event })
  }
  for (const alert of await all(house, 'alerts', 'alerts', '&all=true')) {
    recorder.write({ kind: 'alert', alert })
  }
  recorder.write({ kind: 'rest' })
}

function bookingOf({ gateway, ...payment }: Payment) {
  const { id, reference, externalReference, state, amount, currency } = payment
  const isPaid = ['paid', 'refund_requested', 'refunded'].includes(state)
  const paid = payment.paid ?? { amount, currency }
  const refunded = state === 'refunded' ? paid.amount : 0
  const names = { id, reference, ...(externalReference !== undefined && { externalReference }) }
  const money = { ...(isPaid && { paid }), refunded }
  return { kind: 'booking', gateway, payment: { ...names, state, amount, currency, ...money } }
}

/** All pages of a list. */
async function all(house: House, path: string, name: string, filter = ''): Promise<Json[]> {
  const rows: Json[] = []
  for (let cursor = ''; ; ) {
    const page = await ask<Json>(house, `/${path}?limit=200${filter}${cursor}`)
    rows.push(...(page[name] as Json[]))
    if (page.cursor === undefined) return rows
    cursor = `&cursor=${String(page.cursor)}`
  }
}

async function ask<Answer>(house: House, path: string, method = 'GET'): Promise<Answer> {
  const headers = { authorization: `Bearer ${house.tokens.payments}` }
  const answer = await fetch(`${house.edgeUrl}/api/payments${path}`, { method, headers })
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`)
  return (await answer.json()) as Answer
}
