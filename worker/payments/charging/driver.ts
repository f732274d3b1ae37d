// A configured gateway for the host application: its operations on stored payments.

import { GatewayUnavailableException, InvalidArgumentException } from '../domain/exceptions.ts'
import type { Transaction } from '../domain/schemas.ts'
import type { DriverFacade, GatewayStatus } from '../facade.ts'
import {
  type AnyGateway,
  type Gateway,
  type SupportsCancel,
  type SupportsStatusCheck,
  supportsCancel,
  supportsRefund,
  supportsStatusCheck,
} from '../gateways/gateway.ts'
import type { PaymentQueries } from '../queries/queries.ts'
import { type ApplyDeps, applyAnswer } from '../reconciliation/reconcile.ts'
import { isOfAnother, mustApply } from '../reconciliation/verdict.ts'
import type { OperationDeps } from './call.ts'
import type { Refund } from './refund.ts'

export interface DriverDeps
  extends Omit<ApplyDeps, 'ledger'>,
    Pick<OperationDeps, 'caller' | 'ledger'> {
  queries: Pick<PaymentQueries, 'find'>
  refund: Refund
}

export function driverFacade(deps: DriverDeps, gateway: AnyGateway): DriverFacade {
  const { key } = gateway
  return {
    key,
    ...(supportsRefund(gateway) && {
      refund: (request, context) => deps.refund(key, request, context),
    }),
    ...(supportsStatusCheck(gateway) && { status: (id) => statusOf(deps, gateway, id) }),
    ...(supportsCancel(gateway) && { cancel: (id) => cancel(deps, gateway, id) }),
  }
}

async function statusOf(
  deps: DriverDeps,
  gateway: Gateway & SupportsStatusCheck,
  transactionId: string,
): Promise<GatewayStatus | undefined> {
  const transaction = await find(deps, gateway, transactionId)
  const names = namesOf(transaction)
  const answer = await deps.caller.run(gateway, 'status', 'call', (call) =>
    gateway.checkStatus(names, call),
  )
  if (!answer.known) return undefined
  if (isOfAnother(transaction, answer)) {
    // Recorded, with its alert. It has just answered: it is asked again when that is due.
    await applyAnswer(deps, gateway, transaction, answer)
    throw new GatewayUnavailableException(`${gateway.key} answered about another payment.`)
  }
  // The sweeper applies it, by the same rules as other answers.
  if (mustApply(transaction, answer)) {
    await deps.ledger.checkSoon(gateway.key, names, deps.clock.now())
  }
  const { status, amount, currency, error } = answer
  return { status, amount, currency, ...(error && { error }) }
}

async function cancel(
  deps: DriverDeps,
  gateway: Gateway & SupportsCancel,
  transactionId: string,
): Promise<void> {
  const transaction = await find(deps, gateway, transactionId)
  const { status } = transaction
  if (status !== 'Pending') {
    throw new InvalidArgumentException(`A payment that is ${status} cannot be cancelled.`)
  }
  const names = namesOf(transaction)
  await deps.caller.run(gateway, 'charge', 'call', (call) => gateway.cancel(names, call))
  // It may have been paid just before, so the gateway is asked for its status.
  await deps.ledger.checkSoon(gateway.key, names, deps.clock.now())
}

async function find({ queries }: DriverDeps, { key }: Gateway, id: string): Promise<Transaction> {
  const transaction = await queries.find(key, id)
  if (transaction) return transaction
  throw new InvalidArgumentException(`${key} has no such transaction here.`)
}

function namesOf({ gatewayTransactionId, ...names }: Transaction) {
  if (gatewayTransactionId === undefined) {
    throw new InvalidArgumentException('This payment has no gateway id yet.')
  }
  const { externalReferenceId, reference, amount, currency } = names
  return { gatewayTransactionId, externalReferenceId, reference, amount, currency }
}
