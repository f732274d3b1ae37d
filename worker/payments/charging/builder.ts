// The fluent way to charge: `payments.for(order).driver('fib').amount(25_000, 'IQD').charge()`.

import type { AskedCharge, PaymentResponse } from '../domain/transaction.ts'
import type { ChargeBuilder, Order } from '../facade.ts'
import type { ChargeContext } from './charge.ts'

type Charge = (request: AskedCharge, context: ChargeContext) => Promise<PaymentResponse>
type Built = Partial<AskedCharge> & { reference: string }
type BuiltContext = { idempotencyKey?: string; correlationId?: string }

export function chargeBuilder(order: Order, charge: Charge): ChargeBuilder {
  const reference = typeof order === 'string' ? order : order.reference
  return builder({ reference, description: reference }, {}, charge)
}

function builder(built: Built, context: BuiltContext, charge: Charge): ChargeBuilder {
  const next = (more: Partial<AskedCharge>) => builder({ ...built, ...more }, context, charge)
  const within = (more: BuiltContext) => builder(built, { ...context, ...more }, charge)
  return {
    driver: (gateway) => next({ gateway }),
    amount: (amount, currency) => next({ amount, currency }),
    description: (description) => next({ description }),
    returnUrl: (returnUrl) => next({ returnUrl }),
    customerPhone: (customerPhone) => next({ customerPhone }),
    metadata: (metadata) => next({ metadata }),
    idempotencyKey: (idempotencyKey) => within({ idempotencyKey }),
    correlationId: (correlationId) => within({ correlationId }),
    replace: () => next({ replace: true }),
    repeat: () => next({ repeat: true }),
    // The check of every charge names what is still missing.
    charge: () => charge(built as AskedCharge, context),
  }
}
