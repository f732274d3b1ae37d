// What a gateway told: as its driver reads it, and as it is recorded and told.

import type { PaymentError } from './exceptions.ts'
import type { PaymentStatus } from './status.ts'

export interface WebhookPayload {
  /** Key of the configuration. */
  readonly gateway: string
  readonly gatewayTransactionId: string
  /** The host application's; empty where the gateway does not tell it. */
  readonly reference: string
  /** Our name for it at the gateway, where the gateway tells it back. */
  readonly externalReferenceId?: string
  readonly status: PaymentStatus
  /**
   * Minor units. With `Refunded` and `PartiallyRefunded`: all that was refunded so far, as the
   * gateway counts it; otherwise what was paid.
   */
  readonly amount: number
  readonly currency: string
  /** Drives deduplication: the same for every delivery of one event. */
  readonly eventId: string
  /**
   * ISO 8601. Drives staleness: of the event or of this attempt to tell it, never of the payment.
   */
  readonly occurredAt: string
  /** On a failure. */
  readonly error?: PaymentError
  /** A person should look, and nothing moves: `status` is then where the payment stays. */
  readonly alert?: 'refund_failed'
  /** Which refund failed: our name for it, or else the gateway's. Without it, the one under way. */
  readonly refundId?: string
  /** What the gateway sent, as JSON holds it, masked. Absent where it sent nothing. */
  readonly raw?: unknown
}

/** As a driver makes it: nothing is masked, and any number may stand for its time. */
export type VerifiedWebhook = Omit<WebhookPayload, 'occurredAt'> & {
  /** ms. NaN where the gateway tells something else for it: it is then asked instead. */
  readonly occurredAt: number
}
