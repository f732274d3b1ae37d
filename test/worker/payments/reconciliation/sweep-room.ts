// The sweeper with all its parts in memory, and one gateway called `bank`.

import type { Listeners } from '../../../../worker/payments/domain/events.ts'
import { GatewayUnavailableException } from '../../../../worker/payments/domain/exceptions.ts'
import type { AnyGateway, StatusAnswer } from '../../../../worker/payments/gateways/gateway.ts'
import { createCaller } from '../../../../worker/payments/gateways/guard/caller.ts'
import type { GatewayGuard } from '../../../../worker/payments/gateways/guard/guard.ts'
import type { Ledger } from '../../../../worker/payments/ledger/ledger.ts'
import type { Dispatch } from '../../../../worker/payments/outbox/dispatch.ts'
import { createDispatcher } from '../../../../worker/payments/outbox/dispatcher.ts'
import { createSweeper } from '../../../../worker/payments/reconciliation/sweeper.ts'
import { FakeClock, settle } from '../../../support/fake-clock.ts'
import { keptLog, request } from '../../../support/payments.ts'
import { sqliteLedger } from '../../../support/sqlite-ledger.ts'

export const MINUTE = 60_000
export const HOUR = 60 * MINUTE
export const DAY = 24 * HOUR
const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo='

export interface SweepOptions {
  gateway?: Partial<AnyGateway>
  listeners?: Listeners
  /** The endpoint's answer; undefined: there is no endpoint. */
  endpoint?: () => Response | Promise<Response>
  onMismatch?: 'log' | 'reject'
  isCircuitOpen?: () => boolean
  /** Whether the dispatcher dies during a dispatch. */
  isDispatcherDead?: () => boolean
  /** Replaces operations of the ledger, for the sweeper only. */
  intercept?: (method: string, args: readonly unknown[]) => void
}

