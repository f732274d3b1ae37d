// What is stored of a decision: the rows that it has changed or made, its events for their
// subscribers, its alerts, what follows where it moves money, and who asked for it. Pure, but for
// new ids.

import {
  decideInOrder,
  isOfOrder,
  isRaisedOrSettled,
  raiseAlert,
  withAlerts,
} from '../domain/alerts.ts'
import { movementsOf } from '../domain/books.ts'
import { newId } from '../domain/new-id.ts'
import type { Decision, NewEvent, Payment } from '../domain/payment.ts'
import {
  type AlertRow,
  AUDIT,
  type AuditRow,
  DELIVERIES,
  type DeliveryRow,
  json,
  OUTBOX,
  type OutboxRow,
  type TransactionRow,
  toAlert,
  toTransaction,
  type WebhookEventRow,
} from '../domain/rows.ts'
import type { References } from '../domain/types.ts'
import type { Rules, Subscribers, WorkingSet } from './act.ts'

/** Stores the rows that a decision has changed or made, with its events and alerts. */
export function store(
  rows: WorkingSet,
  { payment: decided, events, alerts }: Decision,
  { subscribers }: Rules,
): void {
  const known = rows.all('alerts')
  const raised = alerts.flatMap((alert) => {
    const same = known.find(({ kind, subject }) => kind === alert.kind && subject === alert.subject)
    return raiseAlert(alert, same, () => newId(alert.createdAt)) ?? []
  })
  const payment = withAlerts(decided, raised)
  const { transaction, refunds, disputes } = payment
  const changed = payment.alerts.filter((row) => row !== rows.get('alerts', row.id))
  const stored = [
    // The events of this decision have the alert, too.
    ...events.map((event) => {
      const then = { ...event.transaction, alert: transaction.alert }
      return outboxRows({ ...event, transaction: then }, subscribers)
    }),
    ...changed
      .flatMap((row) => alertSteps(row, rows.get('alerts', row.id)))
      .flatMap((row) => {
        const id = newId(row.acknowledged_at ?? row.created_at)
        return alertRows(row, { id, transaction }, subscribers) ?? []
      }),
  ]
  rows.put({
    transactions: [transaction],
    refunds,
    disputes,
    alerts: changed,
    outbox: stored.map(({ outbox }) => outbox),
    deliveries: stored.flatMap(({ delivery }) => delivery ?? []),
  })
}

/** Its steps with this change, an event each: of one that is new and over, both. */
function alertSteps(row: AlertRow, before: AlertRow | undefined): AlertRow[] {
  if (!isRaisedOrSettled(before, row)) return []
  const isKnown = before !== undefined || row.acknowledged_at === null
  return isKnown ? [row] : [{ ...row, acknowledged_at: null, acknowledged_by: null }, row]
}

/** How long a dispatch holds an event: longer than listeners and an endpoint may take. */
export const LEASE_MS = 60_000

export interface EventRows {
  outbox: OutboxRow
  delivery: DeliveryRow | undefined
}

/**
 * The rows of a new event. It is leased, since it is dispatched right after it is stored. Without a
 * listener it is done at once.
 * @forTests What an event is stored as.
 */
export function outboxRows(event: NewEvent, { hasListeners, endpointFor }: Subscribers): EventRows {
  const { id, type, transaction, createdAt: created_at, correlationId: correlation_id } = event
  const turn = { attempts: 0, leased_until: created_at + LEASE_MS, next_attempt_at: created_at }
  const endpoint = endpointFor(type)
  const outbox = OUTBOX.row({
    id,
    transaction_id: transaction.id,
    type,
    payload: payloadOf(event),
    correlation_id,
    created_at,
    ...turn,
    done_at: hasListeners(type) ? null : created_at,
  })
  if (endpoint === undefined) return { outbox, delivery: undefined }
  const of = { id, outbox_id: id, endpoint, status: 'pending', created_at } as const
  return { outbox, delivery: DELIVERIES.row({ ...of, ...turn }) }
}

/** The finished payload, which subscribers and readers get as it is. */
function payloadOf({ type, transaction: row, alert, more }: NewEvent): string {
  const transaction = toTransaction(row)
  if (type !== 'PaymentInitiated') {
    return JSON.stringify({ ...(alert && { alert }), transaction, ...more })
  }
  return JSON.stringify({ gateway: row.gateway, request: json(row.request), transaction })
}

/**
 * The rows of the event of an alert. Undefined: it has no subscriber. An alert about an event that
 * was given up goes only to the other kind of subscriber. An AlertRaised that was given up causes
 * no further event, since that would never end.
 * @forTests Who gets the event of an alert.
 */
export function alertRows(
  row: AlertRow,
  of: { id: string; transaction: TransactionRow },
  { hasListeners, endpointFor }: Subscribers,
): EventRows | undefined {
  const alert = toAlert(row)
  const type = row.acknowledged_at === null ? 'AlertRaised' : 'AlertSettled'
  const isListened = alert.kind !== 'listener_dead' && hasListeners(type)
  const isOfEndpoint = alert.kind === 'delivery_dead' || alert.kind === 'endpoint_gone'
  const endpoint = isOfEndpoint ? undefined : endpointFor(type)
  const hasSubscriber = isListened || endpoint !== undefined
  if (!hasSubscriber || alert.detail.type === 'AlertRaised') return undefined
  const createdAt = row.acknowledged_at ?? row.created_at
  const { correlation_id: correlationId } = of.transaction
  const event: NewEvent = { ...of, type, alert, correlationId, createdAt }
  return outboxRows(event, { hasListeners: () => isListened, endpointFor: () => endpoint })
}

/** A decision with what the books need of it. */
interface Booked {
  before: Payment
  decision: Decision
  now: number
  /** That caused it, with its outcome. */
  event?: WebhookEventRow
}

/**
 * Stores a decision with what it moves in the books, if anything, and with what follows for an
 * order that is paid twice by it, or no more.
 */
export function storeWithBooks(
  rows: WorkingSet,
  { before, decision, now, event }: Booked,
  rules: Rules,
): void {
  const others = othersOf(rows, before.transaction, rules.references)
  for (const each of decideInOrder(before, decision, others, now)) store(rows, each, rules)
  rows.put({ movements: movementsOf(before, decision, { now, event }) })
}

/** The other payments of its order that are loaded. */
export const othersOf = (
  rows: WorkingSet,
  transaction: TransactionRow,
  references: References,
): Payment[] =>
  rows
    .all('transactions')
    .filter((row) => isOfOrder(transaction, row, references))
    .flatMap(({ id }) => rows.payment(id) ?? [])

/** Records who asked for it. A check of a sweep, which is not asked for, leaves no row. */
export function recordAudit(
  rows: WorkingSet,
  asked: { id: string; by?: string | undefined } | undefined,
  entry: Pick<AuditRow, 'at' | 'action'> & Partial<AuditRow>,
): void {
  if (asked?.by === undefined) return
  rows.put({ audit: [AUDIT.row({ ...entry, id: asked.id, subject: asked.by })] })
}
