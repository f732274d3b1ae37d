// The API of payments for the host application in the same process.

import type { ChargeBuilder, Order } from './charging/builder.ts'
import type { PaymentError } from './domain/exceptions.ts'
import type { PaymentStatus } from './domain/status.ts'
import type { RefundRequest, RefundResult } from './domain/transaction.ts'
import type { WebhookRoute } from './webhooks/route-names.ts'

export interface PaymentsFacade {
  /** Begins a charge for an order of the host application. */
  for(order: Order): ChargeBuilder
  /**
   * The path of a webhook route, such as `/payments/webhooks/redirect`. Throws
   * InvalidArgumentException when there is no gateway of this key.
   */
  route(name: WebhookRoute, gateway: string): string
  /** One configured gateway. Throws InvalidArgumentException when there is none of this key. */
  driver(key: string): DriverFacade
}

/** A gateway, for the host application. Operations that it does not support are missing. */
export interface DriverFacade {
  key: string
  refund?: (request: RefundRequest) => Promise<RefundResult>
  /**
   * The gateway's current status of a payment, by our id or the gateway's; undefined: the gateway
   * does not know it. Our payment is updated by the next sweep. Throws the same errors as a refund.
   */
  status?: (transactionId: string) => Promise<GatewayStatus | undefined>
  /**
   * Cancels a Pending payment at the gateway; the next sweep makes it Cancelled here. Throws
   * GatewayRefusedException when the gateway refuses.
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
