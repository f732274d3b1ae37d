// A charge: stored first, then asked of the gateway, then stored as answered. A crash or a timeout
// between leaves a row that says so, and the sweeper finds out.

import { drawId } from '../draw-id.ts'
import {
  GatewayRefusedException,
  GatewayUnavailableException,
  PaymentConflictException,
} from '../exceptions.ts'
import type { AnyGateway, ChargeAnswer } from '../gateways/gateway.ts'
import type { ChargeBegun, ChargeEnd } from '../ledger/ledger.ts'
import {
  asUnavailable,
  CALL_PATIENCE_MS,
  circuitOpen,
  failedResult,
  type OperationContext,
  type OperationDeps,
  refusedBefore,
} from '../operation.ts'
import { requestHash } from '../request-hash.ts'
import type { ChargeRequest, PaymentResponse } from '../transaction.ts'
import { chargeResult } from './charge-result.ts'
import { checkCharge } from './check-charge.ts'

export interface ChargeDeps extends OperationDeps {
  /** Where a gateway is to call back, given the address that this request came to. */
  callbackUrl(gateway: string, origin: string | undefined): string | undefined
}

export interface ChargeContext extends OperationContext {
  /** Our own address, as the request shows it. */
  origin?: string
}

/**
 * Throws InvalidArgumentException, PaymentConflictException, GatewayRefusedException,
 * GatewayUnavailableException (the outcome may be unknown), LedgerUnavailable.
 */
export type Charge = (request: ChargeRequest, context?: ChargeContext) => Promise<PaymentResponse>

const UNKNOWN_CHECK_MS = 60_000
const RETRY_UNKNOWN_MS = 60_000

export function createCharge(deps: ChargeDeps): Charge {
  const { gateways, ledger, telling, clock } = deps

  return async (asked, context = {}) => {
    const { request, gateway } = checkCharge(asked, gateways)
    const now = clock.now()
    const { idempotencyKey, correlationId, origin } = context
    const begun = await ledger.beginCharge({
      id: drawId(now),
      request,
      ...(idempotencyKey !== undefined && { idempotencyKey }),
      requestHash: await requestHash(request),
      ...(correlationId !== undefined && { correlationId }),
      chargeIsIdempotent: gateway.chargeIsIdempotent,
      now,
      until: now + CALL_PATIENCE_MS,
    })
    if (begun.state !== 'begun') return answerAtOnce(begun, request)
    telling.tellLater(begun.untold)
    return await callGateway(deps, gateway, request, begun, origin)
  }
}

function answerAtOnce(
  begun: Exclude<ChargeBegun, { state: 'begun' }>,
  { gateway, reference }: ChargeRequest,
): PaymentResponse {
  switch (begun.state) {
    case 'answered':
      return begun.answer
    case 'refused':
      throw refusedBefore(begun.error)
    case 'in_progress':
      throw new PaymentConflictException('in_progress', 'The same charge is under way.')
    case 'unknown':
      throw new GatewayUnavailableException(
        `${gateway} has not told what became of this charge; it is being found out.`,
        { retryAfterMs: RETRY_UNKNOWN_MS },
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
  request: ChargeRequest,
  begun: Extract<ChargeBegun, { state: 'begun' }>,
  origin: string | undefined,
): Promise<PaymentResponse> {
  const { ledger, caller, telling, clock, log } = deps
  const { transaction } = begun
  const call = caller.begun(gateway, begun.accessToken)
  let result: ChargeEnd['result']
  let failure: unknown
  try {
    const answer: ChargeAnswer = await gateway.charge(
      {
        ...request,
        externalReferenceId: transaction.externalReferenceId,
        callbackUrl: deps.callbackUrl(gateway.key, origin),
        now: clock.now(),
      },
      call,
    )
    result = chargeResult(request, transaction, answer, clock.now())
  } catch (error) {
    failure = asUnavailable(error, gateway.key)
    result = failedResult(error, clock.now() + UNKNOWN_CHECK_MS)
    const { id: transactionId, correlationId } = transaction
    const about = { gateway: gateway.key, transactionId, correlationId }
    log('warn', `payments.charge.${result.kind}`, { ...about, error: String(error) })
  }
  const now = clock.now()
  const finished = await ledger.finishCharge({
    transactionId: transaction.id,
    eventId: drawId(now),
    now,
    verdict: call.verdict(),
    result,
  })
  if (finished.opened) telling.pass('CircuitOpened', { gateway: gateway.key })
  telling.tellLater(finished.untold)
  switch (result.kind) {
    case 'answered':
      return result.answer
    case 'refused':
      throw failure ?? new GatewayRefusedException(result.error)
    case 'unknown':
      throw failure
  }
}
