// Durable events on their way to subscribers: stored with the change that causes them, leased,
// tried, settled. The listeners in process and the endpoint are tried separately. Pure.

import type { NewEvent } from './payment.ts'
import {
  type AlertRow,
  DELIVERIES,
  type DeliveryRow,
  json,
  OUTBOX,
  type OutboxRow,
  present,
  toAlert,
  toTransaction,
  type TransactionRow,
} from './rows.ts'
import type { DurableEvent, PassingEvent } from './status.ts'
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
