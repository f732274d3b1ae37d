// Processes a gateway's webhook in the seven steps of the contract and returns a short answer.

import type { Clock } from '../../shared/clock.ts'
import type { Fields, Log } from '../../shared/log.ts'
import { createRateLimit, type RateLimit } from '../../shared/rate-limit.ts'
import type { Recorded } from '../acts/webhook.ts'
import { counted } from '../counted.ts'
import {
  GatewayUnavailableException,
  InvalidWebhookSignatureException,
  TooManyCallbacks,
} from '../domain/exceptions.ts'
import { newId } from '../domain/new-id.ts'
import { REFUSED, type RefusedReason } from '../domain/status.ts'
import { isoTime, staleness, startOfMinute } from '../domain/time.ts'
import type { Notify, VerifiedWebhook } from '../domain/types.ts'
import type { GatewayClient } from '../gateways/client.ts'
import type {
  AnyGateway,
  GatewayCall,
  IgnoredWebhook,
  UnreadableWebhook,
  WebhookRequest,
} from '../gateways/gateway.ts'
import type { Ledger } from '../ledger/ledger.ts'
import { type Refusals, type RefusedRow, withRow } from '../ledger/refused-webhooks.ts'
import { type MaskReport, maskHeaders } from '../mask.ts'

export interface ReceiverDeps {
  gateways: ReadonlyMap<string, AnyGateway>
  ledger: Ledger
  client: GatewayClient
  refusals: Pick<Refusals, 'countRefused'>
  notify: Notify
  later: (work: Promise<unknown>) => void
  toleranceMs: number
  onMismatch: 'log' | 'reject'
  mask: MaskReport
  clock: Clock
  log: Log
}

export interface WebhookAnswer {
  status: 200 | 400 | 401 | 404 | 500 | 503
  body: 'ok' | 'duplicate' | 'ignored' | 'stale' | 'invalid' | 'unknown' | 'error' | 'unavailable'
}

/**
 * What the doctor sends to see that a route refuses what is not signed. It claims nothing, so it is
 * no forgery: it is refused as any other, and is no sign of an attack.
 */
export const PROBE = '{"signalbox":"doctor"}'

export type Receive = (
  key: string,
  request: WebhookRequest,
  correlationId: string,
) => Promise<WebhookAnswer>

/** Anyone can cause these lines, so their number per minute is limited; `others` were left out. */
const LOG_SPAN_MS = 60_000
/** For callbacks that were not checked with their gateway, because it is asked too often. */
const MAX_LIMITED_LINES = 1
/** For callbacks with an invalid signature. The same as for WebhookVerificationFailed events. */
const MAX_REFUSED_LINES = 60
/** On Cloudflare each is a call of the ledger's object. What is left out is in the next one. */
const MAX_REFUSED_COUNTS = 60

