// Durable events on their way to their subscribers: those that are due are leased, and what came of
// trying them is settled. The listeners in process and the endpoint are tried separately. Pure.

import { MAX_RETRY_MS } from '../../shared/outgoing.ts'
import { alertAbout, settleAlert, withAlerts } from '../domain/alerts.ts'
import { type Alert, unchanged } from '../domain/payment.ts'
import { type DeliveryRow, type OutboxRow, present, type TransactionRow } from '../domain/rows.ts'
import type { DurableEvent } from '../domain/status.ts'
import { hasCome } from '../domain/time.ts'
import {
  type Act,
  type AskedBy,
  byId,
  type EventClaim,
  HURRIED_AT_ONCE,
  type Key,
  type Rules,
  type WaitingFor,
  type WorkingSet,
} from './act.ts'
import { type EventRows, LEASE_MS, recordAudit, store } from './store.ts'

/** A stored event that is to be dispatched. It is leased. */
export interface PendingEvent {
  outboxId: string
  type: DurableEvent
  transactionId: string
  /** JSON: what is stored is what is sent. */
  payload: string
  correlationId?: string
  /** When it happened, ms. */
  createdAt: number
  /** The listeners in process have not all taken it; how often they were tried. */
  listeners?: { attempts: number }
  /** The HTTP endpoint has not taken it. */
  delivery?: { id: string; endpoint: string; attempts: number }
}

/** What came of dispatching one event; what was not tried is missing. */
export interface Dispatched {
  outboxId: string
  /** Without `nextAttemptAt` a failure is the last: the ledger raises the alert `listener_dead`. */
  listeners?: { ok: boolean; nextAttemptAt?: number; error?: string }
  /** Without `nextAttemptAt` a failure is the last: the delivery is `dead`. */
  delivery?: { id: string; ok: boolean; nextAttemptAt?: number; status?: number; error?: string }
}

type Turn = Pick<OutboxRow, 'leased_until' | 'next_attempt_at'>

/** `dueBy`: after `now` only where the clock was set back while an event waited. */
interface Due {
  now: number
  dueBy: number
}

const isFree = ({ leased_until, next_attempt_at }: Turn, { now, dueBy }: Due): boolean =>
  (next_attempt_at <= dueBy || hasCome(next_attempt_at, now, MAX_RETRY_MS)) &&
  (leased_until === null || hasCome(leased_until, now, LEASE_MS))

/** @forTests The SQL that finds such events is compared with it. */
export const areListenersDue = (outbox: OutboxRow, due: Due): boolean =>
  outbox.done_at === null && isFree(outbox, due)

/** @forTests As `areListenersDue`. */
export const isDeliveryDue = (delivery: DeliveryRow, due: Due): boolean =>
  delivery.status === 'pending' && isFree(delivery, due)

/**
 * A stored event for its dispatch. Undefined: it has no subscriber left. `listeners`: those in
 * process have not all taken it.
 */
export function pendingEvent({
  outbox,
  listeners,
  delivery,
}: EventRows & { listeners: boolean }): PendingEvent | undefined {
  if (!listeners && !delivery) return undefined
  return {
    outboxId: outbox.id,
    type: outbox.type,
    transactionId: outbox.transaction_id,
    payload: outbox.payload ?? '',
    ...present({ correlationId: outbox.correlation_id }),
    createdAt: outbox.created_at,
    ...(listeners && { listeners: { attempts: outbox.attempts } }),
    ...(delivery && {
      delivery: { id: delivery.id, endpoint: delivery.endpoint, attempts: delivery.attempts },
    }),
  }
}

