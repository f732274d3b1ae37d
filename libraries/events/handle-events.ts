// The host application's endpoint for events: one function from a request to its answer.

import { EVENT_NAMES, type EventName, isEventName } from '../../worker/payments/domain/status.ts'
import { createWebhookVerifier, whsecProblem } from '../../worker/shared/standard-webhook.ts'
import type { PaymentEvents } from '../api/types.ts'
import { type EventIds, eventIdsInMemory } from './event-ids.ts'
import { type ReceivedEvent, type Refusal, readEvent } from './read-event.ts'

/** A handler that throws or rejects is called again with a later delivery. */
export type EventHandlers = {
  [Name in EventName]?: (data: PaymentEvents[Name], event: ReceivedEvent) => unknown
}

export interface HandleEventsOptions {
  /**
   * `whsec_…`: what PAYMENT_EVENTS_SECRET holds, where several are separated by spaces, or a list.
   * Any of them may have signed. Undefined is an error, not an open door.
   */
  secrets: string | readonly string[] | undefined
  on: EventHandlers
  /** Which events were handled. Default: in the memory of this process. */
  ids?: EventIds
  /** An event that this version does not know. It is answered OK, even if this fails. */
  onUnknown?: (event: ReceivedEvent) => unknown
  /** What a handler, `onUnknown` or `ids` threw. Default: `console.error`. */
  onError?: (error: unknown, event: ReceivedEvent | undefined) => unknown
}

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

export type EventReceiver = (request: Request) => Promise<Response>

/**
 * The sender waits 15 s and then tries again: only after a crash is a claim as old as this, and the
 * event then waits no longer than it.
 */
const CLAIM_MS = 60_000

/** Throws EventsConfigError. */
export function createEventReceiver(
  options: HandleEventsOptions,
  now: () => number,
): EventReceiver {
  const verify = createWebhookVerifier(secretsOf(options.secrets))
  checkHandlers(options.on)
  const { on, onUnknown, onError = logError, ids = eventIdsInMemory(now) } = options

  const report = async (error: unknown, event?: ReceivedEvent) => {
    try {
      await onError(error, event)
    } catch (failure) {
      logError(failure, event)
    }
  }
  /** For what must not change the answer. */
  const attempt = async (event: ReceivedEvent, work: () => unknown) => {
    try {
      await work()
    } catch (error) {
      await report(error, event)
    }
  }

  return async (request) => {
    const read = await readEvent(request, verify, now)
    if (!read.ok) {
      if (read.reason === 'body_used') await report(new Error(SENTENCES.body_used))
      return failure(read.reason)
    }
    const { event } = read
    const { type, data } = event
    if (!isEventName(type)) {
      await attempt(event, () => onUnknown?.(event))
      return taken()
    }
    const handler = on[type] as ((data: unknown, event: ReceivedEvent) => unknown) | undefined
    return handler ? await handleOnce(event, () => handler(data, event)) : taken()
  }

  async function handleOnce(event: ReceivedEvent, handle: () => unknown): Promise<Response> {
    const { id } = event
    const until = now() + CLAIM_MS
    try {
      const claim = await ids.claim(id, until)
      if (claim === 'handled') return taken()
      if (claim === 'busy') return failure('in_progress')
      // A store that answers something else, such as true, must not have it handled each time.
      if (claim !== 'new') throw new TypeError(`ids.claim answered ${JSON.stringify(claim)}.`)
    } catch (error) {
      await report(error, event)
      return failure('ids_unavailable')
    }
    try {
      await handle()
    } catch (error) {
      await report(error, event)
      // After that the claim is somebody else's.
      if (now() < until) await attempt(event, () => ids.release(id))
      return failure('handler_failed')
    }
    // Not released: a retry would run the handler twice.
    await attempt(event, () => ids.complete(id))
    return taken()
  }
}

const logError = (error: unknown, event: ReceivedEvent | undefined) =>
  console.error('signalbox/events:', event ? `${event.type} ${event.id}:` : '', error)

const taken = () => new Response(null, { status: 204 })

type Failure = Refusal | 'in_progress' | 'ids_unavailable' | 'handler_failed'

const SENTENCES: Record<Failure, string> = {
  method_not_allowed: 'Events are POSTed.',
  body_used: 'The body was read before: pass the request on as it came.',
  payload_too_large: 'An event ends at 256 KiB.',
  invalid_signature: 'None of the secrets made this signature.',
  stale: 'It was signed more than five minutes ago, or the clocks are apart.',
  invalid_body: 'The body is not a Signalbox event.',
  in_progress: 'This event is being handled.',
  ids_unavailable: 'Whether this event was handled is not known.',
  handler_failed: 'The handler failed.',
}

/**
 * Everything but a 2xx is sent again until the sender gives up, on its own schedule: it reads no
 * Retry-After. A 410 would end that, so none is ever given.
 */
function statusOf(reason: Failure): number {
  switch (reason) {
    case 'stale':
    case 'invalid_body':
      return 400
    case 'invalid_signature':
      return 401
    case 'method_not_allowed':
      return 405
    case 'in_progress':
      return 409
    case 'payload_too_large':
      return 413
    case 'body_used':
    case 'handler_failed':
      return 500
    case 'ids_unavailable':
      return 503
  }
}

function failure(reason: Failure): Response {
  const headers = new Headers({ 'Cache-Control': 'no-store' })
  if (reason === 'method_not_allowed') headers.set('Allow', 'POST')
  const body = { error: SENTENCES[reason], code: reason }
  return Response.json(body, { status: statusOf(reason), headers })
}

const NO_SECRET =
  'handleEvents needs its secrets: set PAYMENT_EVENTS_SECRET to what it is at Signalbox; if that ' +
  'runs here with PAYMENT_EVENTS_URL, it is eventsSecret in .signalbox/local.json.'

/** Throws at once, when the application starts, as `checkHandlers` does. */
function secretsOf(secrets: string | readonly string[] | undefined): readonly string[] {
  const list = typeof secrets === 'string' ? secrets.split(/\s+/) : (secrets ?? [])
  // A shell's word for a field that local.json does not have.
  const found = list.filter((secret) => secret !== '' && secret !== 'undefined')
  if (found.length === 0) {
    throw new EventsConfigError('no_secret', NO_SECRET)
  }
  for (const secret of found) {
    const problem = whsecProblem(secret)
    if (problem !== undefined) throw new EventsConfigError('invalid_secret', `secrets: ${problem}.`)
  }
  return found
}

function checkHandlers(on: object): void {
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
