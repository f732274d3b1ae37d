// Who gets which events, as configured. Pure.

import type { Listeners, Subscribers } from '../domain/events.ts'
import type { EventName } from '../domain/status.ts'

/** The host application's HTTP endpoint. */
export interface Endpoint {
  url: string
  /** `whsec_…`, valid. The newest first. */
  secrets: readonly string[]
  /** The events that it wants; missing: all. */
  types?: ReadonlySet<EventName>
}

/** For everything that people and other programs see: its query may hold a key. */
export function withoutQuery(url: string): string {
  const { origin, pathname } = new URL(url)
  return origin + pathname
}

type AnyListener = (payload: never) => unknown

export const subscribersOf = (
  listeners: Listeners,
  endpoint: Endpoint | undefined,
): Subscribers => ({
  hasListeners: (type) => listenersOf(listeners, type).length > 0,
  endpointFor: (type) =>
    endpoint && wants(endpoint, type) ? withoutQuery(endpoint.url) : undefined,
})

export function listenersOf(listeners: Listeners, name: EventName): readonly AnyListener[] {
  const found: AnyListener | readonly AnyListener[] = listeners[name] ?? []
  return typeof found === 'function' ? [found] : found
}

export const wants = (endpoint: Endpoint | undefined, name: EventName): boolean =>
  endpoint !== undefined && (endpoint.types?.has(name) ?? true)
