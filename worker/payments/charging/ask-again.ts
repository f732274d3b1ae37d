// Asks a gateway once more about a stranded charge, and cancels it there if that is supported.
// Whether another attempt may replace it is decided in domain/begin-charge.ts.

import { type AskedAgain, type WayOut, wayOut } from '../domain/begin-charge.ts'
import { GatewayRefusedException, GatewayUnavailableException } from '../domain/exceptions.ts'
import type { Transaction } from '../domain/schemas.ts'
import {
  type AnyGateway,
  type GatewayCall,
  type StatusAnswer,
  type StoredPayment,
  supportsCancel,
  supportsStatusCheck,
} from '../gateways/gateway.ts'
import { type ApplyDeps, applyAnswer } from '../reconciliation/reconcile.ts'
import { isOfAnother } from '../reconciliation/verdict.ts'
import type { OperationDeps } from './call.ts'

export type AskDeps = Pick<OperationDeps, 'caller'> & ApplyDeps

/**
 * If it was paid after all, that is applied, and this returns `apply`. `deadlineAt`, in ms: the
 * gateway is not awaited after that.
 */
export async function askAgain(
  deps: AskDeps,
  gateway: AnyGateway,
  stranded: Transaction,
  deadlineAt: number,
): Promise<WayOut> {
  const { gatewayTransactionId } = stranded
  const { chargeIsIdempotent } = gateway
  if (gatewayTransactionId === undefined) return wayOut({ isNamed: false, chargeIsIdempotent })
  const { answer, cancellation } = await statusOf(
    deps,
    gateway,
    { ...stranded, gatewayTransactionId },
    deadlineAt,
  )
  const known = answer?.known ? answer : undefined
  if (known && isOfAnother(stranded, known)) {
    await applyAnswer(deps, gateway, stranded, known)
    return 'wait'
  }
  const asked: AskedAgain = {
    ...{ isNamed: true, chargeIsIdempotent },
    ...(known && { answer: known }),
    ...(cancellation && { cancellation }),
  }
  const way = wayOut(asked)
  if (way === 'apply' && known) await applyAnswer(deps, gateway, stranded, known)
  return way
}

interface Status {
  /** Undefined: the gateway gave no answer. */
  answer?: StatusAnswer
  cancellation?: 'accepted' | 'refused'
}

async function statusOf(
  { caller, log }: AskDeps,
  gateway: AnyGateway,
  stranded: Transaction & { gatewayTransactionId: string },
  deadlineAt: number,
): Promise<Status> {
  if (!supportsStatusCheck(gateway)) return {}
  const { gatewayTransactionId, externalReferenceId, reference, amount, currency } = stranded
  const names = { gatewayTransactionId, externalReferenceId, reference, amount, currency }
  const ask = async (call: GatewayCall): Promise<Status> => {
    const answer = await gateway.checkStatus(names, call)
    const isOpen = answer.known && answer.status === 'Pending' && !answer.isBeingPaid
    if (!isOpen || isOfAnother(stranded, answer) || !supportsCancel(gateway)) return { answer }
    const cancellation = await cancel(gateway, names, call)
    // It may have been paid just before, so the gateway is asked again.
    return { answer: await gateway.checkStatus(names, call), cancellation }
  }
  try {
    return await caller.run(gateway, 'charge', 'call', ask, deadlineAt)
  } catch (error) {
    const { id: transactionId, correlationId } = stranded
    // A driver's own error is a bug; a gateway that does not answer is normal.
    const level = error instanceof GatewayUnavailableException ? 'warn' : 'error'
    const about = { gateway: gateway.key, transactionId, correlationId }
    log(level, 'payments.replace.no_answer', { ...about, error: String(error) })
    return {}
  }
}

async function cancel(
  gateway: AnyGateway & Required<Pick<AnyGateway, 'cancel'>>,
  names: StoredPayment,
  call: GatewayCall,
): Promise<'accepted' | 'refused'> {
  try {
    await gateway.cancel(names, call)
    return 'accepted'
  } catch (error) {
    if (error instanceof GatewayRefusedException) return 'refused'
    throw error
  }
}
