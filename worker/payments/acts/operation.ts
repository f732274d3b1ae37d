// An act, as the writer takes it: which rows it has to see, and what it decides on them. Many are
// loaded, decided one after the other, and saved as one transaction. Pure.

import { decideInOrder, isOfOrder, type References } from '../domain/double-payment.ts'
import type { PaymentIds } from '../domain/match.ts'
import { movementsOf } from '../domain/movement.ts'
import { newId } from '../domain/new-id.ts'
import { alertRows, outboxRows, type Subscribers } from '../domain/outbox.ts'
import { type Decision, isTold, type Payment, raiseAlert, withAlerts } from '../domain/payment.ts'
import { type AlertRow, AUDIT, type AuditRow, type WebhookEventRow } from '../domain/rows.ts'
import type { WorkingSet } from './working-set.ts'

/** A day of events may wait: one save of all of them would hold up every payment. */
export const HURRIED_AT_ONCE = 500

export interface DueClaim {
  now: number
  limit: number
}

export interface EventClaim extends DueClaim {
  /** Also what was due until then, after `now`: it has waited, and the clock was set back. */
  dueBy?: number
}

/** Failed events that wait for their next try. `since`: in ms, of those made from then on. */
export interface WaitingFor {
  endpoint: string
  since: number
  now: number
}

/** What is to be loaded. Every list may be missing. */
export interface Keys {
  /**
   * Payments by any of these ids, with their refunds, disputes and alerts. By its order, only a
   * payment without a gateway's id is loaded.
   */
  payments?: readonly Partial<PaymentIds & { id: string; idempotency_key: string }>[]
  /** Payments by our id, with their requests. */
  checks?: readonly string[]
  /** Every attempt to pay these orders, with their requests. */
  orders?: readonly { gateway: string; reference: string }[]
  /** The further idempotency keys of these payments. */
  chargeKeysOf?: readonly string[]
  /**
   * A charge that ended: its payment, the other one with this id, and what is parked for it, with
   * the payments that have the ids of that.
   */
  charges?: readonly { id: string; gateway_transaction_id: string | null }[]
  /** A refund's payment. */
  refunds?: readonly string[]
  webhookEvents?: readonly { gateway: string; event_id: string }[]
  /** Parked events by id, with the payments that have their ids. */
  parked?: readonly string[]
  /** Outbox rows with their deliveries. */
  outbox?: readonly string[]
  /** The payments of these outbox rows. */
  paymentsOfOutbox?: readonly string[]
  deliveries?: readonly string[]
  /** Deliveries that wait for an endpoint, the oldest `HURRIED_AT_ONCE`. */
  waitingFor?: readonly WaitingFor[]
  /** Deliveries with their outbox rows. */
  redelivered?: readonly string[]
  alerts?: readonly { kind: string; subject: string }[]
  /** With their payments. */
  alertIds?: readonly string[]
  /** What is due, up to a limit. */
  dueChecks?: DueClaim
  dueEvents?: Required<EventClaim>
  /** Parked events whose payment has appeared. */
  dueParked?: { limit: number }
}

export interface Operation<Answer> {
  keys: Keys
  /**
   * Puts what changes into the rows; if it throws, nothing does. Called again if what is stored has
   * changed before they were saved.
   */
  decide(rows: WorkingSet): Answer
}

/** How decisions are stored, as configured. */
export interface Rules {
  subscribers: Subscribers
  references: References
}

/** Who asked for a call, for the audit trail. Missing: nobody did. */
export interface Asked {
  /** ULID, generated once for each call. */
  id: string
  /** The subject. */
  by: string
}

/** It would have been begun now. `transactionId`: of the payment that it is about. */
export interface Paused {
  state: 'paused'
  transactionId?: string
}

/** Throws where its caller has taken the id from a payment that it knows. */
export function paymentIn(rows: WorkingSet, id: string): Payment {
  const payment = rows.payment(id)
  if (!payment) throw new Error(`there is no transaction ${id}`)
  return payment
}

export const byId = (a: { id: string }, b: { id: string }): number => (a.id < b.id ? -1 : 1)

/** Records who asked for it. What nobody asked for, such as a sweeper's check, leaves no row. */
export function recordAct(
  rows: WorkingSet,
  asked: { id: string; by?: string | undefined } | undefined,
  act: Pick<AuditRow, 'at' | 'action'> & Partial<AuditRow>,
): void {
  if (asked?.by === undefined) return
  rows.put({ audit: [AUDIT.row({ ...act, id: asked.id, subject: asked.by })] })
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
  const others = rows
    .all('transactions')
    .filter((row) => isOfOrder(before.transaction, row, rules.references))
    .flatMap(({ id }) => rows.payment(id) ?? [])
  for (const each of decideInOrder(before, decision, others, now)) store(rows, each, rules)
  rows.put({ movements: movementsOf(before, decision, { now, event }) })
}

/** What is told of a changed alert; of one that is known only with its end, its beginning, too. */
function toldAs(row: AlertRow, before: AlertRow | undefined): AlertRow[] {
  if (!isTold(before, row)) return []
  const isKnown = before !== undefined || row.acknowledged_at === null
  return isKnown ? [row] : [{ ...row, acknowledged_at: null, acknowledged_by: null }, row]
}

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
      .flatMap((row) => toldAs(row, rows.get('alerts', row.id)))
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