/** Leases what is due, the oldest first. */
export function claimEvents({ now, limit, dueBy = now }: EventClaim): Act<PendingEvent[]> {
  const leased_until = now + LEASE_MS
  const due = { now, dueBy }
  return {
    keys: [['dueEvents', { ...due, limit }]],
    decide(rows) {
      const events = rows
        .all('outbox')
        .map((outbox) => {
          const delivery = deliveriesOf(rows, outbox).find((each) => isDeliveryDue(each, due))
          return { outbox, listeners: areListenersDue(outbox, due), delivery }
        })
        .filter(({ listeners, delivery }) => listeners || delivery !== undefined)
        .toSorted((a, b) => a.outbox.created_at - b.outbox.created_at || byId(a.outbox, b.outbox))
        .slice(0, limit)
      for (const { outbox, listeners, delivery } of events) {
        if (listeners) rows.put({ outbox: [{ ...outbox, leased_until }] })
        if (delivery) rows.put({ deliveries: [{ ...delivery, leased_until }] })
      }
      return events.flatMap((event) => pendingEvent(event) ?? [])
    },
  }
}

const deliveriesOf = (rows: WorkingSet, { id }: OutboxRow): DeliveryRow[] =>
  rows.all('deliveries').filter(({ outbox_id }) => outbox_id === id)

/** The results of dispatched events: one act for all that are settled together. */
export function settleEvents(
  outcomes: readonly Dispatched[],
  now: number,
  rules: Rules,
): Act<undefined> {
  return {
    keys: outcomes.flatMap(keysOf),
    decide(rows) {
      for (const outcome of outcomes) settle(rows, outcome, now, rules)
      return undefined
    },
  }
}

function keysOf({ outboxId, listeners, delivery }: Dispatched): Key[] {
  const keys: Key[] = [['outbox', outboxId]]
  if (delivery) keys.push(['delivery', delivery.id])
  const isAlerting = isGivenUp(listeners) || isGivenUp(delivery) || isGone(delivery)
  if (!isAlerting) return keys
  keys.push(['paymentOf', outboxId], ['alert', 'listener_dead', outboxId])
  return [...keys, ['alert', 'delivery_dead', delivery?.id ?? outboxId]]
}

const isGivenUp = (result: Dispatched['listeners']): boolean =>
  result !== undefined && !result.ok && result.nextAttemptAt === undefined

function settle(
  rows: WorkingSet,
  { outboxId, listeners, delivery }: Dispatched,
  now: number,
  rules: Rules,
): void {
  const outbox = rows.get('outbox', outboxId)
  if (!outbox) return
  const notified = listeners && tried(outbox, outbox.done_at === null, listeners)
  if (notified) {
    // An event that is given up is done, too, and an alert says that it was not delivered.
    const isDone = listeners.ok || isGivenUp(listeners)
    rows.put({ outbox: [{ ...notified, done_at: isDone ? now : null }] })
  }
  const row = delivery && rows.get('deliveries', delivery.id)
  const sent = row && tried(row, row.status === 'pending', delivery)
  if (sent) rows.put({ deliveries: [withResult(sent, delivery, now)] })
  if (row && delivery?.ok) settleGone(rows, row.endpoint, now, rules)
  const payment = rows.payment(outbox.transaction_id)
  if (!payment) return
  const alerts: Alert[] = []
  const { transaction } = payment
  if (notified && isGivenUp(listeners)) {
    alerts.push(deadAlert(transaction, outbox, { failed: listeners, now }))
  }
  const isDead = sent !== undefined && isGivenUp(delivery)
  if (isDead) alerts.push(deadAlert(transaction, outbox, { delivery: row, failed: delivery, now }))
  if (row && isGone(delivery) && !isDead) alerts.push(goneAlert(transaction, outbox, row, now))
  store(rows, { ...unchanged(payment), alerts }, rules)
}

/** The endpoint accepts events again. */
function settleGone(rows: WorkingSet, endpoint: string, now: number, rules: Rules): void {
  const open = rows
    .all('alerts')
    .find((alert) => alert.kind === 'endpoint_gone' && alert.subject === endpoint)
  const payment = rows.payment(open?.transaction_id ?? undefined)
  if (!open || !payment) return
  store(rows, unchanged(withAlerts(payment, [settleAlert(open, 'delivery', now)])), rules)
}

/**
 * An attempt ends its lease, so that a failure which is settled twice counts once. Undefined: that
 * has counted, or the row waits for nothing any more.
 */
