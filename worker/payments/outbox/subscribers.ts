// Who is to be told, as configured. Pure.

import type { Audience, EventName, Listeners } from '../domain/events.ts'

type AnyListener = (payload: never) => unknown

export const audienceOf = (
  listeners: Listeners,
  endpoint: { url: string } | undefined,
): Audience => ({
  hasListeners: (type) => listenersOf(listeners, type).length > 0,
  endpoint: endpoint?.url,
})

export function listenersOf(listeners: Listeners, name: EventName): readonly AnyListener[] {
  const found: AnyListener | readonly AnyListener[] = listeners[name] ?? []
  return typeof found === 'function' ? [found] : found
}
