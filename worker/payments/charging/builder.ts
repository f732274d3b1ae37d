// The fluent way to charge: `payments.for(order).driver('fib').amount(25_000, 'IQD').charge()`.

import type { AskedCharge, Metadata, PaymentResponse } from '../domain/transaction.ts'
import type { ChargeContext } from './charge.ts'

/** The host application's own name of what is paid, or whatever has one. */
export type Order = string | { readonly reference: string }

/** Each step answers a new builder: one that is kept can be used again. */
export interface ChargeBuilder {
  driver(key: string): ChargeBuilder
  /** In minor units: 25,000 IQD is `amount(25_000, 'IQD')`, 12.50 USD `amount(1250, 'USD')`. */
  amount(amount: number, currency: string): ChargeBuilder
  description(text: string): ChargeBuilder
  /** Where the payer comes back to. */
  returnUrl(url: string): ChargeBuilder
  customerPhone(phone: string): ChargeBuilder
  /** `service_type` overrides the configured one where the gateway knows such a thing. */
  metadata(metadata: Metadata): ChargeBuilder
  /** The same key with the same request is the same charge. */
  idempotencyKey(key: string): ChargeBuilder
  correlationId(id: string): ChargeBuilder
  /**
   * The way out where this order was charged before and nobody ever got its page or its code: once
   * its gateway is certain that it is not paid, that attempt is cancelled and another one begins.
   * Where a page is known, that is answered.
   */
  replace(): ChargeBuilder
  /**
   * The payment as it is: `redirectUrl` and the like are there while it can be paid. See `Charge`
   * for what it throws.
   */
  charge(): Promise<PaymentResponse>
}

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
    // What is still missing is named by the check that every charge goes through.
    charge: () => charge(built as AskedCharge, context),
  }
}