const tried = <Row extends OutboxRow | DeliveryRow>(
  row: Row,
  isOpen: boolean,
  { ok, nextAttemptAt = row.next_attempt_at }: { ok: boolean; nextAttemptAt?: number },
): Row | undefined =>
  isOpen && (ok || row.leased_until !== null)
    ? { ...row, attempts: row.attempts + 1, leased_until: null, next_attempt_at: nextAttemptAt }
    : undefined

const withResult = (
  row: DeliveryRow,
  result: NonNullable<Dispatched['delivery']>,
  now: number,
): DeliveryRow => ({
  ...row,
  status: result.ok ? 'delivered' : isGivenUp(result) ? 'dead' : 'pending',
  delivered_at: result.ok ? now : null,
  last_status: result.status ?? row.last_status,
  last_error: result.ok ? null : (result.error ?? row.last_error),
})

/** `of`: what was given up, and why. */
function deadAlert(
  transaction: TransactionRow,
  outbox: OutboxRow,
  of: {
    delivery?: DeliveryRow | undefined
    failed: { status?: number; error?: string } | undefined
    now: number
  },
): Alert {
  const { delivery, failed, now } = of
  const detail = {
    ...(delivery && { deliveryId: delivery.id, endpoint: delivery.endpoint }),
    ...undelivered(transaction, outbox),
    ...(failed?.status !== undefined && { lastStatus: failed.status }),
    ...(failed?.error !== undefined && { error: failed.error }),
  }
  const kind = delivery ? 'delivery_dead' : 'listener_dead'
  return alertAbout(transaction, kind, now, detail, delivery?.id ?? outbox.id)
}

const undelivered = ({ amount, currency }: TransactionRow, { id: event, type }: OutboxRow) => ({
  event,
  type,
  amount,
  currency,
})

/** Standard Webhooks reads it as "disable". */
const GONE = 410

/** Whether the endpoint wants no more events. There is one, and only its operator can end it. */
const isGone = (delivery: Dispatched['delivery']): boolean =>
  delivery !== undefined && !delivery.ok && delivery.status === GONE

/** One for an endpoint, however many events it refuses, until it accepts one. */
function goneAlert(
  transaction: TransactionRow,
  outbox: OutboxRow,
  { endpoint }: DeliveryRow,
  now: number,
): Alert {
  const detail = { endpoint, ...undelivered(transaction, outbox), lastStatus: GONE }
  return alertAbout(transaction, 'endpoint_gone', now, detail, endpoint)
}

interface Redelivered {
  id: string
  now: number
  asked?: AskedBy | undefined
}

export function redeliver({ id, now, asked }: Redelivered): Act<boolean> {
  return {
    keys: [['redelivered', id]],
    decide(rows) {
      const delivery = rows.get('deliveries', id)
      if (!delivery) return false
      const unsent = { attempts: 0, next_attempt_at: now, leased_until: null, delivered_at: null }
      rows.put({ deliveries: [{ ...delivery, ...unsent, status: 'pending' }] })
      const transaction_id = rows.get('outbox', delivery.outbox_id)?.transaction_id ?? null
      recordAudit(rows, asked, { at: now, action: 'redeliver', transaction_id, about: id })
      return true
    },
  }
}

const isWaiting = (
  { endpoint, status, attempts, created_at, next_attempt_at }: DeliveryRow,
  waiting: WaitingFor,
): boolean =>
  status === 'pending' &&
  attempts > 0 &&
  endpoint === waiting.endpoint &&
  next_attempt_at > waiting.now &&
  created_at >= waiting.since

interface Hurried extends WaitingFor {
  asked?: AskedBy | undefined
}

export function hurryEvents({ asked, ...waiting }: Hurried): Act<boolean> {
  const { endpoint, now: at } = waiting
  return {
    keys: [['waiting', endpoint, at, waiting.since]],
    decide(rows) {
      const waits = rows.all('deliveries').filter((row) => isWaiting(row, waiting))
      rows.put({ deliveries: waits.map((row) => ({ ...row, next_attempt_at: at })) })
      recordAudit(rows, asked, { at, action: 'redeliver', about: endpoint })
      return waits.length >= HURRIED_AT_ONCE
    },
  }
}
