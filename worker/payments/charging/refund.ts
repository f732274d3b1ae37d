// A refund: it is claimed first, so that it is never made twice, and then the gateway is called.

import * as z from 'zod'
import type { Clock } from '../../shared/clock.ts'
import { checkFields, wellFormed } from '../../shared/fields.ts'
import { requestHash } from '../../shared/sha256.ts'
import type { RefundBegun, RefundOutcome } from '../acts/refund.ts'
import { checkedInMs } from '../domain/check-times.ts'
import {
  GatewayRefusedException,
  InvalidArgumentException,
  PaymentConflictException,
  type PaymentError,
} from '../domain/exceptions.ts'
import { newId } from '../domain/new-id.ts'
import type { TransactionRow } from '../domain/rows.ts'
import type { PaymentStatus } from '../domain/status.ts'
import { CALL_PATIENCE_MS } from '../domain/time.ts'
import type { RefundRequest, RefundResult } from '../domain/types.ts'
import type { OperationContext } from '../facade.ts'
import type { OpenCall } from '../gateways/client.ts'
import {
  type Gateway,
  type GatewayRefund,
  gatewayOf,
  type RefundAnswer,
  type SupportsRefund,
  storedPayment,
  supportsRefund,
} from '../gateways/gateway.ts'
import {
  type Called,
  callGateway,
  deadlinesOf,
  failedResult,
  failureOf,
  inProgress,
  type OperationDeps,
  refused,
  withAdmission,
} from './operation.ts'

export const refundSchema = z.strictObject({
  transactionId: wellFormed(255).describe('Ours, or the gateway’s.'),
  amount: z
    .int()
    .positive()
    .describe('Minor units. For a gateway that refunds only in full: what was charged.'),
  reason: wellFormed(500),
})

/** `key`: the gateway's, of the configuration. Throws as a charge does. */
export async function refund(
  deps: OperationDeps,
  key: string,
  asked: RefundRequest,
  { idempotencyKey, correlationId, by }: OperationContext = {},
): Promise<RefundResult> {
  const checked = checkFields(refundSchema, asked)
  if (!checked.ok) throw new InvalidArgumentException(checked.error)
  const request = checked.value
  const gateway = refunderOf(deps, key)
  const now = deps.clock.now()
  const id = newId(now)
  const deadlines = deadlinesOf(deps.clock.elapsed())
  const hash = await requestHash({ gateway: key, ...request })
  const begin = (mayCall: boolean) =>
    deps.ledger.beginRefund({
      id,
      gateway: key,
      ...request,
      mayCall,
      fullOnly: gateway.refunds === 'full',
      idempotencyKey,
      requestHash: hash,
      correlationId,
      by,
      now,
      until: now + CALL_PATIENCE_MS,
    })
  const finish = (result: RefundOutcome, now = deps.clock.now()) =>
    deps.ledger.finishRefund({ refundId: id, now, result })
  const { begun, admitted } = await withAdmission(deps, gateway, 'refund', deadlines, {
    begin,
    abandon: () => finish({ kind: 'unsent' }),
  })
  if (!admitted) return resultFound(begun, key, deps.clock.now())
  const { transaction } = begun
  const claimed = { refundId: id, refundAmount: request.amount, reason: request.reason }
  const called = await callGateway<RefundOutcome>(deps, gateway, {
    name: 'refund',
    transaction,
    admitted,
    deadlines,
    fields: { refundId: id },
    ask: (call) => askRefund(gateway, call, transaction, claimed, deps.clock),
    store: finish,
  })
  const { result } = called
  if (result.kind !== 'done' && result.kind !== 'accepted') {
    throw failureOf(gateway, { ...called, result })
  }
  return { success: true, refundId: result.gatewayRefundId ?? id, refundedAmount: begun.amount }
}

/** A refund that is under way, or whose outcome is unknown, is checked first after this. */
const REFUND_CHECK_MS = 5 * 60_000

/** Calls the gateway for a refund that the ledger has claimed: no other call sends its id. */
async function askRefund(
  gateway: SupportsRefund,
  call: OpenCall,
  transaction: TransactionRow,
  asked: Pick<GatewayRefund, 'refundId' | 'refundAmount' | 'reason'>,
  clock: Pick<Clock, 'now'>,
): Promise<Called<RefundOutcome>> {
  const mayBeMade = () => call.unanswered() > 0
  try {
    const refund = { ...storedPayment(transaction), ...asked, earlier: 'none' } as const
    const answer = await gateway.refund(refund, call)
    return { result: refundResult(answer, clock.now(), mayBeMade()) }
  } catch (error) {
    return { result: failedRefund(error, clock.now(), mayBeMade()), failure: error }
  }
}

/** As that of a charge. */
function refundResult(answer: RefundAnswer, now: number, mayBeMade: boolean): RefundOutcome {
  if (!answer.ok) return refused(answer, mayBeMade)
  const { gatewayRefundId, isDone } = answer
  const id = gatewayRefundId !== undefined && { gatewayRefundId }
  if (isDone) return { kind: 'done', ...id }
  return { kind: 'accepted', ...id, nextCheckAt: now + REFUND_CHECK_MS }
}

/** What a driver threw, as data. What was not sent is not waited for: it has ended. */
function failedRefund(error: unknown, now: number, mayBeMade: boolean): RefundOutcome {
  const result = failedResult(error, now + REFUND_CHECK_MS, mayBeMade)
  return result.kind === 'unsent' ? { kind: 'unsent' } : result
}

function refunderOf({ gateways }: OperationDeps, key: string): Gateway & SupportsRefund {
  const gateway = gatewayOf(gateways, key)
  if (!supportsRefund(gateway))
    throw new InvalidArgumentException(`${key} does not support refunds.`)
  const problem = gateway.refundProblem?.()
  if (problem !== undefined) throw new InvalidArgumentException(problem)
  return gateway
}

function resultFound(
  begun: Exclude<RefundBegun, { state: 'begun' | 'not_admitted' | 'paused' }>,
  gateway: string,
  now: number,
): RefundResult {
  switch (begun.state) {
    case 'answered':
      return begun.result
    case 'refused':
      throw failedBefore(begun.error)
    case 'in_progress':
      throw inProgress(
        'A refund of this transaction is under way.',
        checkedInMs(begun.nextCheckAt, now),
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
      const { amount, currency, paid_amount, paid_currency } = begun.transaction
      const paid = amountOf({ amount: paid_amount ?? amount, currency: paid_currency ?? currency })
      throw new InvalidArgumentException(`Of ${paid} only ${begun.left} can still be refunded.`)
    }
  }
}

/** Refused at once or failed later: this key's refund has ended. */
const failedBefore = (error: PaymentError): Error =>
  error.code === 'invalid_argument'
    ? new InvalidArgumentException(error.message)
    : new GatewayRefusedException(error, { code: 'refund_failed' })

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

const amountOf = ({ amount, currency }: Pick<TransactionRow, 'amount' | 'currency'>) =>
  `${amount} ${currency} (minor units)`
