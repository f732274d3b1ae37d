// What is stored of a decision: the rows that it has changed or made, its events for their
// subscribers, its alerts, who asked for it, and what it moves in the books: money that was paid,
// given back, or came back. Pure, but for new ids.

import { capturedIn, refusedPart } from '../domain/capture.ts'
import { decideInOrder, isOfOrder, type References } from '../domain/double-payment.ts'
import { newId } from '../domain/new-id.ts'
import {
  type Decision,
  isRaisedOrSettled,
  type NewEvent,
  type Payment,
  paidAmount,
  raiseAlert,
  withAlerts,
} from '../domain/payment.ts'
import {
  type AlertRow,
  AUDIT,
  type AuditRow,
  DELIVERIES,
  type DeliveryRow,
  json,
  type MovementRow,
  OUTBOX,
  type OutboxRow,
  type RefundRow,
  type TransactionRow,
  toAlert,
  toTransaction,
  type WebhookEventRow,
} from '../domain/rows.ts'
import { UNPAID_ENDS } from '../domain/status.ts'
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
function payloadOf({ type, transaction: row, alert, previousRefundedAmount }: NewEvent): string {
  const transaction = toTransaction(row)
  if (type !== 'PaymentInitiated') {
    return JSON.stringify({ ...(alert && { alert }), transaction, previousRefundedAmount })
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
  const isForNobody = !isListened && endpoint === undefined
  if (isForNobody || alert.detail.type === 'AlertRaised') return undefined
  const createdAt = row.acknowledged_at ?? row.created_at
  const { correlation_id: correlationId } = of.transaction
  const event: NewEvent = { ...of, type, alert, correlationId, createdAt }
  return outboxRows(event, { hasListeners: () => isListened, endpointFor: () => endpoint })
}

/** A decision that may move money. */
interface Moving {
  before: Payment
  decision: Decision
  now: number
  /** That caused it, with its outcome. */
  event?: WebhookEventRow
}

/**
 * Stores a decision with what it moves in the books, and with what follows for an order that was
 * paid twice.
 */
export function storeInOrder(
  rows: WorkingSet,
  { before, decision, now, event }: Moving,
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

/** `event`: the gateway's, with its outcome. Without one, it happened at `now`. */
interface Cause {
  now: number
  event?: WebhookEventRow | undefined
}

type Moved = Pick<MovementRow, 'kind' | 'amount'> & Partial<MovementRow>

/**
 * The movements of one decision. Those of a payment, without `refused_paid`, `disputed` and
 * `dispute_returned`, add up to what was paid less what was refunded.
 * @forTests The books of single decisions.
 */
export function movementsOf(
  before: Payment,
  decision: Pick<Decision, 'payment' | 'alerts'>,
  { now, event }: Cause,
): MovementRow[] {
  const { transaction } = decision.payment
  const moved = [
    ...paidOf(before.transaction, transaction),
    ...refundsOf(before, decision.payment),
    ...besideOf(before, decision, event),
    ...refusedPartOf(before, decision.payment, event),
    ...disputesOf(before, decision.payment),
  ]
  return moved.map((each) => ({
    id: newId(now),
    transaction_id: transaction.id,
    gateway: transaction.gateway,
    refund_id: null,
    currency: transaction.paid_currency ?? transaction.currency,
    booked_at: now,
    occurred_at: event?.occurred_at ?? now,
    estimated: 0,
    ...each,
  }))
}

function paidOf(before: TransactionRow, after: TransactionRow): Moved[] {
  if (after.paid_at === null) return []
  const amount = paidAmount(after) - (before.paid_at === null ? 0 : paidAmount(before))
  const kind = UNPAID_ENDS.includes(after.status) ? 'late_paid' : 'paid'
  return before.paid_at === null || amount > 0 ? [{ kind, amount }] : []
}

/** Refunds of more than was paid count as what was paid. */
function refundsOf(before: Payment, after: Payment): Moved[] {
  if (after.transaction.paid_at === null) return []
  const paid = paidAmount(after.transaction)
  const isFirst = before.transaction.paid_at === null
  const paidBefore = isFirst ? 0 : paidAmount(before.transaction)
  // What was refunded before it was paid counts from now on.
  const known = isFirst ? [] : before.refunds
  const changes = after.refunds
    .map((row) => ({ row, change: made(row) - made(known.find(({ id }) => id === row.id)) }))
    // What came back first: otherwise what replaces it would be more than was paid.
    .toSorted((a, b) => a.change - b.change)
  let sum = known.reduce((total, row) => total + made(row), 0)
  // What had been refunded of more than was paid counts as soon as more was captured.
  const gift = Math.min(paidBefore, sum) - Math.min(paid, sum)
  const last = known.findLast((row) => made(row) > 0)
  const given: Moved[] =
    gift < 0 && last ? [{ kind: 'refunded', amount: gift, refund_id: last.id }] : []
  const moved = changes.flatMap(({ row, change }): Moved[] => {
    const amount = Math.min(paid, sum) - Math.min(paid, sum + change)
    sum += change
    if (amount === 0) return []
    return [{ kind: amount < 0 ? 'refunded' : 'refund_failed', amount, refund_id: row.id }]
  })
  return [...given, ...moved]
}

const made = (row: RefundRow | undefined): number => (row?.status === 'succeeded' ? row.amount : 0)

/** More of a part that was refused; or less, once the payment counts the whole. */
function refusedPartOf(before: Payment, after: Payment, event: WebhookEventRow | undefined) {
  if (!event || capturedIn(event) === undefined) return []
  const amount = refusedPart(after) - refusedPart(before)
  const { currency } = event
  return amount === 0 ? [] : [{ kind: 'refused_paid', amount, currency } satisfies Moved]
}

/** Money that no payment counts. Reported again, it is the same alert, and no movement. */
function besideOf(
  before: Payment,
  { alerts }: Pick<Decision, 'alerts'>,
  event: WebhookEventRow | undefined,
): Moved[] {
  return alerts.flatMap(({ kind, subject }): Moved[] => {
    const isKnown = before.alerts.some((row) => row.kind === kind && row.subject === subject)
    if (isKnown || !event) return []
    const { amount, currency } = event
    const isRefused = kind === 'amount_mismatch' && event.outcome === 'rejected'
    return isRefused ? [{ kind: 'refused_paid', amount, currency }] : []
  })
}

/** What banks have taken of each dispute, or of each chargeback, and given back. */
function disputesOf({ disputes: known }: Payment, { disputes }: Payment): Moved[] {
  const changes = disputes.map((row) => {
    const was = known.find(({ id }) => id === row.id)
    const change = row.out_amount - (was?.out_amount ?? 0)
    return { dispute: row.dispute, currency: row.currency, change, isSum: was?.part === null }
  })
  // Where only the sum was known, its parts are not known to have moved.
  const [sums, single] = [
    changes.filter(({ isSum }) => isSum),
    changes.filter(({ isSum }) => !isSum),
  ]
  const merged = sums.map((sum) => {
    const others = single.filter(({ dispute }) => dispute === sum.dispute)
    return { ...sum, change: others.reduce((total, { change }) => total + change, sum.change) }
  })
  const rest = single.filter(({ dispute }) => sums.every((sum) => sum.dispute !== dispute))
  return [...merged, ...rest].flatMap(({ change, currency }): Moved[] =>
    change === 0
      ? []
      : [{ kind: change > 0 ? 'disputed' : 'dispute_returned', amount: change, currency }],
  )
}

/** Records who asked for it. What nobody asked for, such as a sweeper's check, leaves no row. */
export function recordAct(
  rows: WorkingSet,
  asked: { id: string; by?: string | undefined } | undefined,
  act: Pick<AuditRow, 'at' | 'action'> & Partial<AuditRow>,
): void {
  if (asked?.by === undefined) return
  rows.put({ audit: [AUDIT.row({ ...act, id: asked.id, subject: asked.by })] })
}
