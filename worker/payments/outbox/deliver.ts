// Delivers events to the host application: to its listeners in process and to its endpoint. The
// ledger knows which stored events are pending, and stores the results.

import { type Clock, within } from '../../shared/clock.ts'
import { type Fields, type Log, reasonOf } from '../../shared/log.ts'
import { nextAttemptAt, postOnce, type Sent } from '../../shared/outgoing.ts'
import { createRateLimit } from '../../shared/rate-limit.ts'
import { createWebhookSigner } from '../../shared/standard-webhook.ts'
import type { Subscribers } from '../acts/act.ts'
import type { Dispatched, PendingEvent } from '../acts/dispatch.ts'
import { newId } from '../domain/new-id.ts'
import type { EventName, PassingEvent } from '../domain/status.ts'
import type { PaymentEvents } from '../domain/types.ts'

export interface DelivererOptions {
  listeners: Listeners
  endpoint?: Endpoint | undefined
  clock: Clock
  log: Log
  fetch: typeof fetch
}

/** The host application's HTTP endpoint. */
export interface Endpoint {
  url: string
  /** `whsec_…`, valid. The newest first. */
  secrets: readonly string[]
  /** The events that it wants; missing: all. */
  types?: ReadonlySet<EventName>
}

/** Otherwise a listener that never settles would hold the event forever. */
const LISTENER_PATIENCE_MS = 20_000
const ENDPOINT_PATIENCE_MS = 15_000
/** Anybody can cause a failed verification: without a limit an attacker could flood the host. */
const MAX_FAILED_VERIFICATIONS = 60
const SPAN_MS = 60_000

export type Deliverer = ReturnType<typeof createDeliverer>

export function createDeliverer({ listeners, endpoint, clock, log, fetch }: DelivererOptions) {
  const send = endpoint && sendTo(endpoint, { clock, fetch })
  const limit = createRateLimit(MAX_FAILED_VERIFICATIONS, SPAN_MS)

  /** Calls all of them, and returns why the first one failed, if one did. */
  const callListeners = async (name: EventName, payload: string, fields: Fields) => {
    const call = async (listener: AnyListener) => {
      // Each gets a copy, since a listener may change it.
      const called = listener(JSON.parse(payload) as never)
      // Most return at once: a timer for each would cost more than they do.
      if (isThenable(called)) await within(clock, LISTENER_PATIENCE_MS, async () => called)
    }
    const calls = await Promise.allSettled(listenersOf(listeners, name).map(call))
    const reasons = calls.flatMap((done) =>
      done.status === 'rejected' ? [reasonOf(done.reason)] : [],
    )
    for (const error of reasons) log('warn', 'payments.listener.failed', { ...fields, error })
    return reasons[0]
  }

  const notifyListeners = async (event: PendingEvent, { attempts }: { attempts: number }) => {
    const fields = fieldsOf(event)
    const error = await callListeners(event.type, event.payload, fields)
    if (error === undefined) return { ok: true }
    const next = nextAttemptAt(event.createdAt, attempts, clock.now(), clock.random())
    if (next !== undefined) return { ok: false, nextAttemptAt: next, error }
    log('error', 'payments.listener.dead', { ...fields, error })
    return { ok: false, error }
  }

  const sendToEndpoint = async (
    event: PendingEvent,
    { id: deliveryId, attempts }: NonNullable<PendingEvent['delivery']>,
  ) => {
    const { outboxId: id, type, createdAt: happenedAt, payload } = event
    const fields = { ...fieldsOf(event), deliveryId, attempts }
    const sent = await (send?.({ id, type, happenedAt, payload }) ?? NO_ENDPOINT)
    if (sent.ok) {
      log('info', 'payments.delivery.delivered', { ...fields, status: sent.status })
      return { ...sent, id: deliveryId }
    }
    const { retryAfterMs, ...failed } = sent
    log('warn', 'payments.delivery.failed', { ...fields, status: sent.status, error: sent.error })
    const now = clock.now()
    const next = nextAttemptAt(happenedAt, attempts, now, clock.random(), retryAfterMs)
    if (next !== undefined) return { ...failed, id: deliveryId, nextAttemptAt: next }
    log('error', 'payments.delivery.dead', fields)
    return { ...failed, id: deliveryId }
  }

  const deliverOne = async (event: PendingEvent): Promise<Dispatched> => {
    const [listened, delivery] = await Promise.all([
      event.listeners && notifyListeners(event, event.listeners),
      event.delivery && sendToEndpoint(event, event.delivery),
    ])
    const { outboxId } = event
    return { outboxId, ...(listened && { listeners: listened }), ...(delivery && { delivery }) }
  }

  const logMissed = () => {
    const count = limit.takeMissed(clock.elapsed())
    if (count > 0) log('warn', 'payments.verification_failures_not_passed', { count })
  }

  async function passToEndpoint(type: PassingEvent, payload: string) {
    if (!send || !wants(endpoint, type)) return
    const now = clock.now()
    const sent = await send({ id: newId(now), type, happenedAt: now, payload })
    if (!sent.ok) log('warn', 'payments.passing_event.failed', { type, error: sent.error })
  }

  return {
    /** Most events of most deployments have no subscriber. */
    hasSubscribers: (name: EventName): boolean =>
      wants(endpoint, name) || listenersOf(listeners, name).length > 0,
    /**
     * Delivers all of them at the same time, in no order. Never rejects, and takes no longer than
     * the lease. The ledger settles them with the results.
     */
    async deliver(pending: readonly PendingEvent[], called?: () => unknown): Promise<Dispatched[]> {
      // Listeners are called as this begins, before anything is awaited.
      const dispatched = pending.map(deliverOne)
      await called?.()
      return await Promise.all(dispatched)
    },
    /** Passes an event on once, to the subscribers that can be reached. Never rejects. */
    async pass<Name extends PassingEvent>(name: Name, event: PaymentEvents[Name]): Promise<void> {
      if (name === 'WebhookVerificationFailed') {
        logMissed()
        if (!limit.admits(clock.elapsed())) {
          // A Worker may end before that. Then the next failure logs it.
          if (limit.missed === 1) clock.after(SPAN_MS, logMissed)
          return
        }
      }
      const payload = JSON.stringify(event)
      await Promise.all([
        callListeners(name, payload, { type: name }),
        passToEndpoint(name, payload),
      ])
    },
  }
}

