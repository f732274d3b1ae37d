// Durable events on their way to subscribers: stored with the change that causes them, leased,
// tried, settled. The listeners in process and the endpoint are tried separately. Pure.

import type { Alert, NewEvent } from './payment.ts'
import { MAX_RETRY_MS } from './retry.ts'
import type { AlertRow, DeliveryRow, OutboxRow, TransactionRow } from './rows.ts'
import { json, present, toAlert, toTransaction } from './shown.ts'
import type { DurableEvent, PassingEvent } from './status.ts'
import { hasCome } from './time.ts'
import type { PaymentEvents } from './types.ts'

/** How long a dispatch holds an event: longer than listeners and an endpoint may take. */
export const LEASE_MS = 60_000

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

/** Passes an event on to its subscribers, once. Answers at once, and never throws. */
export type Notify = <Name extends PassingEvent>(name: Name, payload: PaymentEvents[Name]) => void

/** What came of dispatching one event; what was not tried is missing. */
export interface Dispatched {
  outboxId: string
  /** Without `nextAttemptAt` a failure is the last: the ledger raises the alert `listener_dead`. */
  listeners?: { ok: boolean; nextAttemptAt?: number; error?: string }
  /** Without `nextAttemptAt` a failure is the last: the delivery is `dead`. */
  delivery?: { id: string; ok: boolean; nextAttemptAt?: number; status?: number; error?: string }
}

/** Who gets stored events, as configured. An event without a subscriber is stored as done. */
export interface Subscribers {
  hasListeners(type: DurableEvent): boolean
  /** URL of the host application's endpoint, if it wants events of this type. */
  endpointFor(type: DurableEvent): string | undefined
}

export interface EventRows {
  outbox: OutboxRow
  delivery: DeliveryRow | undefined
}

/**
 * The rows of a new event. It is leased, since it is dispatched right after it is stored. Without a
 * listener it is done at once.
 */
