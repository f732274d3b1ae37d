// The fluent way to charge: `payments.for(order).driver('fib').amount(25_000, 'IQD').charge()`.

import type { AskedCharge, PaymentResponse } from '../domain/types.ts'
import type { ChargeBuilder, OperationContext, Order } from '../facade.ts'

type Charge = (request: AskedCharge, context: OperationContext) => Promise<PaymentResponse>
type Built = Partial<AskedCharge> & { reference: string }

export function chargeBuilder(order: Order, charge: Charge): ChargeBuilder {
  const reference = typeof order === 'string' ? order : order.reference
  return builder({ reference, description: reference }, {}, charge)
}

function builder(built: Built, context: OperationContext, charge: Charge): ChargeBuilder {
  const next = (more: Partial<AskedCharge>) => builder({ ...built, ...more }, context, charge)
  const within = (more: OperationContext) => builder(built, { ...context, ...more }, charge)
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
    charge: () => charge(built as AskedCharge, context),
  }
}
