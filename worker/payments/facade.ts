// Payments as the host application sees them: what it calls in process.

import type { ChargeBuilder, Order } from './charging/builder.ts'
import type { PaymentError } from './domain/exceptions.ts'
import type { PaymentStatus } from './domain/status.ts'
import type { RefundRequest, RefundResult } from './domain/transaction.ts'
import type { WebhookRoute } from './webhooks/route-names.ts'

export interface PaymentsFace {
  /** Begins a charge for an order of the host application. */
  for(order: Order): ChargeBuilder
  /**
   * The path of a route that a gateway calls back, such as `/payments/webhooks/redirect`. Throws
   * InvalidArgumentException when there is no gateway of this key.
   */
  route(name: WebhookRoute, gateway: string): string
  /** One configured gateway. Throws InvalidArgumentException when there is none of this key. */
  driver(key: string): DriverFace
}

/** A gateway as the host application sees it: what it does not support is missing. */
export interface DriverFace {
  key: string
  refund?: (request: RefundRequest) => Promise<RefundResult>
  /**
   * What the gateway says now of a payment, by our id or the gateway's; undefined: it knows none.
   * Our own payment follows with the next sweep. Throws as a refund does.
   */
  status?: (transactionId: string) => Promise<GatewayStatus | undefined>
  /**
   * Ends a payment that is Pending, which is Cancelled with the next sweep. Throws
   * GatewayRefusedException when the gateway says no.
   */
  cancel?: (transactionId: string) => Promise<void>
}

/** Amounts in minor units. */
export interface GatewayStatus {
  status: PaymentStatus
  amount: number
  currency: string
  error?: PaymentError
}
