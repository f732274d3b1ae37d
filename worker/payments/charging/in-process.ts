// What the host application gets in the same process: the fluent way to charge,
// `payments.for(order).driver('fib').amount(25_000, 'IQD').charge()`, and with
// `payments.driver(key)` the operations of one gateway on stored payments.

import { GatewayUnavailableException, InvalidArgumentException } from '../domain/exceptions.ts'
import { isOfAnother } from '../domain/payment.ts'
import { type TransactionRow, toTransaction } from '../domain/rows.ts'
import type { FullChargeRequest } from '../domain/types.ts'
import {
  type ChargeBuilder,
  type DriverFacade,
  type GatewayStatus,
  IN_PROCESS,
  type OperationContext,
  type Order,
} from '../facade.ts'
import {
  type AnyGateway,
  type Gateway,
  isClosable,
  type SupportsStatusCheck,
  storedPayment,
  supportsRefund,
  supportsStatusCheck,
} from '../gateways/gateway.ts'
import { charge } from './charge.ts'
import { cancel } from './end.ts'
import { applyAnswer, type OperationDeps } from './operation.ts'
import { refund } from './refund.ts'

export function driverFacade(deps: OperationDeps, gateway: AnyGateway): DriverFacade {
  const { key } = gateway
  return {
    key,
    ...(supportsRefund(gateway) && {
      refund: (request, context) => refund(deps, key, request, { by: IN_PROCESS, ...context }),
    }),
    ...(supportsStatusCheck(gateway) && { status: (id) => statusOf(deps, gateway, id) }),
    ...(isClosable(gateway) && {
      cancel: async (id, context) => {
        const transaction = await find(deps, gateway, id)
        const cancelled = await cancel(deps, transaction.id, { by: IN_PROCESS, ...context })
        return toTransaction(cancelled ?? transaction)
      },
    }),
  }
}

async function statusOf(
  deps: OperationDeps,
  gateway: Gateway & SupportsStatusCheck,
  transactionId: string,
): Promise<GatewayStatus | undefined> {
  const transaction = await find(deps, gateway, transactionId)
  const payment = storedPayment(transaction)
  const askedAt = deps.clock.now()
  const answer = await deps.client.run(gateway, 'status', (call) =>
    gateway.checkStatus(payment, call),
  )
  if (!answer.known) return undefined
  await applyAnswer(deps, transaction, answer, askedAt)
  if (isOfAnother(transaction, answer)) {
    throw new GatewayUnavailableException(`${gateway.key} answered about another payment.`)
  }
  const { status, amount, currency, error } = answer
  return { status, amount, currency, ...(error && { error }) }
}

async function find(
  { queries }: OperationDeps,
  { key }: Gateway,
  id: string,
): Promise<TransactionRow> {
  const transaction = await queries.find(key, id)
  if (transaction) return transaction
  throw new InvalidArgumentException(`${key} has no such transaction here.`)
}

type Built = Partial<FullChargeRequest> & { reference: string }

export function chargeBuilder(deps: OperationDeps, order: Order): ChargeBuilder {
  const reference = typeof order === 'string' ? order : order.reference
  return builder(deps, { reference, description: reference }, { by: IN_PROCESS })
}

function builder(deps: OperationDeps, built: Built, context: OperationContext): ChargeBuilder {
  const next = (more: Partial<FullChargeRequest>) => builder(deps, { ...built, ...more }, context)
  const within = (more: OperationContext) => builder(deps, built, { ...context, ...more })
  return {
    driver: (gateway) => next({ gateway }),
    amount: (amount, currency) => next({ amount, currency }),
    description: (description) => next({ description }),
    returnUrl: (returnUrl) => next({ returnUrl }),
    cancelUrl: (cancelUrl) => next({ cancelUrl }),
    customerPhone: (customerPhone) => next({ customerPhone }),
    metadata: (metadata) => next({ metadata }),
    idempotencyKey: (idempotencyKey) => within({ idempotencyKey }),
    correlationId: (correlationId) => within({ correlationId }),
    by: (by) => within({ by }),
    replace: () => next({ replace: true }),
    repeat: () => next({ repeat: true }),
    // The check of every charge names what is still missing.
    charge: async () => (await charge(deps, built as FullChargeRequest, context)).response,
  }
}
