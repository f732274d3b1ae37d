// A charge: stored first, then asked of the gateway, then stored as answered. A crash or a timeout
// between leaves a row that says so, and the sweeper finds out.

import {
  GatewayRefusedException,
  GatewayUnavailableException,
  InvalidArgumentException,
  PaymentConflictException,
} from '../domain/exceptions.ts'
import type { ChargeEnd } from '../domain/finish-charge.ts'
import { drawId } from '../domain/new-id.ts'
import type { ChargeRequest, PaymentResponse } from '../domain/transaction.ts'
import type { AnyGateway, ChargeAnswer } from '../gateways/gateway.ts'
import type { ChargeBegun } from '../ledger/ledger.ts'
import { checkedInMs, unknownCheckAt } from '../reconciliation/schedule.ts'
import { chargeResult, failedCharge, responseNow } from './charge-result.ts'
import { checkCharge } from './check-charge.ts'
import {
  CALL_PATIENCE_MS,
  circuitOpen,
  type Deadlines,
  deadlinesOf,
  finish,
  inTime,
  type OperationContext,
  type OperationDeps,
  unknownOutcome,
} from './operation.ts'
import { requestHash } from './request-hash.ts'

export interface ChargeDeps extends OperationDeps {
  /** Where a gateway is to call back, given the address that this request came to. */
  callbackUrl(gateway: string, origin: string | undefined): string | undefined
}

export interface ChargeContext extends OperationContext {
  /** Our own address, as the request shows it. */
  origin?: string
}

export interface Charged {
  response: PaymentResponse
  /** The gateway was called for it just now; else it is a payment that was there before. */
  isNew: boolean
}

/**
 * Throws InvalidArgumentException, PaymentConflictException, GatewayRefusedException,
 * GatewayUnavailableException (the outcome may be unknown), LedgerUnavailable.
 */
export type Charge = (request: ChargeRequest, context?: ChargeContext) => Promise<Charged>

export function createCharge(deps: ChargeDeps): Charge {
  const { gateways, ledger, clock } = deps

  return async (asked, context = {}) => {
    const { request, gateway } = checkCharge(asked, gateways)
    const now = clock.now()
    const { idempotencyKey, correlationId, origin } = context
    // Without the phone: a country has so few numbers that its hash would give it away.
    const { customerPhone: _, ...hashed } = request
    const deadlines = deadlinesOf(now)
    const beginning = ledger.beginCharge({
      id: drawId(now),
      request,
      ...(idempotencyKey !== undefined && { idempotencyKey }),
      requestHash: await requestHash(hashed),
      ...(correlationId !== undefined && { correlationId }),
      chargeIsIdempotent: gateway.chargeIsIdempotent,
      now,
      until: now + CALL_PATIENCE_MS,
    })
    const begun = await inTime(deps, deadlines.begunBy, beginning, (late) => abandon(deps, late))
    if (begun.state !== 'begun') {
      return { response: answerAtOnce(begun, request, clock.now()), isNew: false }
    }
    const callbackUrl = deps.callbackUrl(gateway.key, origin)
    const asking = { request, callbackUrl, deadlines }
    return { response: await callGateway(deps, gateway, begun, asking), isNew: true }
  }
}

/** Begun too late for its caller. The gateway was not called, so the same request may call it. */
async function abandon({ ledger, clock }: ChargeDeps, begun: ChargeBegun): Promise<void> {
  if (begun.state !== 'begun') return
  const now = clock.now()
  await ledger.finishCharge({
    transactionId: begun.transaction.id,
    eventId: drawId(now),
    now,
    verdict: 'neutral',
    result: { kind: 'unsent', nextCheckAt: unknownCheckAt(now) },
  })
}

function answerAtOnce(
  begun: Exclude<ChargeBegun, { state: 'begun' }>,
  { gateway, reference }: ChargeRequest,
  now: number,
): PaymentResponse {
  switch (begun.state) {
    case 'answered': {
      const { error } = begun.transaction
      // A request that cannot be is as wrong now as it was the first time.
      if (error?.code === 'invalid_argument') throw new InvalidArgumentException(error.message)
      return responseNow(begun.transaction, begun.opened, now)
    }
    case 'in_progress':
      throw new PaymentConflictException('in_progress', 'The same charge is under way.')
    case 'unknown':
      throw new GatewayUnavailableException(
        `${gateway} has given no way to pay this charge; what became of it is being found out.`,
        {
          transactionId: begun.transaction.id,
          retryAfterMs: checkedInMs(begun.nextCheckAt, now),
        },
      )
    case 'conflict':
      throw begun.over === 'key'
        ? new PaymentConflictException(
            'idempotency_conflict',
            'This Idempotency-Key belongs to another request.',
          )
        : new PaymentConflictException(
            'reference_conflict',
            `${reference} has a payment that is open or paid, asked for in another way.`,
          )
    case 'circuit_open':
      throw circuitOpen(gateway, begun.retryAfterMs)
  }
}

async function callGateway(
  deps: ChargeDeps,
  gateway: AnyGateway,
  { transaction, accessToken }: Extract<ChargeBegun, { state: 'begun' }>,
  asking: {
    request: ChargeRequest
    callbackUrl: string | undefined
    deadlines: Deadlines
  },
): Promise<PaymentResponse> {
  const { ledger, caller, clock, log } = deps
  const { request, callbackUrl, deadlines } = asking
  const { id: transactionId, externalReferenceId, correlationId } = transaction
  const call = caller.begun(gateway, accessToken, deadlines.calledBy)
  let result: ChargeEnd['result']
  let failure: unknown
  try {
    const charge = { ...request, externalReferenceId, callbackUrl, now: clock.now() }
    const answer: ChargeAnswer = await gateway.charge(charge, call)
    result = chargeResult(request, transaction, answer, clock.now())
  } catch (error) {
    failure = error
    result = failedCharge(error, unknownCheckAt(clock.now()))
    const about = { gateway: gateway.key, transactionId, correlationId }
    log('warn', `payments.charge.${result.kind}`, { ...about, error: String(error) })
  }
  const now = clock.now()
  const end = { transactionId, eventId: drawId(now), now, verdict: call.verdict(), result }
  const { answeredBy } = deadlines
  await finish(deps, { transactionId, answeredBy }, ledger.finishCharge(end))
  switch (result.kind) {
    case 'answered':
      return result.answer
    case 'refused':
      if (failure instanceof InvalidArgumentException) throw failure
      throw new GatewayRefusedException(result.error, { transactionId })
    case 'unknown':
    case 'unsent':
      throw unknownOutcome(failure, gateway.key, {
        transactionId,
        checkedInMs: checkedInMs(result.nextCheckAt, now),
      })
  }
}
