// What a driver makes of a verified callback.

import type { PaymentError } from '../exceptions.ts'
import type { PaymentStatus } from '../status.ts'

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
  /** Drives staleness: ms, of the event or of this attempt to tell it, never of the payment. */
  readonly occurredAt: number
  /** On a failure. */
  readonly error?: PaymentError
  /** A person should look, and nothing moves: `status` is then where the payment stays. */
  readonly alert?: 'refund_failed'
  /** Which refund failed: our name for it, or else the gateway's. Without it, the one under way. */
  readonly refundId?: string
  /** The gateway's untouched body. Mask it before it is stored or told. */
  readonly raw: string
}
