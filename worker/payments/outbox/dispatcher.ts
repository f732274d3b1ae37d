// Tells the host application what happened: to its listeners in process and to its endpoint. Which
// stored events are due, and that they were told, is the ledger's.

import type { Clock } from '../../shared/clock.ts'
import { within } from '../../shared/deadline.ts'
import type { Fields, Log } from '../../shared/log.ts'
import type {
  Audience,
  EventName,
  Listeners,
  PassingEvent,
  PaymentEvents,
  ReadableUntold,
  Told,
  UnreadableUntold,
  Untold,
} from '../domain/events.ts'
import { drawId } from '../domain/new-id.ts'
import { createSend, type Send } from './endpoint.ts'
import { createRateLimit } from './rate-limit.ts'
import { reasonOf } from './reason.ts'
import { nextAttemptAt } from './retry-schedule.ts'
import { audienceOf, listenersOf } from './subscribers.ts'

export interface Teller {
  audience: Audience
  /**
   * Tells each of them at once, in no order. Never rejects, and takes no longer than the lease:
   * with what came of it the ledger settles them.
   */
  tell(untold: readonly Untold[]): Promise<Told[]>
  /** Tells once, to whoever can be reached. Never rejects. */
  pass<Name extends PassingEvent>(name: Name, payload: PaymentEvents[Name]): Promise<void>
  /** Whether anybody is told of it: of most events of most deployments nobody is. */
  hears(name: EventName): boolean
}

export interface TellerOptions {
  listeners: Listeners
  /** The secrets are `whsec_…` without a problem. */
  endpoint?: { url: string; secrets: readonly string[] }
  clock: Clock
  log: Log
  fetch: typeof fetch
}

/** A listener that never settles would otherwise hold the event for ever. */
const LISTENER_PATIENCE_MS = 20_000
/** Anybody can cause a failed verification: each is told, until somebody floods us with them. */
const MOST_FAILED_VERIFICATIONS = 60
const SPAN_MS = 60_000
/** The endpoint says that it wants no more. */
const GONE = 410

export function createTeller(options: TellerOptions): Teller {
  const { clock, log, endpoint, fetch } = options
  const send = endpoint && createSend({ endpoint, clock, fetch })
  const hears = (name: EventName) =>
    send !== undefined || listenersOf(options.listeners, name).length > 0
  const limit = createRateLimit(MOST_FAILED_VERIFICATIONS, SPAN_MS)

  /** Calls all of them, and answers why the first failed that did. */
  const callListeners = async (name: EventName, payload: unknown, about: Fields) => {
    const call = async (listener: (payload: never) => unknown) => {
      // A copy for each: what one does to it must not reach the next.
      const called = listener(structuredClone(payload) as never)
      // Most only note something down: a timer for each would cost more than they do.
      if (isThenable(called)) await within(clock, LISTENER_PATIENCE_MS, async () => called)
    }
    const calls = await Promise.allSettled(listenersOf(options.listeners, name).map(call))
    const reasons = calls.flatMap((done) =>
      done.status === 'rejected' ? [reasonOf(done.reason)] : [],
    )
    for (const error of reasons) log('warn', 'payments.listener.failed', { ...about, error })
    return reasons[0]
  }

  const tellListeners = async (untold: ReadableUntold, { attempts }: { attempts: number }) => {
    const error = await callListeners(untold.type, untold.payload, aboutUntold(untold))
    if (error === undefined) return { ok: true }
    const next = nextAttemptAt(untold.createdAt, attempts, clock.now(), clock.random())
    if (next !== undefined) return { ok: false, nextAttemptAt: next, error }
    log('error', 'payments.listener.dead', { ...aboutUntold(untold), error })
    return { ok: false, error }
  }

  const deliver = async (untold: ReadableUntold, delivery: NonNullable<Untold['delivery']>) => {
    const { outboxId: id, type, createdAt: happenedAt, payload } = untold
    const { id: deliveryId, attempts } = delivery
    const about = { ...aboutUntold(untold), deliveryId, attempts }
    const message = { id, type, happenedAt, data: payload }
    const sent = await (send?.(message) ?? NO_ENDPOINT)
    if (sent.ok) {
      log('info', 'payments.delivery.delivered', { ...about, status: sent.status })
      return { ...sent, id: deliveryId }
    }
    log('warn', 'payments.delivery.failed', { ...about, status: sent.status, error: sent.error })
    const isGone = sent.status === GONE
    const next = nextAttemptAt(happenedAt, attempts, clock.now(), clock.random())
    if (next !== undefined && !isGone) return { ...sent, id: deliveryId, nextAttemptAt: next }
    log('error', 'payments.delivery.dead', about)
    return { ...sent, id: deliveryId }
  }

  const tellOne = async (untold: Untold): Promise<Told> => {
    if ('invalid' in untold) return giveUp(untold)
    const [listeners, delivery] = await Promise.all([
      untold.listeners && tellListeners(untold, untold.listeners),
      untold.delivery && deliver(untold, untold.delivery),
    ])
    const { outboxId } = untold
    return { outboxId, ...(listeners && { listeners }), ...(delivery && { delivery }) }
  }

  /** Trying again would read the same row. */
  const giveUp = ({ outboxId, type, correlationId, invalid, ...to }: UnreadableUntold): Told => {
    log('error', 'payments.event.unreadable', { outboxId, type, correlationId, error: invalid })
    const failed = { ok: false, error: invalid }
    return {
      outboxId,
      ...(to.listeners && { listeners: failed }),
      ...(to.delivery && { delivery: { ...failed, id: to.delivery.id } }),
    }
  }

  const sayMissed = () => {
    const count = limit.takeMissed(clock.now())
    if (count > 0) log('warn', 'payments.verification_failures_not_told', { count })
  }

  return {
    audience: audienceOf(options.listeners, endpoint),
    hears,
    tell: (untold) => Promise.all(untold.map(tellOne)),
    async pass(name, payload) {
      if (name === 'WebhookVerificationFailed') {
        sayMissed()
        if (!limit.admits(clock.now())) {
          // A Worker may end before: then it is said with the next one that fails.
          if (limit.missed === 1) clock.after(SPAN_MS, sayMissed)
          return
        }
      }
      const about = { type: name }
      await Promise.all([
        callListeners(name, payload, about),
        send && passOn(send, name, payload, about),
      ])
    },
  }

  async function passOn(to: Send, type: PassingEvent, payload: unknown, about: Fields) {
    const now = clock.now()
    const sent = await to({ id: drawId(now), type, happenedAt: now, data: payload })
    if (!sent.ok) log('warn', 'payments.passing_event.failed', { ...about, error: sent.error })
  }
}

const isThenable = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && 'then' in value

/** The endpoint was taken out of the configuration: it may come back, so it is tried again. */
const NO_ENDPOINT: Awaited<ReturnType<Send>> = { ok: false, error: 'No endpoint is configured.' }

const aboutUntold = ({ outboxId, type, payload, correlationId }: ReadableUntold): Fields => ({
  outboxId,
  type,
  transactionId: payload.transaction.id,
  correlationId,
})
