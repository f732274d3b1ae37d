// Asks a gateway once more about an open charge, and cancels it there if that is supported. Whether
// another attempt may replace it is decided in domain/close-charge.ts.

import type { OpenCharge } from '../acts/begin-charge.ts'
import { checkedInMs } from '../domain/check-times.ts'
import {
  GatewayRefusedException,
  GatewayUnavailableException,
  type PaymentError,
} from '../domain/exceptions.ts'
import { type AskedAgain, isUnsent, type WayOut, wayOut } from '../domain/open-charge.ts'
import type { TransactionRow } from '../domain/rows.ts'
import {
  type AnyGateway,
  type GatewayCall,
  type StatusAnswer,
  type StoredPayment,
  type SupportsCancel,
  supportsCancel,
  supportsStatusCheck,
} from '../gateways/gateway.ts'
import { storedPayment } from '../gateways/outcome.ts'
import { isOfAnother, type KnownStatus } from '../reconciliation/answer.ts'
import type { ApplyAnswer } from '../reconciliation/apply-answer.ts'
import type { OperationDeps } from './call.ts'

export interface AskDeps extends Pick<OperationDeps, 'client' | 'log'> {
  applyAnswer: ApplyAnswer
}

export interface Asked {
  way: WayOut
  /** The gateway's last one. */
  answer?: KnownStatus
  /** The gateway does not cancel it, and says why. */
  refusal?: PaymentError
}

/**
 * If it was paid after all, that is applied, and this returns `apply`. `deadlineAt`, in ms: the
 * gateway is not awaited after that.
 */
export async function askAgain(
  deps: AskDeps,
  gateway: AnyGateway,
  { transaction, isPageOpen }: OpenCharge,
  deadlineAt: number,
): Promise<Asked> {
  const { unseenIsUnpayable = false } = gateway
  const isRepeatable = gateway.chargeRepeatableForMs > 0
  const terms = { isRepeatable, unseenIsUnpayable, isPageOpen }
  if (transaction.gateway_transaction_id === null) {
    return {
      way: wayOut({ ...terms, hasGatewayId: false, isUnsent: isUnsent(transaction) }),
    }
  }
  const { answer, cancellation, refusal } = await statusOf(deps, gateway, transaction, deadlineAt)
  const known = answer?.known ? answer : undefined
  if (known && isOfAnother(transaction, known)) {
    await deps.applyAnswer(transaction, known)
    return { way: 'wait' }
  }
  const asked: AskedAgain = {
    ...terms,
    hasGatewayId: true,
    ...(known && { answer: known }),
    ...(cancellation && { cancellation }),
  }
  const way = wayOut(asked)
  if (way === 'apply' && known) await deps.applyAnswer(transaction, known)
  return { way, ...(known && { answer: known }), ...(refusal && { refusal }) }
}

/** Asked again, it is asked at once: somebody waits for it. */
const LONGEST_WAIT_MS = 30_000

/** Its gateway has reported no end of this payment, or cannot be reached. */
export const notClosed = ({ key }: AnyGateway, row: TransactionRow, now: number) =>
  new GatewayUnavailableException(`${key} has not reported that this payment is cancelled.`, {
    transactionId: row.id,
    retryAfterMs: Math.min(checkedInMs(row.next_check_at ?? undefined, now), LONGEST_WAIT_MS),
  })

interface Status {
  /** Undefined: the gateway gave no answer. */
  answer?: StatusAnswer
  cancellation?: 'accepted' | 'refused'
  /** Why it was refused. */
  refusal?: PaymentError
}

async function statusOf(
  { client, log }: AskDeps,
  gateway: AnyGateway,
  open: TransactionRow,
  deadlineAt: number,
): Promise<Status> {
  if (!supportsStatusCheck(gateway)) return {}
  const payment = storedPayment(open)
  const ask = async (call: GatewayCall): Promise<Status> => {
    const answer = await gateway.checkStatus(payment, call)
    const isPending = answer.known && answer.status === 'Pending' && !isOfAnother(open, answer)
    if (!isPending || !supportsCancel(gateway)) return { answer }
    const { cancelRefusal: refusal, isBeingPaid } = answer
    if (refusal) return { answer, cancellation: 'refused', refusal }
    if (isBeingPaid) return { answer }
    const cancelled = await cancel(gateway, payment, call)
    // It may have been paid just before, so the gateway is asked again.
    return { answer: await gateway.checkStatus(payment, call), ...cancelled }
  }
  try {
    return await client.run(gateway, 'charge', ask, { deadlineAt })
  } catch (error) {
    const { id: transactionId, correlation_id: correlationId } = open
    // A driver's own error is a bug; a gateway that does not answer is normal.
    const level = error instanceof GatewayUnavailableException ? 'warn' : 'error'
    const about = { gateway: gateway.key, transactionId, correlationId }
    log(level, 'payments.replace.no_answer', { ...about, error: String(error) })
    return {}
  }
}

async function cancel(
  gateway: SupportsCancel,
  payment: StoredPayment,
  call: GatewayCall,
): Promise<Pick<Status, 'cancellation' | 'refusal'>> {
  try {
    await gateway.cancel(payment, call)
    return { cancellation: 'accepted' }
  } catch (error) {
    if (!(error instanceof GatewayRefusedException)) throw error
    return { cancellation: 'refused', refusal: error.error }
  }
}