interface Message {
  /** The same for every attempt, so that the receiver recognises it. */
  id: string
  type: string
  /** When it happened, ms. */
  happenedAt: number
  /** JSON. */
  payload: string
}

/** POSTs a message once. Whether it is tried again is not decided here. Never rejects. */
function sendTo({ url, secrets }: Endpoint, host: Pick<DelivererOptions, 'clock' | 'fetch'>) {
  const signer = createWebhookSigner(secrets)
  const post = async ({ id, type, happenedAt, payload }: Message): Promise<Sent> => {
    const timestamp = new Date(happenedAt).toISOString()
    const body = `{"type":"${type}","timestamp":"${timestamp}","data":${payload}}`
    const signature = await signer.sign(id, host.clock.now(), body)
    const headers = { 'Content-Type': 'application/json', ...signature }
    const shownAs = withoutQuery(url)
    return await postOnce({ url, headers, body, patienceMs: ENDPOINT_PATIENCE_MS, shownAs }, host)
  }
  // One whose time no date can have fails alone: the others of its group are delivered.
  return (message: Message): Promise<Sent> =>
    post(message).catch((error: unknown) => ({ ok: false, error: reasonOf(error) }))
}

/** For everything that people and other programs see: its query may hold a key. */
export function withoutQuery(url: string): string {
  const { origin, pathname } = new URL(url)
  return origin + pathname
}

const isThenable = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && 'then' in value

/** The endpoint was removed from the configuration. It may come back, so this is tried again. */
const NO_ENDPOINT: Sent = { ok: false, error: 'No endpoint is configured.' }

const fieldsOf = ({ outboxId, type, transactionId, correlationId }: PendingEvent): Fields => ({
  outboxId,
  type,
  transactionId,
  correlationId,
})

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

function listenersOf(listeners: Listeners, name: EventName): readonly AnyListener[] {
  const found: AnyListener | readonly AnyListener[] = listeners[name] ?? []
  return typeof found === 'function' ? [found] : found
}

const wants = (endpoint: Endpoint | undefined, name: EventName): boolean =>
  endpoint !== undefined && (endpoint.types?.has(name) ?? true)
