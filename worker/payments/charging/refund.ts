// A refund: it is claimed first, so that it is never made twice, and then the gateway is called.

import { requestHash } from '../../shared/sha256.ts'
import { checkedInMs } from '../domain/check.ts'
import { InvalidArgumentException, PaymentConflictException } from '../domain/exceptions.ts'
import { newId } from '../domain/new-id.ts'
import { CALL_PATIENCE_MS } from '../domain/payment.ts'
import type { RefundEnd } from '../domain/refund.ts'
import {
  type OperationContext,
  type Paid,
  type RefundRequest,
  type RefundResult,
  refundSchema,
} from '../domain/schemas.ts'
import type { PaymentStatus } from '../domain/status.ts'
import { type Gateway, type SupportsRefund, supportsRefund } from '../gateways/gateway.ts'
import { failedRefund, refundResult } from '../gateways/outcome.ts'
import type { RefundBegun } from '../ledger/ledger.ts'
import {
  callGateway,
  circuitOpen,
  type Deadlines,
  deadlinesOf,
  failureOf,
  faultsOf,
  inTime,
  type OperationDeps,
  refusedBefore,
} from './call.ts'

/** `gateway` is the configuration's key. Throws as a charge does. */
export type Refund = (
  gateway: string,
  request: RefundRequest,
  context?: OperationContext,
) => Promise<RefundResult>

export function createRefund(deps: OperationDeps): Refund {
  return async (key, asked, { idempotencyKey, correlationId } = {}) => {
    const parsed = refundSchema.safeParse(asked)
    if (!parsed.success) throw new InvalidArgumentException(faultsOf(parsed.error))
    const request = parsed.data
    const gateway = refunderOf(deps, key)
    const now = deps.clock.now()
    const id = newId(now)
    const deadlines = deadlinesOf(deps.clock.elapsed())
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
    if (begun.state !== 'begun') return answerAtOnce(begun, key, deps.clock.now())
    return await call(deps, gateway, begun, { refundId: id, request, deadlines })
  }
}

/** It began too late for its caller. The gateway was not called: the same request may call it. */
async function abandon({ ledger, clock }: OperationDeps, refundId: string, begun: RefundBegun) {
  if (begun.state !== 'begun') return
  const result = { kind: 'unsent' } as const
  await ledger.finishRefund({ refundId, now: clock.now(), verdict: 'neutral', result })
}

function refunderOf({ gateways }: OperationDeps, key: string): Gateway & SupportsRefund {
  const gateway = gateways.get(key)
  if (!gateway) throw new InvalidArgumentException(`There is no gateway ${key}.`)
  if (!supportsRefund(gateway))
    throw new InvalidArgumentException(`${key} does not support refunds.`)
  const problem = gateway.refundProblem?.()
  if (problem !== undefined) throw new InvalidArgumentException(problem)
  return gateway
}

function answerAtOnce(
  begun: Exclude<RefundBegun, { state: 'begun' }>,
  gateway: string,
  now: number,
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
        { retryAfterMs: checkedInMs(begun.nextCheckAt, now) },
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
        `${gateway} supports full refunds only: use the ${charged} of the charge.`,
      )
    }
    case 'too_much': {
      const paid = amountOf(begun.transaction.paid ?? begun.transaction)
      throw new InvalidArgumentException(`Of ${paid} only ${begun.left} can still be refunded.`)
    }
    case 'circuit_open':
      throw circuitOpen(gateway, begun.retryAfterMs)
  }
}

function notRefundable(status: PaymentStatus): string {
  switch (status) {
    case 'Paid':
      return 'Nothing was paid, so nothing can be refunded.'
    case 'PartiallyRefunded':
    case 'Refunded':
      return 'All that was paid was refunded already.'
    default:
      return `A payment that is ${status} cannot be refunded.`
  }
}

const amountOf = ({ amount, currency }: Paid) => `${amount} ${currency} (minor units)`

async function call(
  deps: OperationDeps,
  gateway: Gateway & SupportsRefund,
  begun: Extract<RefundBegun, { state: 'begun' }>,
  asked: { refundId: string; request: RefundRequest; deadlines: Deadlines },
): Promise<RefundResult> {
  const { ledger, clock } = deps
  const { refundId, request, deadlines } = asked
  const { transaction } = begun
  const called = await callGateway<RefundEnd['result']>(deps, gateway, {
    ...{ name: 'refund', begun, deadlines, fields: { refundId } },
    async ask(gatewayCall) {
      const { gatewayTransactionId } = transaction
      if (gatewayTransactionId === undefined) {
        throw new InvalidArgumentException('This payment has no gateway id yet.')
      }
      const { externalReferenceId, reference, amount, currency } = transaction
      const payment = { gatewayTransactionId, externalReferenceId, reference, amount, currency }
      const { amount: refundAmount, reason } = request
      const refund = { ...payment, refundId, refundAmount, reason }
      return refundResult(await gateway.refund(refund, gatewayCall), clock.now())
    },
    failed: (error) => failedRefund(error, clock.now()),
    store: (result, end) => ledger.finishRefund({ refundId, ...end, result }),
  })
  const { result } = called
  if (result.kind !== 'done' && result.kind !== 'accepted') {
    throw failureOf(gateway, { ...called, result })
  }
  const { gatewayRefundId = refundId } = result
  return { success: true, refundId: gatewayRefundId, refundedAmount: begun.amount }
}
