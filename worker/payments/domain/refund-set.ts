// The refunds of a payment as its gateway reports them. Types only.

import type { PaymentError } from './exceptions.ts'

/** A refund as its gateway reports it. */
export interface ReportedRefund {
  /** Its id at the gateway. Missing: the gateway makes one at a time, and gives none. */
  id?: string
  /** Ours, where the gateway carries it. */
  refundId?: string
  /** Minor units. */
  amount: number
  /** `accepted`: not made yet. A cancelled one is `failed`, with the code `refund_cancelled`. */
  status: 'accepted' | 'succeeded' | 'failed'
  /** Why it failed. */
  error?: PaymentError
}

/** All refunds of one payment, read together. */
export interface RefundSet {
  /** When the read began, in ms: a set never overwrites one whose read began later. */
  readAt: number
  /** Minor units: what was captured by then, where the payment is captured in parts. */
  captured?: number
  refunds: readonly ReportedRefund[]
}
