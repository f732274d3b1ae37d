// What the host application gets for one configured gateway, with `payments.driver(key)`: its
// operations on stored payments. The drivers themselves are in gateways/.

import { GatewayUnavailableException, InvalidArgumentException } from '../domain/exceptions.ts'
import type { TransactionRow } from '../domain/rows.ts'
import { toTransaction } from '../domain/shown.ts'
import { type DriverFacade, type GatewayStatus, IN_PROCESS } from '../facade.ts'
import {
  type AnyGateway,
  type Gateway,
  isClosable,
  type SupportsStatusCheck,
  supportsRefund,
  supportsStatusCheck,
} from '../gateways/gateway.ts'
import { storedPayment } from '../gateways/outcome.ts'
import type { PaymentQueries } from '../queries/queries-libsql.ts'
import { isOfAnother, mustApply } from '../reconciliation/answer.ts'
import type { AskDeps } from './ask-again.ts'
import type { OperationDeps } from './call.ts'
import type { Cancel } from './cancel.ts'
import type { Refund } from './refund.ts'

export interface DriverDeps
  extends Pick<AskDeps, 'applyAnswer'>,
    Pick<OperationDeps, 'client' | 'ledger' | 'clock'> {
  queries: Pick<PaymentQueries, 'find'>
  refund: Refund
  cancel: Cancel
}

export function driverFacade(deps: DriverDeps, gateway: AnyGateway): DriverFacade {
  const { key } = gateway
  return {
    key,
    ...(supportsRefund(gateway) && {
      refund: (request, context) => deps.refund(key, request, { by: IN_PROCESS, ...context }),
    }),
    ...(supportsStatusCheck(gateway) && { status: (id) => statusOf(deps, gateway, id) }),
    ...(isClosable(gateway) && {
      cancel: async (id, context) => {
        const transaction = await find(deps, gateway, id)
        const cancelled = await deps.cancel(transaction.id, { by: IN_PROCESS, ...context })
        return toTransaction(cancelled ?? transaction)
      },
    }),
  }
}

async function statusOf(
  deps: DriverDeps,
  gateway: Gateway & SupportsStatusCheck,
  transactionId: string,
): Promise<GatewayStatus | undefined> {
  const transaction = await find(deps, gateway, transactionId)
  const payment = storedPayment(transaction)
  const answer = await deps.client.run(gateway, 'status', (call) =>
    gateway.checkStatus(payment, call),
  )
  if (!answer.known) return undefined
  if (isOfAnother(transaction, answer)) {
    // Recorded, with its alert. It has just answered: it is asked again when that is due.
    await deps.applyAnswer(transaction, answer)
    throw new GatewayUnavailableException(`${gateway.key} answered about another payment.`)
  }
  // The sweeper applies it, by the same rules as other answers.
  if (mustApply(transaction, answer)) {
    await deps.ledger.checkSoon({ gateway: gateway.key, ids: payment, now: deps.clock.now() })
  }
  const { status, amount, currency, error } = answer
  return { status, amount, currency, ...(error && { error }) }
}

async function find(
  { queries }: DriverDeps,
  { key }: Gateway,
  id: string,
): Promise<TransactionRow> {
  const transaction = await queries.find(key, id)
  if (transaction) return transaction
  throw new InvalidArgumentException(`${key} has no such transaction here.`)
}