export function createReceiver(deps: ReceiverDeps): Receive {
  const { gateways, ledger, mask, notify, later, clock, log } = deps
  const limited = createRateLimit(MAX_LIMITED_LINES, LOG_SPAN_MS)
  const refused = createRateLimit(MAX_REFUSED_LINES, LOG_SPAN_MS)
  const count = refusalCount(deps)

  function logLimited(lines: RateLimit, event: string, fields: Record<string, unknown>): void {
    const others = lines.takeMissed(clock.elapsed())
    if (lines.admits(clock.elapsed())) log('warn', event, { ...fields, others })
  }

  return async (key, request, correlationId) => {
    const startedAt = clock.elapsed()
    const answer = await receive(key, request, correlationId)
    const isProbe = answer.body === 'invalid' && request.body === PROBE
    const outcome = isProbe ? 'probe' : answer.body
    const about = { gateway: key, outcome, ms: clock.elapsed() - startedAt }
    counted(log, 'debug', 'payments.webhook.answered', about)
    const reason = REFUSED.find((name) => name === outcome)
    if (reason) count(key, reason)
    return answer
  }

  async function receive(
    ...[key, request, correlationId]: Parameters<Receive>
  ): ReturnType<Receive> {
    const gateway = gateways.get(key)
    if (!gateway) return { status: 404, body: 'unknown' }
    const fields = { gateway: key, correlationId }
    let result: VerifiedWebhook | IgnoredWebhook | UnreadableWebhook
    try {
      result = await gateway.handleWebhook(request, limitedCall(deps, gateway, correlationId))
    } catch (error) {
      return failed(error, request, fields)
    }
    if ('ignored' in result) {
      log('info', 'payments.webhook.ignored', { ...fields, why: result.ignored })
      return { status: 200, body: 'ignored' }
    }
    const verified = withAmount(result)
    return 'unreadable' in verified
      ? await remember(verified, fields)
      : await record(verified, fields)
  }

  /** It is not proven, or its driver could not read what it is about. */
  function failed(error: unknown, request: WebhookRequest, fields: Received): WebhookAnswer {
    const { gateway: key } = fields
    if (error instanceof TooManyCallbacks) {
      logLimited(limited, 'payments.webhook.limited', { gateway: key })
      return { status: 500, body: 'error' }
    }
    if (error instanceof InvalidWebhookSignatureException) {
      const headers = maskHeaders(request.headers)
      if (request.body !== PROBE) {
        notify('WebhookVerificationFailed', { gateway: key, reason: error.message, headers })
      }
      logLimited(refused, 'payments.webhook.not_verified', { ...fields, reason: error.message })
      return { status: 401, body: 'invalid' }
    }
    log('error', 'payments.webhook.failed', { ...fields, error: String(error) })
    // The gateway may have given up by the time at which it can be asked again.
    if (error instanceof GatewayUnavailableException && error.gatewayTransactionId !== undefined) {
      const { gatewayTransactionId, unreadable: why } = error
      const now = clock.now()
      const unreadable = why === undefined ? {} : { unreadable: { id: newId(now), why } }
      later(ledger.checkSoon({ gateway: key, ids: { gatewayTransactionId }, now, ...unreadable }))
    }
    return { status: 500, body: 'error' }
  }

  /** Repeated, it stays unreadable, so the payment's status is asked for, too. */
  async function remember(read: UnreadableWebhook, fields: Received): Promise<WebhookAnswer> {
    const { unreadable: why, isFinal } = read
    log('error', 'payments.webhook.unreadable', { ...fields, why })
    const now = clock.now()
    const unreadable = { id: newId(now), why, ...(isFinal && { isFinal }) }
    const remembering = ledger.checkSoon({ gateway: fields.gateway, ids: read, now, unreadable })
    if (!isFinal) {
      later(remembering)
      return { status: 500, body: 'error' }
    }
    try {
      await remembering
      return { status: 200, body: 'ok' }
    } catch (error) {
      log('error', 'payments.webhook.not_recorded', { ...fields, error: String(error) })
      return { status: 503, body: 'unavailable' }
    }
  }

  async function record(verified: VerifiedWebhook, fields: Received): Promise<WebhookAnswer> {
    const { gateway: key, correlationId } = fields
    const now = clock.now()
    const event = { ...fields, eventId: verified.eventId, status: verified.status }
    const why = staleness(verified.occurredAt, now, deps.toleranceMs)
    if (why) {
      log('warn', 'payments.webhook.stale', { ...event, why, ageMs: now - verified.occurredAt })
      // The gateway repeats the same old event, so the payment's status is asked for instead.
      later(ledger.checkSoon({ gateway: key, ids: verified, now }))
      return { status: 400, body: 'stale' }
    }
    const payload = mask(key, verified)
    const { refunds: _, disputes: _disputes, paidAmount: _paid, ...shown } = payload
    notify('WebhookReceived', { payload: { ...shown, occurredAt: isoTime(shown.occurredAt) } })
    let recorded: Recorded
    try {
      recorded = await ledger.webhook({
        id: newId(now),
        payload,
        onMismatch: deps.onMismatch,
        correlationId,
        receivedAt: now,
      })
    } catch (error) {
      log('error', 'payments.webhook.not_recorded', { ...event, error: String(error) })
      return { status: 503, body: 'unavailable' }
    }
    const { outcome, transactionId } = recorded
    const level = NORMAL.includes(outcome) ? 'info' : 'warn'
    log(level, `payments.webhook.${outcome}`, { ...event, transactionId, outcome })
    return { status: 200, body: outcome === 'duplicate' || outcome === 'ignored' ? outcome : 'ok' }
  }
}

/** For the log. */
interface Received extends Fields {
  gateway: string
  correlationId: string
}

/** Counts them for all Workers. What is too often for a call of its own goes with the next one. */
function refusalCount({ refusals, later, clock }: ReceiverDeps) {
  const counting = createRateLimit(MAX_REFUSED_COUNTS, LOG_SPAN_MS)
  let uncounted: readonly RefusedRow[] = []
  return (gateway: string, reason: RefusedReason): void => {
    const at = startOfMinute(clock.now())
    uncounted = withRow(uncounted, { at, gateway, reason, count: 1 })
    if (!counting.admits(clock.elapsed())) return
    later(refusals.countRefused(uncounted))
    uncounted = []
  }
}

/** A driver may read an amount as something that cannot be stored. */
const withAmount = (
  result: VerifiedWebhook | UnreadableWebhook,
): VerifiedWebhook | UnreadableWebhook =>
  'unreadable' in result || Number.isSafeInteger(result.amount)
    ? result
    : { ...result, unreadable: 'amount' }

/**
 * A call for drivers that verify a callback by asking their gateway. The guard is asked only if the
 * driver sends a request. Anyone can cause such requests, so the guard limits them.
 */
function limitedCall(deps: ReceiverDeps, gateway: AnyGateway, correlationId: string): GatewayCall {
  return {
    send(request) {
      const { provenFor: proven } = request
      const purpose = proven === undefined ? 'unproven' : { proven }
      return deps.client.run(gateway, 'status', (call) => call.send(request), { purpose })
    },
    warn: (event, fields) =>
      deps.log('warn', event, { gateway: gateway.key, correlationId, ...fields }),
  }
}

const NORMAL: readonly Recorded['outcome'][] = ['applied', 'unchanged', 'duplicate', 'ignored']
