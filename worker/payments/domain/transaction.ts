// A payment as the API, the events and the host application see it.

import type { PaymentError } from './exceptions.ts'
import type { PaymentStatus } from './status.ts'

export type Metadata = Readonly<Record<string, string | number | boolean | null>>

/** One attempt to be paid. Amounts in minor units, times in ISO 8601. */
export interface Transaction {
  id: string
  /** Key of the configuration. */
  gateway: string
  /** The host application's own name for what is paid. */
  reference: string
  attempt: number
  /** Absent until the gateway has answered. */
  gatewayTransactionId?: string
  /** Our name for it at the gateway; the same however often a charge is repeated. */
  externalReferenceId: string
  status: PaymentStatus
  amount: number
  currency: string
  /** Of what was paid, and in its currency. `Refunded`: all that was paid. */
  refundedAmount: number
  description?: string
  metadata?: Metadata
  redirectUrl?: string
  expiresAt?: string
  correlationId?: string
  /** Of a failure. */
  error?: PaymentError
  createdAt: string
  updatedAt: string
  paidAt?: string
  /** Once it was paid. It may be another amount than was asked for. */
  paid?: Paid
}

/** What came in, as the gateway told it. */
export interface Paid {
  /** Minor units. */
  amount: number
  currency: string
}

/** What the host application asks to be paid. */
export interface ChargeRequest {
  gateway: string
  reference: string
  /** Minor units. */
  amount: number
  currency: string
  description: string
  /** Where the payer comes back to; overrides the configured one. */
  returnUrl?: string
  customerPhone?: string
  metadata?: Metadata
}

/** A charge as it is asked for. */
export interface AskedCharge extends ChargeRequest {
  /**
   * The way out where this charge was asked for before and nobody ever got its page or its code:
   * once its gateway is certain that it is not paid, it is cancelled, and another attempt begins.
   * No part of the request that is compared with the one before.
   */
  replace?: boolean
}

/** The answer to a charge: the payment as it is, and how to pay it while that is possible. */
export interface PaymentResponse {
  /** `Pending` after a new charge; any status when the same is asked for again. */
  status: PaymentStatus
  gateway: string
  reference: string
  /** Ours: what `GET /api/payments/transactions/{id}` takes. */
  transactionId: string
  /** Missing only where the gateway never named it: it refused, say. */
  gatewayTransactionId?: string
  /** Where to send the payer. This and what follows only while the payment can be paid. */
  redirectUrl?: string
  /** ISO 8601. */
  expiresAt?: string
  qrCode?: string
  readableCode?: string
  deepLink?: string
  /** Once it was paid: it may be less than was asked for. */
  paid?: Paid
  /** Why it failed. */
  error?: PaymentError
}

/** What a gateway answered when it made a payment. */
export type OpenedPayment = PaymentResponse & { gatewayTransactionId: string }

export interface RefundRequest {
  /** Ours, or the gateway's. */
  transactionId: string
  /** Minor units. */
  amount: number
  reason: string
}

export interface RefundResult {
  /** The gateway took it. A bank that refunds by hand may take days until it tells `Refunded`. */
  success: boolean
  /** The gateway's name for it, or ours where it gives none. */
  refundId: string
  /** What this refund gives back, in minor units. */
  refundedAmount: number
}
