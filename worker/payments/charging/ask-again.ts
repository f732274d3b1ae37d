// Asks a gateway once more about a stranded charge, and cancels it there if that is supported.
// Whether another attempt may replace it is decided in domain/begin-charge.ts.

import { type AskedAgain, type WayOut, wayOut } from '../domain/begin-charge.ts'
import { GatewayRefusedException, GatewayUnavailableException } from '../domain/exceptions.ts'
import type { TransactionRow } from '../domain/rows.ts'
import {
  type AnyGateway,
  type GatewayCall,
  type StatusAnswer,
  type StoredPayment,
  supportsCancel,
  supportsStatusCheck,
} from '../gateways/gateway.ts'
import { storedPayment } from '../gateways/outcome.ts'
import { isOfAnother } from '../reconciliation/answer.ts'
import type { ApplyAnswer } from '../reconciliation/reconcile.ts'
import type { OperationDeps } from './call.ts'

export interface AskDeps extends Pick<OperationDeps, 'client' | 'log'> {
  applyAnswer: ApplyAnswer
}

/**
 * If it was paid after all, that is applied, and this returns `apply`. `deadlineAt`, in ms: the
 * gateway is not awaited after that.
 */
export async function askAgain(
  deps: AskDeps,
  gateway: AnyGateway,
  stranded: TransactionRow,
  deadlineAt: number,
): Promise<WayOut> {
  const { chargeIsIdempotent, unseenIsUnpayable = false } = gateway
  if (stranded.gateway_transaction_id === null) {
    return wayOut({ hasGatewayId: false, chargeIsIdempotent, unseenIsUnpayable })
  }
  const { answer, cancellation } = await statusOf(deps, gateway, stranded, deadlineAt)
  const known = answer?.known ? answer : undefined
  if (known && isOfAnother(stranded, known)) {
    await deps.applyAnswer(stranded, known)
    return 'wait'
  }
  const asked: AskedAgain = {
    hasGatewayId: true,
    chargeIsIdempotent,
    ...(known && { answer: known }),
    ...(cancellation && { cancellation }),
  }
  const way = wayOut(asked)
  if (way === 'apply' && known) await deps.applyAnswer(stranded, known)
  return way
}

interface Status {
  /** Undefined: the gateway gave no answer. */
  answer?: StatusAnswer
  cancellation?: 'accepted' | 'refused'
}

async function statusOf(
  { client, log }: AskDeps,
  gateway: AnyGateway,
  stranded: TransactionRow,
  deadlineAt: number,
): Promise<Status> {
  if (!supportsStatusCheck(gateway)) return {}
  const payment = storedPayment(stranded)
  const ask = async (call: GatewayCall): Promise<Status> => {
    const answer = await gateway.checkStatus(payment, call)
    const isOpen = answer.known && answer.status === 'Pending' && !answer.isBeingPaid
    if (!isOpen || isOfAnother(stranded, answer) || !supportsCancel(gateway)) return { answer }
    const cancellation = await cancel(gateway, payment, call)
    // It may have been paid just before, so the gateway is asked again.
    return { answer: await gateway.checkStatus(payment, call), cancellation }
  }
  try {
    return await client.run(gateway, 'charge', ask, { deadlineAt })
  } catch (error) {
    const { id: transactionId, correlation_id: correlationId } = stranded
    // A driver's own error is a bug; a gateway that does not answer is normal.
    const level = error instanceof GatewayUnavailableException ? 'warn' : 'error'
    const about = { gateway: gateway.key, transactionId, correlationId }
    log(level, 'payments.replace.no_answer', { ...about, error: String(error) })
    return {}
  }
}

async function cancel(
  gateway: AnyGateway & Required<Pick<AnyGateway, 'cancel'>>,
  payment: StoredPayment,
  call: GatewayCall,
): Promise<'accepted' | 'refused'> {
  try {
    await gateway.cancel(payment, call)
    return 'accepted'
  } catch (error) {
    if (error instanceof GatewayRefusedException) return 'refused'
    throw error
  }
}
