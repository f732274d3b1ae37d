// Payments as the host application sees them: what it calls in process.

import type { ChargeBuilder, Order } from './charges/builder.ts'
import type { RefundRequest, RefundResult } from './transaction.ts'

export interface PaymentsFace {
  /** Begins a charge for an order of the host application. */
  for(order: Order): ChargeBuilder
  /** One configured gateway. Throws InvalidArgumentException when there is none of this key. */
  driver(key: string): DriverFace
}

/** A gateway as the host application sees it. */
export interface DriverFace {
  key: string
  /** Missing where the gateway gives nothing back. */
  refund?: (request: RefundRequest) => Promise<RefundResult>
}
