// How events reach a host application.

import type * as z from 'zod'
import type { EVENT_PAYLOADS } from './event-payloads.ts'
import type { DurableEvent, EventName } from './status.ts'

export type PaymentEvents = { [Name in EventName]: z.infer<(typeof EVENT_PAYLOADS)[Name]> }

/** A listener that throws or rejects is called again later, like a delivery that failed. */
export type Listener<Name extends EventName> = (payload: PaymentEvents[Name]) => unknown

export type Listeners = { [Name in EventName]?: Listener<Name> | readonly Listener<Name>[] }

/** A stored event that is to be dispatched. It is leased. */
export type PendingEvent = ReadablePendingEvent | UnreadablePendingEvent

export interface ReadablePendingEvent extends Pending {
  payload: PaymentEvents[DurableEvent]
}

/** Its row cannot be read: it is given up at once, with an alert. */
export interface UnreadablePendingEvent extends Pending {
  /** Why, in a sentence. */
  invalid: string
}

interface Pending {
  outboxId: string
  type: DurableEvent
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

/** Who gets stored events, as configured. An event without a subscriber is stored as done. */
export interface Subscribers {
  hasListeners(type: DurableEvent): boolean
  /** URL of the host application's endpoint, if it wants events of this type. */
  endpointFor(type: DurableEvent): string | undefined
}