/** The sweeper and its dependencies in memory, with one gateway called `bank`. */
export function sweepRoom(options: SweepOptions = {}) {
  const clock = new FakeClock()
  const { log, lines } = keptLog()
  const guard: GatewayGuard = {
    admit: async () =>
      options.isCircuitOpen?.()
        ? { ok: false, reason: 'circuit_open', retryAfterMs: 30_000 }
        : { ok: true },
    report: async () => ({ opened: false }),
    accessToken: async () => ({ ok: true, token: 'token' }),
    health: async () => ({}),
  }
  const events: string[] = []
  const record = (name: string) => (): number => events.push(name)
  const dispatcher = createDispatcher({
    listeners: {
      PaymentSucceeded: record('PaymentSucceeded'),
      PaymentFailed: record('PaymentFailed'),
      PaymentCancelled: record('PaymentCancelled'),
      PaymentRefunded: record('PaymentRefunded'),
      ...options.listeners,
    },
    ...(options.endpoint && { endpoint: { url: 'https://shop.example/', secrets: [SECRET] } }),
    clock,
    log,
    fetch: async () => options.endpoint?.() ?? new Response(),
  })
  const dispatches: Promise<unknown>[] = []
  const dispatch: Dispatch = (pending) => {
    const dispatching = options.isDispatcherDead?.()
      ? Promise.reject(new Error('died'))
      : dispatcher.dispatch(pending)
    dispatches.push(dispatching.catch(() => undefined))
    return dispatching
  }
  /** Waits until events are dispatched and their outcome is stored. */
  async function dispatched(): Promise<void> {
    while (dispatches.length > 0) {
      await Promise.all(dispatches.splice(0))
      await settle()
    }
  }
  const { subscribers } = dispatcher
  const { ledger, queries } = sqliteLedger({ guard, subscribers, dispatch, clock, log })
  const asked: string[] = []
  const seen = new Proxy(ledger, {
    get(target, method: keyof Ledger) {
      const call = target[method] as (...args: unknown[]) => unknown
      return async (...args: unknown[]) => {
        asked.push(method)
        options.intercept?.(method, args)
        return await call(...args)
      }
    },
  })
  const gateway: AnyGateway = {
    key: 'bank',
    privateFields: [],
    echoedFields: [],
    currencies: 'any',
    chargeIsIdempotent: false,
    charge: () => Promise.reject(new Error('must not be charged')),
    handleWebhook: () => Promise.reject(new Error('is not called')),
    ...options.gateway,
  }
  const nothing = () => undefined
  const sweeper = createSweeper({
    ledger: seen,
    queries,
    gateways: new Map([['bank', gateway]]),
    caller: createCaller({ guard, clock, log, fetch, onTimeout: nothing, onOpened: nothing }),
    onMismatch: options.onMismatch ?? 'log',
    clock,
    log,
  })

  let charges = 0
  /** A charge whose webhook was lost; it has the gateway's id by default. */
  async function charge({ isAnswered = true, isSent = true, expiresAt = 0 } = {}): Promise<string> {
    const now = clock.now()
    const reference = `order-${++charges}`
    const begun = await ledger.beginCharge({
      id: `01TX${charges}`,
      request: request({ reference }),
      requestHash: reference,
      correlationId: `correlation-${charges}`,
      chargeIsIdempotent: gateway.chargeIsIdempotent,
      now,
      until: now + 90_000,
    })
    if (begun.state !== 'begun') throw new Error(begun.state)
    await dispatched()
    const { id } = begun.transaction
    const unsent = { kind: 'unsent', nextCheckAt: now + MINUTE } as const
    const end = { transactionId: id, eventId: `e-${id}`, now, verdict: 'neutral' } as const
    if (!isSent) await ledger.finishCharge({ ...end, result: unsent })
    if (!isAnswered) return id
    const named = { transactionId: id, gatewayTransactionId: `g-${id}` }
    const expiry = expiresAt > 0 && { expiresAt: new Date(expiresAt).toISOString() }
    const answer = { status: 'Pending' as const, gateway: 'bank', reference, ...named, ...expiry }
    const nextCheckAt = now + 5 * MINUTE
    const result = { kind: 'answered' as const, answer, nextCheckAt }
    await ledger.finishCharge({ ...end, verdict: 'success', result })
    return id
  }
  const story = async (id: string) => {
    const found = await queries.story(id)
    if (!found) throw new Error('there is none')
    return found
  }
  /** Advances the clock by minutes, with a sweep after each. */
  async function pass(ms: number): Promise<void> {
    for (let left = ms; left > 0; left -= MINUTE) {
      await clock.advance(Math.min(left, MINUTE))
      await sweeper.sweep()
      await dispatched()
    }
  }
  /** A webhook that was stale. */
  const stale = (id: string) =>
    ledger.checkSoon('bank', { gatewayTransactionId: `g-${id}`, reference: '' }, clock.now())
  const webhook = (id: string, status: 'Paid' | 'Failed' | 'Expired', reference = '') =>
    ledger.webhook({
      id: `w-${id}-${status}`,
      payload: {
        gateway: 'bank',
        gatewayTransactionId: `g-${id}`,
        reference,
        status,
        amount: 25_000,
        currency: 'IQD',
        eventId: `webhook-${id}-${status}`,
        occurredAt: new Date(clock.now()).toISOString(),
        raw: {},
      },
      onMismatch: 'log',
      receivedAt: clock.now(),
    })
  return {
    clock,
    lines,
    ledger,
    queries,
    sweeper,
    asked,
    events,
    charge,
    story,
    pass,
    webhook,
    stale,
    dispatched,
  }
}

/** A gateway that answers status checks so. */
export const reports = (status: string, own: Partial<StatusAnswer> = {}) => ({
  checkStatus: async () =>
    ({ known: true, status, amount: 25_000, currency: 'IQD', raw: {}, ...own }) as StatusAnswer,
})
/** A gateway that does not answer status checks. */
export const silent = {
  checkStatus: () => Promise.reject(new GatewayUnavailableException('No answer.')),
}
