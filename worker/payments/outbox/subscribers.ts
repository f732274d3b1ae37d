// Who gets which events, as configured. Pure.

import type { EventName, Listeners, Subscribers } from '../domain/events.ts'

type AnyListener = (payload: never) => unknown

export const subscribersOf = (
  listeners: Listeners,
  endpoint: { url: string } | undefined,
): Subscribers => ({
  hasListeners: (type) => listenersOf(listeners, type).length > 0,
  endpoint: endpoint?.url,
})

export function listenersOf(listeners: Listeners, name: EventName): readonly AnyListener[] {
  const found: AnyListener | readonly AnyListener[] = listeners[name] ?? []
  return typeof found === 'function' ? [found] : found
}
