// A gateway's callback, in the seven steps of the contract, from its bytes to one short word.

import type { Clock } from '../../shared/clock.ts'
import type { Log } from '../../shared/log.ts'
import { InvalidWebhookSignatureException } from '../domain/exceptions.ts'
import { drawId } from '../domain/new-id.ts'
import { maskedPayload, type VerifiedWebhook, type WebhookPayload } from '../domain/payload.ts'
import { staleness } from '../domain/time.ts'
import type { AnyGateway, GatewayCall, WebhookRequest } from '../gateways/gateway.ts'
import { type Caller, TooManyCallbacks } from '../gateways/guard/caller.ts'
import type { Ledger, Recorded } from '../ledger/ledger.ts'
import { maskHeaders } from '../masking/mask.ts'
import type { Background } from '../outbox/background.ts'
import { createRateLimit, type RateLimit } from '../outbox/rate-limit.ts'

export interface ReceiverDeps {
  gateways: ReadonlyMap<string, AnyGateway>
  ledger: Ledger
  caller: Caller
  background: Background
  toleranceMs: number
  onMismatch: 'log' | 'reject'
  clock: Clock
  log: Log
}

export interface WebhookAnswer {
  status: 200 | 400 | 401 | 404 | 500 | 503
  word: 'ok' | 'duplicate' | 'ignored' | 'stale' | 'invalid' | 'unknown' | 'error' | 'unavailable'
}

export type Receive = (
  key: string,
  request: WebhookRequest,
  correlationId: string,
) => Promise<WebhookAnswer>

/** Of lines that say what strangers sent: each says how many there were besides. */
const LINES_SPAN_MS = 60_000
/** Callbacks that caused no question to their gateway. */
const LIMITED_LINES = 1
/** As many forged ones as listeners get. */
const REFUSED_LINES = 60

export function createReceiver(deps: ReceiverDeps): Receive {
  const { gateways, ledger, background, clock, log } = deps
  const limited = createRateLimit(LIMITED_LINES, LINES_SPAN_MS)
  const refused = createRateLimit(REFUSED_LINES, LINES_SPAN_MS)

  /** Whoever floods us must not flood the log too. */
  function noteFew(lines: RateLimit, event: string, fields: Record<string, unknown>): void {
    const others = lines.takeMissed(clock.now())
    if (lines.admits(clock.now())) log('warn', event, { ...fields, others })
  }

  return async (key, request, correlationId) => {
    const gateway = gateways.get(key)
    if (!gateway) return { status: 404, word: 'unknown' }
    const said = { gateway: key, correlationId }

    let verified: VerifiedWebhook
    try {
      const told = await gateway.handleWebhook(request, lazyCall(deps, gateway, correlationId))
      if ('ignored' in told) {
        log('info', 'payments.webhook.ignored', { ...said, why: told.ignored })
        return { status: 200, word: 'ignored' }
      }
      verified = told
    } catch (error) {
      if (error instanceof TooManyCallbacks) {
        noteFew(limited, 'payments.webhook.limited', { gateway: key })
        return { status: 500, word: 'error' }
      }
      if (!(error instanceof InvalidWebhookSignatureException)) {
        log('error', 'payments.webhook.failed', { ...said, error: String(error) })
        return { status: 500, word: 'error' }
      }
      const headers = maskHeaders(request.headers)
      background.pass('WebhookVerificationFailed', { gateway: key, reason: error.message, headers })
      noteFew(refused, 'payments.webhook.not_verified', { ...said, reason: error.message })
      return { status: 401, word: 'invalid' }
    }

    const now = clock.now()
    const event = { ...said, eventId: verified.eventId, status: verified.status }
    const why = staleness(verified.occurredAt, now, deps.toleranceMs)
    if (why) {
      log('warn', 'payments.webhook.stale', { ...event, why, ageMs: now - verified.occurredAt })
      // A retry of an old event can never become fresh: the gateway is asked instead.
      background.run(ledger.checkSoon(key, verified, now))
      return { status: 400, word: 'stale' }
    }
    const payload = maskedPayload(verified, gateway)
    background.pass('WebhookReceived', { payload })
    let recorded: Recorded
    try {
      recorded = await ledger.webhook({
        id: drawId(now),
        payload,
        onMismatch: deps.onMismatch,
        correlationId,
        receivedAt: now,
      })
    } catch (error) {
      log('error', 'payments.webhook.not_recorded', { ...event, error: String(error) })
      return { status: 503, word: 'unavailable' }
    }
    logRecorded(log, event, payload, recorded)
    return { status: 200, word: recorded.outcome === 'duplicate' ? 'duplicate' : 'ok' }
  }
}

/** Only a driver that sends asks the breaker. Strangers can cause these calls: they are limited. */
function lazyCall(deps: ReceiverDeps, gateway: AnyGateway, correlationId: string): GatewayCall {
  return {
    send(request) {
      const { provenFor: proven } = request
      const purpose = proven === undefined ? 'unproven' : { proven }
      return deps.caller.run(gateway, purpose, (call) => call.send(request))
    },
    warn: (event, fields) =>
      deps.log('warn', event, { gateway: gateway.key, correlationId, ...fields }),
  }
}

function logRecorded(
  log: Log,
  event: Record<string, unknown>,
  payload: WebhookPayload,
  { outcome, isMismatch, transactionId }: Recorded,
): void {
  const fields = { ...event, transactionId, outcome }
  if (isMismatch && outcome !== 'duplicate') {
    const { amount, currency } = payload
    log('warn', 'payments.webhook.amount_mismatch', { ...fields, amount, currency })
  }
  const isNews = outcome === 'illegal' || outcome === 'late_payment' || outcome === 'parked'
  log(isNews ? 'warn' : 'info', `payments.webhook.${outcome}`, fields)
}
