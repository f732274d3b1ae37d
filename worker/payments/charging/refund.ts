// A refund: claimed first, so that it can never be made twice, then asked of the gateway.

import { z } from 'zod'
import { requestHash } from '../../shared/sha256.ts'
import { checkedInMs } from '../domain/check-schedule.ts'
import {
  GatewayRefusedException,
  InvalidArgumentException,
  PaymentConflictException,
} from '../domain/exceptions.ts'
import { drawId } from '../domain/new-id.ts'
import type { RefundEnd } from '../domain/refund.ts'
import type { PaymentStatus } from '../domain/status.ts'
import type { Paid, RefundRequest, RefundResult } from '../domain/transaction.ts'
import { type Gateway, type SupportsRefund, supportsRefund } from '../gateways/gateway.ts'
import { failedRefund, refundResult } from '../gateways/outcome.ts'
import type { RefundBegun } from '../ledger/ledger.ts'
import {
  CALL_PATIENCE_MS,
  circuitOpen,
  type Deadlines,
  deadlinesOf,
  faultsOf,
  finish,
  inTime,
  type OperationContext,
  type OperationDeps,
  refusedBefore,
  unknownOutcome,
  wellFormed,
} from './operation.ts'

/** `gateway` is the configuration's key. Throws as a charge does. */
export type Refund = (
  gateway: string,
  request: RefundRequest,
  context?: OperationContext,
) => Promise<RefundResult>

const refundSchema = z.strictObject({
  transactionId: wellFormed(255),
  amount: z.int().positive(),
  reason: wellFormed(500),
})

export function createRefund(deps: OperationDeps): Refund {
  return async (key, asked, { idempotencyKey, correlationId } = {}) => {
    const parsed = refundSchema.safeParse(asked)
    if (!parsed.success) throw new InvalidArgumentException(faultsOf(parsed.error))
    const request = parsed.data
    const gateway = refunderOf(deps, key)
    const now = deps.clock.now()
    const id = drawId(now)
    const deadlines = deadlinesOf(now)
    const beginning = deps.ledger.beginRefund({
      id,
      gateway: key,
      ...request,
      fullOnly: gateway.refunds === 'full',
      ...(idempotencyKey !== undefined && { idempotencyKey }),
      requestHash: await requestHash({ gateway: key, ...request }),
      ...(correlationId !== undefined && { correlationId }),
      now,
      until: now + CALL_PATIENCE_MS,
    })
    const begun = await inTime(deps, deadlines.begunBy, beginning, (late) =>
      abandon(deps, id, late),
    )
    if (begun.state !== 'begun') return answerAtOnce(begun, key)
    return await callGateway(deps, gateway, begun, { refundId: id, request, deadlines })
  }
}

/** Claimed too late for its caller. The gateway was not asked, so it may be asked for anew. */
async function abandon({ ledger, clock }: OperationDeps, refundId: string, begun: RefundBegun) {
  if (begun.state !== 'begun') return
  const message = 'The gateway was not asked: the database took too long.'
  const result = { kind: 'refused' as const, error: { code: 'not_sent', message } }
  await ledger.finishRefund({ refundId, now: clock.now(), verdict: 'neutral', result })
}

function refunderOf({ gateways }: OperationDeps, key: string): Gateway & SupportsRefund {
  const gateway = gateways.get(key)
  if (!gateway) throw new InvalidArgumentException(`There is no gateway ${key}.`)
  if (!supportsRefund(gateway)) throw new InvalidArgumentException(`${key} gives nothing back.`)
  const problem = gateway.refundProblem?.()
  if (problem !== undefined) throw new InvalidArgumentException(problem)
  return gateway
}

function answerAtOnce(
  begun: Exclude<RefundBegun, { state: 'begun' }>,
  gateway: string,
): RefundResult {
  switch (begun.state) {
    case 'answered':
      return begun.result
    case 'refused':
      throw refusedBefore(begun.error)
    case 'in_progress':
      throw new PaymentConflictException(
        'in_progress',
        'A refund of this transaction is under way.',
      )
    case 'conflict':
      throw new PaymentConflictException(
        'idempotency_conflict',
        'This Idempotency-Key belongs to another request.',
      )
    case 'unknown_transaction':
      throw new InvalidArgumentException(`${gateway} has no such transaction here.`)
    case 'not_refundable':
      throw new InvalidArgumentException(notRefundable(begun.status))
    case 'not_full': {
      const charged = amountOf(begun.transaction)
      throw new InvalidArgumentException(
        `${gateway} gives back all of a payment or nothing: ask with the ${charged} of its charge.`,
      )
    }
    case 'too_much': {
      const paid = amountOf(begun.transaction.paid ?? begun.transaction)
      throw new InvalidArgumentException(`Of ${paid} only ${begun.left} can still be given back.`)
    }
    case 'circuit_open':
      throw circuitOpen(gateway, begun.retryAfterMs)
  }
}

function notRefundable(status: PaymentStatus): string {
  switch (status) {
    case 'Paid':
      return 'Nothing was paid, so nothing can be given back.'
    case 'PartiallyRefunded':
    case 'Refunded':
      return 'All that was paid has been given back already.'
    default:
      return `A payment that is ${status} cannot be given back.`
  }
}

const amountOf = ({ amount, currency }: Paid) => `${amount} ${currency} (minor units)`

async function callGateway(
  deps: OperationDeps,
  gateway: Gateway & SupportsRefund,
  begun: Extract<RefundBegun, { state: 'begun' }>,
  asking: {
    refundId: string
    request: RefundRequest
    deadlines: Deadlines
  },
): Promise<RefundResult> {
  const { ledger, caller, clock, log } = deps
  const { refundId, request, deadlines } = asking
  const { amount, reason } = request
  const { transaction } = begun
  const { id: transactionId, correlationId } = transaction
  const call = caller.startCall(gateway, begun.accessToken, deadlines.calledBy)
  let result: RefundEnd['result']
  let failure: unknown
  try {
    const { gatewayTransactionId } = transaction
    if (gatewayTransactionId === undefined) {
      throw new InvalidArgumentException('The gateway never named this payment.')
    }
    const { externalReferenceId, reference, currency } = transaction
    const names = { gatewayTransactionId, externalReferenceId, reference }
    const paid = { amount: transaction.amount, currency }
    const refund = { ...names, ...paid, refundId, refundAmount: amount, reason }
    result = refundResult(await gateway.refund(refund, call), clock.now())
  } catch (error) {
    failure = error
    result = failedRefund(error, clock.now())
    const about = { gateway: gateway.key, transactionId, refundId, correlationId }
    log('warn', `payments.refund.${result.kind}`, { ...about, error: String(error) })
  }
  const end = { refundId, now: clock.now(), verdict: call.verdict(), result }
  const { answeredBy } = deadlines
  await finish(deps, { transactionId, answeredBy }, ledger.finishRefund(end))
  switch (result.kind) {
    case 'done':
    case 'accepted': {
      const { gatewayRefundId = refundId } = result
      return { success: true, refundId: gatewayRefundId, refundedAmount: begun.amount }
    }
    case 'refused':
      if (failure instanceof InvalidArgumentException) throw failure
      throw new GatewayRefusedException(result.error, { transactionId })
    case 'unknown':
      throw unknownOutcome(failure, gateway.key, {
        transactionId,
        checkedInMs: checkedInMs(result.nextCheckAt, end.now),
      })
  }
}
