// How events reach a host application.

import * as z from 'zod'
import type * as api from '../../../api/types.ts'
import { raisedAlertSchema, settledAlertSchema } from './alerts.ts'
import { chargeSchema, transactionSchema, webhookPayloadSchema } from './schemas.ts'
import { CALL_KINDS, type DurableEvent, type EventName } from './status.ts'

export type PaymentEvents = api.PaymentEvents

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

// The eleven events that a host application listens to, and their payloads, for the OpenAPI
// document: at run time nothing else loads them.

const { replace: _, repeat: _repeat, ...requested } = chargeSchema.shape

/** The request of a charge, as it is stored and in events. */
export const requestedSchema = z.object(requested)

const moved = z.object({ transaction: transactionSchema })

export const EVENT_PAYLOADS = {
  PaymentInitiated: z
    .object({
      gateway: z.string(),
      request: requestedSchema,
      transaction: transactionSchema,
    })
    .describe('Stored before the gateway is called.'),
  PaymentSucceeded: moved.describe('Compare `paid` with the price, then deliver.'),
  PaymentFailed: moved.describe('The same request starts another attempt.'),
  PaymentCancelled: moved.describe('Cancelled or expired: the status of the transaction tells.'),
  PaymentRefunded: moved.describe('All of it or a part: `refundedAmount` tells.'),
  AlertRaised: z
    .object({ alert: raisedAlertSchema, transaction: transactionSchema })
    .describe('A person should look at this transaction: the alert says why.'),
  AlertSettled: z
    .object({ alert: settledAlertSchema, transaction: transactionSchema })
    .describe('Somebody acknowledged this alert, or a refund settled it.'),
  WebhookReceived: z
    .object({ payload: webhookPayloadSchema })
    .describe('A verified webhook came, a duplicate too.'),
  WebhookVerificationFailed: z
    .object({
      gateway: z.string(),
      reason: z.string(),
      headers: z.record(z.string(), z.string()).describe('Sensitive ones are redacted.'),
    })
    .describe('A webhook whose signature or token is wrong.'),
  GatewayTimeout: z
    .object({ gateway: z.string(), endpoint: z.string(), durationMs: z.number() })
    .describe('A gateway did not answer in time.'),
  CircuitOpened: z
    .object({ gateway: z.string(), kind: z.enum(CALL_KINDS) })
    .describe('Once per opening. `kind`: the calls that are not made for now.'),
} satisfies Record<EventName, z.ZodType>
