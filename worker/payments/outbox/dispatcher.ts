// Passes events to the host application: to its listeners in process and to its endpoint. The
// ledger knows which stored events are pending, and stores the results.

import { type Clock, within } from '../../shared/clock.ts'
import { type Fields, type Log, reasonOf } from '../../shared/log.ts'
import type {
  Dispatched,
  Listeners,
  PaymentEvents,
  PendingEvent,
  ReadablePendingEvent,
  Subscribers,
  UnreadablePendingEvent,
} from '../domain/events.ts'
import { newId } from '../domain/new-id.ts'
import { nextAttemptAt } from '../domain/outbox.ts'
import type { EventName, PassingEvent } from '../domain/status.ts'
import {
  createSend,
  type Endpoint,
  listenersOf,
  type Send,
  subscribersOf,
  wants,
} from './endpoint.ts'

export interface Dispatcher {
  subscribers: Subscribers
  /**
   * Dispatches all of them at the same time, in no order. Never rejects, and takes no longer than
   * the lease. The ledger settles them with the results.
   */
  dispatch(pending: readonly PendingEvent[]): Promise<Dispatched[]>
  /** Passes an event on once, to the subscribers that can be reached. Never rejects. */
  pass<Name extends PassingEvent>(name: Name, payload: PaymentEvents[Name]): Promise<void>
  /** Most events of most deployments have no subscriber. */
  hasSubscribers(name: EventName): boolean
}

export interface DispatcherOptions {
  listeners: Listeners
  endpoint?: Endpoint | undefined
  clock: Clock
  log: Log
  fetch: typeof fetch
}

/** Otherwise a listener that never settles would hold the event for ever. */
const LISTENER_PATIENCE_MS = 20_000
/** Anybody can cause a failed verification: without a limit an attacker could flood the host. */
const MAX_FAILED_VERIFICATIONS = 60
const SPAN_MS = 60_000
/** The endpoint wants no more deliveries. */
const GONE = 410

export function createDispatcher(options: DispatcherOptions): Dispatcher {
  const { clock, log, endpoint, fetch } = options
  const send = endpoint && createSend({ endpoint, clock, fetch })
  const hasSubscribers = (name: EventName) =>
    wants(endpoint, name) || listenersOf(options.listeners, name).length > 0
  const limit = createRateLimit(MAX_FAILED_VERIFICATIONS, SPAN_MS)

  /** Calls all of them, and returns why the first one failed, if one did. */
  const callListeners = async (name: EventName, payload: unknown, fields: Fields) => {
    const call = async (listener: (payload: never) => unknown) => {
      // Each gets a copy, since a listener may change it.
      const called = listener(structuredClone(payload) as never)
      // Most return at once: a timer for each would cost more than they do.
      if (isThenable(called)) await within(clock, LISTENER_PATIENCE_MS, async () => called)
    }
    const calls = await Promise.allSettled(listenersOf(options.listeners, name).map(call))
    const reasons = calls.flatMap((done) =>
      done.status === 'rejected' ? [reasonOf(done.reason)] : [],
    )
    for (const error of reasons) log('warn', 'payments.listener.failed', { ...fields, error })
    return reasons[0]
  }

  const notifyListeners = async (
    event: ReadablePendingEvent,
    { attempts }: { attempts: number },
  ) => {
    const fields = fieldsOf(event)
    const error = await callListeners(event.type, event.payload, fields)
    if (error === undefined) return { ok: true }
    const next = nextAttemptAt(event.createdAt, attempts, clock.now(), clock.random())
    if (next !== undefined) return { ok: false, nextAttemptAt: next, error }
    log('error', 'payments.listener.dead', { ...fields, error })
    return { ok: false, error }
  }

  const deliver = async (
    event: ReadablePendingEvent,
    { id: deliveryId, attempts }: NonNullable<PendingEvent['delivery']>,
  ) => {
    const { outboxId: id, type, createdAt: happenedAt, payload } = event
    const fields = { ...fieldsOf(event), deliveryId, attempts }
    const message = { id, type, happenedAt, data: payload }
    const sent = await (send?.(message) ?? NO_ENDPOINT)
    if (sent.ok) {
      log('info', 'payments.delivery.delivered', { ...fields, status: sent.status })
      return { ...sent, id: deliveryId }
    }
    log('warn', 'payments.delivery.failed', { ...fields, status: sent.status, error: sent.error })
    const isGone = sent.status === GONE
    const next = nextAttemptAt(happenedAt, attempts, clock.now(), clock.random())
    if (next !== undefined && !isGone) return { ...sent, id: deliveryId, nextAttemptAt: next }
    log('error', 'payments.delivery.dead', fields)
    return { ...sent, id: deliveryId }
  }

  const dispatchOne = async (event: PendingEvent): Promise<Dispatched> => {
    if ('invalid' in event) return giveUp(event)
    const [listeners, delivery] = await Promise.all([
      event.listeners && notifyListeners(event, event.listeners),
      event.delivery && deliver(event, event.delivery),
    ])
    const { outboxId } = event
    return { outboxId, ...(listeners && { listeners }), ...(delivery && { delivery }) }
  }

  /** Trying again would read the same row. */
  const giveUp = (event: UnreadablePendingEvent): Dispatched => {
    const { outboxId, type, correlationId, invalid: error, listeners, delivery } = event
    log('error', 'payments.event.unreadable', { outboxId, type, correlationId, error })
    const failed = { ok: false, error }
    return {
      outboxId,
      ...(listeners && { listeners: failed }),
      ...(delivery && { delivery: { ...failed, id: delivery.id } }),
    }
  }

  const logMissed = () => {
    const count = limit.takeMissed(clock.elapsed())
    if (count > 0) log('warn', 'payments.verification_failures_not_passed', { count })
  }

  return {
    subscribers: subscribersOf(options.listeners, endpoint),
    hasSubscribers,
    dispatch: (pending) => Promise.all(pending.map(dispatchOne)),
    async pass(name, payload) {
      if (name === 'WebhookVerificationFailed') {
        logMissed()
        if (!limit.admits(clock.elapsed())) {
          // A Worker may end before that. Then the next failure logs it.
          if (limit.missed === 1) clock.after(SPAN_MS, logMissed)
          return
        }
      }
      const fields = { type: name }
      await Promise.all([
        callListeners(name, payload, fields),
        wants(endpoint, name) && send && passOn(send, name, payload, fields),
      ])
    },
  }

  async function passOn(to: Send, type: PassingEvent, payload: unknown, fields: Fields) {
    const now = clock.now()
    const sent = await to({ id: newId(now), type, happenedAt: now, data: payload })
    if (!sent.ok) log('warn', 'payments.passing_event.failed', { ...fields, error: sent.error })
  }
}

