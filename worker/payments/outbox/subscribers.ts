// Who gets which events, as configured: the listeners in process, and the endpoint.

import type { Subscribers } from '../domain/outbox.ts'
import type { EventName } from '../domain/status.ts'
import type { PaymentEvents } from '../domain/types.ts'
import { type Endpoint, withoutQuery } from './endpoint.ts'

/** A listener that throws or rejects is called again later, like a delivery that failed. */
export type Listener<Name extends EventName> = (payload: PaymentEvents[Name]) => unknown

export type Listeners = { [Name in EventName]?: Listener<Name> | readonly Listener<Name>[] }

/** For the ledger. */
export const subscribersOf = (
  listeners: Listeners,
  endpoint: Endpoint | undefined,
): Subscribers => ({
  hasListeners: (type) => listenersOf(listeners, type).length > 0,
  endpointFor: (type) =>
    endpoint && wants(endpoint, type) ? withoutQuery(endpoint.url) : undefined,
})

export type AnyListener = (payload: never) => unknown

export function listenersOf(listeners: Listeners, name: EventName): readonly AnyListener[] {
  const found: AnyListener | readonly AnyListener[] = listeners[name] ?? []
  return typeof found === 'function' ? [found] : found
}

export const wants = (endpoint: Endpoint | undefined, name: EventName): boolean =>
  endpoint !== undefined && (endpoint.types?.has(name) ?? true)
