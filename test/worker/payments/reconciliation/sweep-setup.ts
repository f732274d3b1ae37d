// The sweeper over payments whose events are dispatched again by a sweep alone, with one gateway
// called `bank`, which would charge twice.

import { GatewayUnavailableException } from '../../../../worker/payments/domain/exceptions.ts'
import type { AnyGateway, StatusAnswer } from '../../../../worker/payments/gateways/gateway.ts'
import type { GatewayGuard } from '../../../../worker/payments/gateways/guard.ts'
import type { Listeners } from '../../../../worker/payments/outbox/deliver.ts'
import type { PaymentQueries } from '../../../../worker/payments/queries/queries-libsql.ts'
import { request, verified } from '../../../support/payments.ts'
import { setUpPayments } from '../../../support/payments-setup.ts'

export const MINUTE = 60_000
export const HOUR = 60 * MINUTE
export const DAY = 24 * HOUR
const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo='
const MOVED = ['PaymentSucceeded', 'PaymentFailed', 'PaymentCancelled', 'PaymentRefunded']

export interface SweepOptions {
  gateway?: Partial<AnyGateway>
  listeners?: Listeners
  /** The endpoint's answer; undefined: there is no endpoint. */
  endpoint?: (body: string) => Response | Promise<Response>
  onMismatch?: 'log' | 'reject'
  isCircuitOpen?: () => boolean
  queries?: Partial<PaymentQueries>
  /** Runs before each operation of the ledger. */
  intercept?: (method: string, args: readonly unknown[]) => void
}

export function setUpSweep(options: SweepOptions = {}) {
  const asked: string[] = []
  const guard: GatewayGuard = {
    admit: async () =>
      options.isCircuitOpen?.()
        ? { ok: false, reason: 'circuit_open', retryAfterMs: 30_000 }
        : { ok: true },
    report: async () => ({ opened: false }),
    accessToken: async () => ({ ok: true, token: 'token' }),
    health: async () => ({}),
  }
  const gateway = {
    currencies: 'any',
    chargeRepeatableForMs: 0,
    checkStatus: undefined,
    charge: () => Promise.reject(new Error('must not be charged')),
    ...options.gateway,
  }
  const { endpoint, listeners, onMismatch, queries: own } = options
  const setup = setUpPayments({
    gateway,
    guard,
    isWoken: false,
    ...(onMismatch && { onMismatch }),
    ...(listeners && { listeners }),
    ...(own && { queries: own }),
    ...(endpoint && { endpoint: { url: 'https://shop.example/', secrets: [SECRET] } }),
    fetch: async (_url, init) => endpoint?.(String(init?.body)) ?? new Response(),
    async wait(method, _, args) {
      asked.push(method)
      options.intercept?.(method, args)
    },
  })
  const { clock, lines, payments, quiet } = setup
  const { ledger, queries, sweeper } = payments

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
      chargeRepeatableForMs: gateway.chargeRepeatableForMs,
      mayCall: true,
      now,
      until: now + 90_000,
    })
    if (begun.state !== 'begun') throw new Error(begun.state)
    await quiet()
    const { id } = begun.transaction
    const unsent = { kind: 'unsent', nextCheckAt: now + MINUTE } as const
    const end = { transactionId: id, eventId: `e-${id}`, now }
    if (!isSent) await ledger.finishCharge({ ...end, result: unsent })
    if (!isAnswered) return id
    const named = { transactionId: id, gatewayTransactionId: `g-${id}` }
    const expiry = expiresAt > 0 && { expiresAt: new Date(expiresAt).toISOString() }
    const answer = { status: 'Pending' as const, gateway: 'bank', reference, ...named, ...expiry }
    const nextCheckAt = now + 5 * MINUTE
    const expires = expiresAt > 0 && { expiresAt }
    const result = { kind: 'answered' as const, answer, ...expires, nextCheckAt }
    await ledger.finishCharge({ ...end, result })
    return id
  }
  const story = async (id: string) => {
    const found = await queries.story(id)
    if (!found) throw new Error('there is none')
    return found
  }
  /** Advances the clock by minutes, with a sweep after each; of days, after each fifth. */
  async function pass(ms: number): Promise<void> {
    const step = ms < DAY ? MINUTE : 5 * MINUTE
    for (let left = ms; left > 0; left -= step) {
      await clock.advance(Math.min(left, step))
      await sweeper.sweep()
      await quiet()
    }
  }
  /** A webhook that was stale. */
  const stale = (id: string) =>
    ledger.checkSoon({
      gateway: 'bank',
      ids: { gatewayTransactionId: `g-${id}`, reference: '' },
      now: clock.now(),
    })
  const webhook = (id: string, status: 'Paid' | 'Failed' | 'Expired', reference = '') =>
    ledger.webhook({
      id: `w-${id}-${status}`,
      payload: verified({
        gatewayTransactionId: `g-${id}`,
        reference,
        status,
        eventId: `webhook-${id}-${status}`,
        occurredAt: clock.now(),
      }),
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
    charge,
    story,
    pass,
    webhook,
    stale,
    quiet,
    /** The changes of payments that the listeners know. */
    moves: () => setup.eventNames().filter((name) => MOVED.includes(name)),
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