const isThenable = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && 'then' in value

/** The endpoint was removed from the configuration. It may come back, so this is tried again. */
const NO_ENDPOINT: Awaited<ReturnType<Send>> = { ok: false, error: 'No endpoint is configured.' }

const fieldsOf = ({ outboxId, type, payload, correlationId }: ReadablePendingEvent): Fields => ({
  outboxId,
  type,
  transactionId: payload.transaction.id,
  correlationId,
})

// A limit for any span of time, and a count of what was beyond it.

export interface RateLimit {
  /** Whether one more is within the limit; otherwise it is counted. */
  admits(now: number): boolean
  /** How many were not, since the count began. */
  readonly missed: number
  /** The same after the span since the first of them, and then the count begins again. Else 0. */
  takeMissed(now: number): number
}

export function createRateLimit(max: number, spanMs: number): RateLimit {
  const admitted: number[] = []
  let missed = 0
  let missedSince = 0
  return {
    get missed() {
      return missed
    },
    admits(now) {
      while (admitted[0] !== undefined && admitted[0] <= now - spanMs) admitted.shift()
      if (admitted.length < max) {
        admitted.push(now)
        return true
      }
      if (missed === 0) missedSince = now
      missed++
      return false
    },
    takeMissed(now) {
      if (missed === 0 || now < missedSince + spanMs) return 0
      const count = missed
      missed = 0
      return count
    },
  }
}

// Work that no caller waits for: passing events on, and more.

export interface Background {
  /** Lets work go on after the request that caused it. Failures are logged. */
  run(work: Promise<unknown>): void
  pass<Name extends PassingEvent>(name: Name, payload: PaymentEvents[Name]): void
}

/** `keepAlive` is the runtime's own: a Worker otherwise ends with its answer. */
export function createBackground(deps: {
  dispatcher: Pick<Dispatcher, 'pass' | 'hasSubscribers'>
  keepAlive: (work: Promise<unknown>) => void
  log: Log
}): Background {
  const { dispatcher, keepAlive, log } = deps
  const run = (work: Promise<unknown>) =>
    keepAlive(
      work.catch((error: unknown) => {
        log('error', 'payments.background_failed', { error: String(error) })
      }),
    )
  return {
    run,
    pass(name, payload) {
      if (dispatcher.hasSubscribers(name)) run(dispatcher.pass(name, payload))
    },
  }
}
