// An act, as the writer takes it: which rows it has to see, and what it decides on them. Many are
// loaded, decided one after the other, and saved as one transaction. Pure.

import { decideInOrder, isOfOrder, type References } from '../domain/double-payment.ts'
import type { PaymentIds } from '../domain/match.ts'
import { movementsOf } from '../domain/movement.ts'
import { newId } from '../domain/new-id.ts'
import { alertRows, outboxRows, type Subscribers } from '../domain/outbox.ts'
import {
  type Decision,
  isRaisedOrSettled,
  type Payment,
  raiseAlert,
  withAlerts,
} from '../domain/payment.ts'
import {
  type AlertRow,
  AUDIT,
  type AuditRow,
  type TransactionRow,
  type WebhookEventRow,
} from '../domain/rows.ts'
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

/** How rows are looked up, and by what. A payment comes with its refunds, disputes and alerts. */
export interface Lookups {
  payment: [id: string]
  /** With its request. */
  check: [id: string]
  gatewayId: [gateway: string, id: string]
  externalId: [gateway: string, id: string]
  /** The payment of this order that has no gateway's id. */
  unnamed: [gateway: string, reference: string]
  /** The payment of this idempotency key, which may be a further one. */
  chargeKey: [gateway: string, key: string]
  /** Every attempt to pay this order, with their requests. */
  order: [gateway: string, reference: string]
  /** The further idempotency keys of this payment. */
  keysOf: [transactionId: string]
  /**
   * A charge that ended: its payment, the other one with this id, and what is parked for it, with
   * the payments that have the ids of that.
   */
  charge: [id: string, gatewayId: string | null]
  /** A refund's payment. */
  refund: [id: string]
  event: [gateway: string, eventId: string]
  /** A parked event by its id, with the payments that have its ids. */
  parked: [id: string]
  outbox: [id: string]
  /** The payment of this outbox row. */
  paymentOf: [outboxId: string]
  /** With the open alert about its endpoint. */
  delivery: [id: string]
  /** With its outbox row. */
  redelivered: [id: string]
  /** Deliveries that wait for an endpoint, the oldest `HURRIED_AT_ONCE`. */
  waiting: [endpoint: string, now: number, since: number]
  alert: [kind: string, subject: string]
  /** With its payment. */
  alertId: [id: string]
  /** What is due, up to a limit. */
  dueChecks: [DueClaim]
  dueEvents: [Required<EventClaim>]
  /** Parked events whose payment has appeared. */
  dueParked: [{ limit: number }]
}

export type Key = { [Name in keyof Lookups]: readonly [Name, ...Lookups[Name]] }[keyof Lookups]

/** Payments by any of these ids. */
export function keysOfIds(ids: PaymentIds): Key[] {
  const { gateway, gateway_transaction_id: gatewayId, reference } = ids
  const { transaction_id: id, external_reference_id: external } = ids
  const keys: Key[] = []
  if (id != null) keys.push(['payment', id])
  if (gatewayId !== null) keys.push(['gatewayId', gateway, gatewayId])
  if (external !== null) keys.push(['externalId', gateway, external])
  if (reference !== null) keys.push(['unnamed', gateway, reference])
  return keys
}

export interface Act<Answer> {
  /** The rows that it has to see. */
  keys: readonly Key[]
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

/** Its steps with this change, an event each: of one that is new and over, both. */
function alertSteps(row: AlertRow, before: AlertRow | undefined): AlertRow[] {
  if (!isRaisedOrSettled(before, row)) return []
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
