// The public API of the package `signalbox/events`.

import {
  createEventReceiver,
  type EventReceiver,
  type HandleEventsOptions,
} from './handle-events.ts'

export type { RaisedAlert } from '../worker/payments/domain/alerts.ts'
export type { PaymentEvents } from '../worker/payments/domain/events.ts'
export type { WebhookPayload } from '../worker/payments/domain/payload.ts'
export type { AlertKind, EventName, PaymentStatus } from '../worker/payments/domain/status.ts'
export type { ChargeRequest, Paid, Transaction } from '../worker/payments/domain/transaction.ts'
export { type EventsConfigCode, EventsConfigError } from './check-options.ts'
export type { Claim, EventIds } from './event-ids.ts'
export type { EventHandlers, EventReceiver, HandleEventsOptions } from './handle-events.ts'
export type { ReceivedEvent } from './read-event.ts'

/**
 * Receives the events of payments: verifies each, handles it once, and answers so that one whose
 * handler failed is sent again. Throws EventsConfigError at once where an option is wrong.
 */
export const handleEvents = (options: HandleEventsOptions): EventReceiver =>
  createEventReceiver(options, Date.now)
