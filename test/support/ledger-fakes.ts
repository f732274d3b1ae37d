// Fakes around the ledger: subscribers, and a deliverer that records its events.

import type { Subscribers } from '../../worker/payments/acts/act.ts'
import type { PendingEvent } from '../../worker/payments/acts/dispatch.ts'
import {
  DURABLE_EVENTS,
  type DurableEvent,
  LIFECYCLE_EVENTS,
} from '../../worker/payments/domain/status.ts'
import type { PaymentEvents } from '../../worker/payments/domain/types.ts'
import type { Deliver } from '../../worker/payments/outbox/dispatch.ts'

export const ENDPOINT = 'https://shop.example/events'

/** By default to the five events of a payment's status. */
const subscribers = (
  isListened: boolean,
  endpoint?: string,
  types: readonly DurableEvent[] = LIFECYCLE_EVENTS,
): Subscribers => ({
  hasListeners: (type) => isListened && types.includes(type),
  endpointFor: (type) => (types.includes(type) ? endpoint : undefined),
})
export const ALERTED = subscribers(true, ENDPOINT, DURABLE_EVENTS)
export const BOTH = subscribers(true, ENDPOINT)
export const LISTENERS = subscribers(true)
export const POSTED = subscribers(false, ENDPOINT)
export const NOBODY = subscribers(false)

/** An event that the ledger has dispatched. */
export type DispatchedEvent = Omit<PendingEvent, 'payload'> & {
  payload: PaymentEvents[DurableEvent]
}

export const readPayload = (event: PendingEvent): DispatchedEvent => ({
  ...event,
  payload: JSON.parse(event.payload),
})

/** Records the events that the ledger dispatches. It never settles them, so they stay leased. */
export class FakeDeliverer {
  readonly #pending: PendingEvent[] = []

  deliver: Deliver = async (pending) => {
    this.#pending.push(...pending)
    return []
  }

  /** The events since the last call, with their payloads as objects. */
  take = (): DispatchedEvent[] => this.#pending.splice(0).map(readPayload)
}
