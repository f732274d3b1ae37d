// An event that came before its payment: it is parked, and applied once the payment has one of its
// ids. Pure.

import { alertAbout } from '../domain/alerts.ts'
import { unchanged } from '../domain/payment.ts'
import { type TransactionRow, unreadableReason, type WebhookEventRow } from '../domain/rows.ts'
import { type Act, byId, type Rules, type WorkingSet } from './act.ts'
import { store } from './store.ts'
import { applyOnce, matchIn } from './webhook.ts'

/** The ids of parked events whose payment has appeared, in the order in which they occurred. */
export const findParked = (limit: number): Act<string[]> => ({
  keys: [['dueParked', { limit }]],
  decide: (rows) =>
    rows
      .all('webhookEvents')
      .toSorted(byTime)
      .slice(0, limit)
      .map(({ id }) => id),
})

export const applyParked = (id: string, rules: Rules, now: number): Act<void> => ({
  keys: [['parked', id]],
  decide(rows) {
    const event = rows.get('webhookEvents', id)
    // Applied before: by this very call, whose answer was lost, or by another.
    if (event?.outcome === 'parked') applyParkedTo(rows, event, rules, now)
  },
})

/** By any of its ids: which payment an event is about is decided for each by itself, in order. */
export function applyParkedFor(
  rows: WorkingSet,
  { gateway, ...ids }: TransactionRow,
  rules: Rules,
  now: number,
): void {
  const isSame = (a: string | null, b: string | null) => a !== null && a === b
  const parked = rows
    .all('webhookEvents')
    .filter(
      (event) =>
        event.outcome === 'parked' &&
        event.gateway === gateway &&
        (isSame(event.gateway_transaction_id, ids.gateway_transaction_id) ||
          isSame(event.external_reference_id, ids.external_reference_id) ||
          isSame(event.reference, ids.reference)),
    )
  for (const event of parked.toSorted(byTime)) applyParkedTo(rows, event, rules, now)
}

/** One that throws stays parked, with an alert: others must not wait for it. */
function applyParkedTo(rows: WorkingSet, parked: WebhookEventRow, rules: Rules, now: number): void {
  const matched = matchIn(rows, parked)
  if (!matched) return
  try {
    rows.attempt(() => applyOnce(rows, matched, parked, { now }, rules))
  } catch (error) {
    const detail = { eventId: parked.event_id, error: unreadableReason(error) }
    const alert = alertAbout(matched.row, 'unreadable', now, detail, parked.id)
    store(rows, { ...unchanged(matched.payment), alerts: [alert] }, rules)
  }
}

/** In the order in which they occurred. */
const byTime = (a: WebhookEventRow, b: WebhookEventRow): number =>
  a.occurred_at - b.occurred_at || byId(a, b)
