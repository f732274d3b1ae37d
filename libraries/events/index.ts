// The public API of the package `signalbox/events`.

import {
  createEventReceiver,
  type EventReceiver,
  type HandleEventsOptions,
} from './handle-events.ts'

export type { EventName } from '../../worker/payments/domain/status.ts'
export type {
  AlertKind,
  Paid,
  PaymentEvents,
  PaymentStatus,
  RaisedAlert,
  RequestedCharge as ChargeRequest,
  Transaction,
  WebhookPayload,
} from '../api/types.ts'
export type { Claim, EventIds } from './event-ids.ts'
export type { EventHandlers, EventReceiver, HandleEventsOptions } from './handle-events.ts'
export { type EventsConfigCode, EventsConfigError } from './handle-events.ts'
export { type NodeRequest, type NodeResponse, toNodeHandler } from './node-handler.ts'
export type { ReceivedEvent } from './read-event.ts'

/**
 * Receives the events of payments: verifies each, handles it once, and answers so that one whose
 * handler failed is sent again. Throws EventsConfigError at once where an option is wrong.
 *
 * @example
 * const receive = handleEvents({
 *   secrets: 'whsec_…',
 *   on: { PaymentSucceeded: ({ transaction }) => ship(transaction.reference) },
 * })
 * Deno.serve(receive)
 */
export const handleEvents = (options: HandleEventsOptions): EventReceiver =>
  createEventReceiver(options, Date.now)
