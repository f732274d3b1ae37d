// What is wrong with the options is thrown at once, when the application starts. Pure.

import { EVENT_NAMES, isEventName } from '../worker/payments/domain/status.ts'
import { whsecProblem } from '../worker/payments/outbox/standard-webhook.ts'

export type EventsConfigCode = 'no_secret' | 'invalid_secret' | 'unknown_event' | 'invalid_handler'

/** Match `code`, never the message. */
export class EventsConfigError extends Error {
  override readonly name = 'EventsConfigError'
  readonly code: EventsConfigCode

  constructor(code: EventsConfigCode, message: string) {
    super(message)
    this.code = code
  }
}

export function secretsOf(secrets: string | readonly string[] | undefined): readonly string[] {
  const list = typeof secrets === 'string' ? secrets.split(/\s+/) : (secrets ?? [])
  const found = list.filter((secret) => secret !== '')
  if (found.length === 0) {
    throw new EventsConfigError('no_secret', 'secrets is empty: set what PAYMENT_EVENTS_SECRET is.')
  }
  for (const secret of found) {
    const problem = whsecProblem(secret)
    if (problem !== undefined) throw new EventsConfigError('invalid_secret', `secrets: ${problem}.`)
  }
  return found
}

export function checkHandlers(on: object): void {
  for (const [name, handler] of Object.entries(on ?? {})) {
    if (!isEventName(name)) {
      const known = EVENT_NAMES.join(', ')
      throw new EventsConfigError('unknown_event', `on: there is no ${name}. There are ${known}.`)
    }
    if (handler !== undefined && typeof handler !== 'function') {
      throw new EventsConfigError('invalid_handler', `on: ${name} must be a function.`)
    }
  }
}
