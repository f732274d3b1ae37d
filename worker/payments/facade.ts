// The API of payments for the host application in the same process.

import type { PaymentError } from './domain/exceptions.ts'
import type { PaymentStatus } from './domain/status.ts'
import type {
  Metadata,
  PaymentResponse,
  RefundRequest,
  RefundResult,
  Transaction,
} from './domain/types.ts'

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

/** Both do the same. */
export type WebhookRoute = 'payments.webhook' | 'payments.webhook.callback'

/**
 * Runs around a webhook: returns its own response, or that of `next`. The request and the response
 * have the correlation id in `X-Correlation-Id`.
 */
export type Middleware = (
  request: Request,
  next: () => Promise<Response>,
) => Response | Promise<Response>

/** The host application's reference for what is paid, or an object that has one. */
export type Order = string | { readonly reference: string }

/** Each method returns a new builder, so a builder can be used again. */
export interface ChargeBuilder {
  driver(key: string): ChargeBuilder
  /** In minor units: 25,000 IQD is `amount(25_000, 'IQD')`, 12.50 USD `amount(1250, 'USD')`. */
  amount(amount: number, currency: string): ChargeBuilder
  description(text: string): ChargeBuilder
  /** Where the payer returns to. */
  returnUrl(url: string): ChargeBuilder
  /** Where a payer goes who does not pay. Default: the configured page, else `returnUrl`. */
  cancelUrl(url: string): ChargeBuilder
  customerPhone(phone: string): ChargeBuilder
  /** `service_type` overrides the configured one, if the gateway has it. */
  metadata(metadata: Metadata): ChargeBuilder
  /** The same key with the same request is the same charge. */
  idempotencyKey(key: string): ChargeBuilder
  correlationId(id: string): ChargeBuilder
  /** Who asks for it, for the audit trail: such as the user of your back office. */
  by(subject: string): ChargeBuilder
  /**
   * If this order was charged before, and its page or code was lost or has expired: once its
   * gateway is certain that it is not paid, that attempt is cancelled and another one begins. If
   * its page can be paid, the answer has that page. If the order has changed, its gateway closes
   * the old page first, where it can.
   */
  replace(): ChargeBuilder
  /** Charges the order again though it is paid: another payment, under another idempotency key. */
  repeat(): ChargeBuilder
  /**
   * The current payment. It has `redirectUrl` and similar fields while it can be paid. Throws
   * InvalidArgumentException, PaymentConflictException, PaymentsPausedException,
   * GatewayRefusedException and GatewayUnavailableException.
   */
  charge(): Promise<PaymentResponse>
}

/** A gateway, for the host application. Operations that it does not support are missing. */
export interface DriverFacade {
  key: string
  /** Give each refund its own `idempotencyKey`: then it is safe to repeat. */
  refund?: (request: RefundRequest, context?: OperationContext) => Promise<RefundResult>
  /**
   * The gateway's current status of a payment, by our id or the gateway's; undefined: the gateway
   * does not know it. What is new in it is applied to our payment, unless another installation made
   * that. Throws as a refund does.
   */
  status?: (transactionId: string) => Promise<GatewayStatus | undefined>
  /**
   * Cancels a payment that is open, by our id or the gateway's: it has ended without money then.
   * Throws PaymentConflictException (`not_cancellable`, such as one that was paid),
   * PaymentsPausedException, and GatewayUnavailableException when its end is not known.
   */
  cancel?: (transactionId: string, context?: OperationContext) => Promise<Transaction>
}

/**
 * `correlationId`: in the logs, and in the events of what it causes. `by`: the subject that asks,
 * for the audit trail. Default: `in process`.
 */
export interface OperationContext {
  idempotencyKey?: string
  correlationId?: string
  by?: string
}

/** The subject of calls in process that name none. */
export const IN_PROCESS = 'in process'

/** Amounts in minor units. */
export interface GatewayStatus {
  status: PaymentStatus
  amount: number
  currency: string
  error?: PaymentError
}