export function outboxRows(event: NewEvent, { hasListeners, endpointFor }: Subscribers): EventRows {
  const { id, type, transaction, createdAt: created_at, correlationId: correlation_id } = event
  const turn = { attempts: 0, leased_until: created_at + LEASE_MS, next_attempt_at: created_at }
  const endpoint = endpointFor(type)
  const outbox: OutboxRow = {
    id,
    transaction_id: transaction.id,
    type,
    payload: payloadOf(event),
    correlation_id,
    created_at,
    ...turn,
    done_at: hasListeners(type) ? null : created_at,
  }
  const delivery: DeliveryRow | undefined =
    endpoint === undefined
      ? undefined
      : {
          id,
          outbox_id: id,
          endpoint,
          status: 'pending',
          created_at,
          ...turn,
          last_status: null,
          last_error: null,
          delivered_at: null,
        }
  return { outbox, delivery }
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

/**
 * The rows of the event of an alert. Undefined: it has no subscriber. An alert about an event that
 * was given up goes only to the other kind of subscriber. An AlertRaised that was given up causes
 * no further event, since that would never end.
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

type Turn = Pick<OutboxRow, 'leased_until' | 'next_attempt_at'>

/** `dueBy`: after `now` only where the clock was set back while an event waited. */
interface Due {
  now: number
  dueBy: number
}

const isFree = ({ leased_until, next_attempt_at }: Turn, { now, dueBy }: Due): boolean =>
  (next_attempt_at <= dueBy || hasCome(next_attempt_at, now, MAX_RETRY_MS)) &&
  (leased_until === null || hasCome(leased_until, now, LEASE_MS))

export const areListenersDue = (outbox: OutboxRow, due: Due): boolean =>
  outbox.done_at === null && isFree(outbox, due)

export const isDeliveryDue = (delivery: DeliveryRow, due: Due): boolean =>
  delivery.status === 'pending' && isFree(delivery, due)

/** Failed events that wait for their next try. `since`: in ms, of those made from then on. */
export interface WaitingFor {
  endpoint: string
  since: number
  now: number
}

export const isWaiting = (
  { endpoint, status, attempts, created_at, next_attempt_at }: DeliveryRow,
  waiting: WaitingFor,
): boolean =>
  status === 'pending' &&
  attempts > 0 &&
  endpoint === waiting.endpoint &&
  next_attempt_at > waiting.now &&
  created_at >= waiting.since

/** An attempt ends its lease, so that a failure which is settled twice counts once. */
const ended = <Row extends OutboxRow | DeliveryRow>(row: Row): Row => ({
  ...row,
  attempts: row.attempts + 1,
  leased_until: null,
})

/** An event that is given up is done, too, and an alert says that it was not delivered. */
export function settleListeners(
  outbox: OutboxRow,
  { ok, nextAttemptAt }: NonNullable<Dispatched['listeners']>,
  now: number,
): { outbox: OutboxRow; isDead: boolean } {
  const isKnown = outbox.done_at !== null || (!ok && outbox.leased_until === null)
  if (isKnown) return { outbox, isDead: false }
  const isDone = ok || nextAttemptAt === undefined
  const next_attempt_at = ok ? outbox.next_attempt_at : (nextAttemptAt ?? outbox.next_attempt_at)
  const settled = { ...ended(outbox), next_attempt_at, done_at: isDone ? now : null }
  return { outbox: settled, isDead: isDone && !ok }
}

export function settleDelivery(
  delivery: DeliveryRow,
  { ok, nextAttemptAt, status, error }: NonNullable<Dispatched['delivery']>,
  now: number,
): { delivery: DeliveryRow; isDead: boolean } {
  const isKnown = delivery.status !== 'pending' || (!ok && delivery.leased_until === null)
  if (isKnown) return { delivery, isDead: false }
  const isDead = !ok && nextAttemptAt === undefined
  const settled: DeliveryRow = {
    ...ended(delivery),
    status: ok ? 'delivered' : isDead ? 'dead' : 'pending',
    delivered_at: ok ? now : null,
    next_attempt_at: nextAttemptAt ?? delivery.next_attempt_at,
    last_status: status ?? delivery.last_status,
    last_error: ok ? null : (error ?? delivery.last_error),
  }
  return { delivery: settled, isDead }
}

/** A person asks to send it again, so its status does not matter. */
export const redeliver = (delivery: DeliveryRow, now: number): DeliveryRow => ({
  ...delivery,
  status: 'pending',
  attempts: 0,
  next_attempt_at: now,
  leased_until: null,
  delivered_at: null,
})

/** `of`: what was given up, and why. */
export function deadAlert(
  transaction: TransactionRow,
  outbox: OutboxRow,
  of: {
    delivery?: DeliveryRow | undefined
    failed: { status?: number; error?: string } | undefined
    now: number
  },
): Alert {
  const { delivery, failed, now } = of
  return {
    kind: delivery ? 'delivery_dead' : 'listener_dead',
    subject: delivery?.id ?? outbox.id,
    gateway: transaction.gateway,
    transactionId: transaction.id,
    detail: {
      ...(delivery && { deliveryId: delivery.id, endpoint: delivery.endpoint }),
      ...undelivered(transaction, outbox),
      ...(failed?.status !== undefined && { lastStatus: failed.status }),
      ...(failed?.error !== undefined && { error: failed.error }),
    },
    createdAt: now,
  }
}

const undelivered = (
  { reference, amount, currency }: TransactionRow,
  { id: event, type }: OutboxRow,
) => ({ event, type, reference, amount, currency })

/** Standard Webhooks reads it as "disable". */
const GONE = 410

/** Whether the endpoint wants no more events. There is one, and only its operator can end it. */
export const isGone = (delivery: Dispatched['delivery']): boolean =>
  delivery !== undefined && !delivery.ok && delivery.status === GONE

/** One for an endpoint, however many events it refuses, until it accepts one. */
export const goneAlert = (
  transaction: TransactionRow,
  outbox: OutboxRow,
  { endpoint }: DeliveryRow,
  createdAt: number,
): Alert => ({
  kind: 'endpoint_gone',
  subject: endpoint,
  gateway: transaction.gateway,
  transactionId: transaction.id,
  detail: { endpoint, ...undelivered(transaction, outbox), lastStatus: GONE },
  createdAt,
})
