// The refunds of a payment, and a dispute, as its gateway reports them. Types only.

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

/** A dispute, or one of the chargebacks that are one dispute. */
export interface ReportedDispute {
  /** Its id at the gateway. */
  id: string
  /** Minor units. */
  amount: number
  currency: string
  /** `unknown`: a word that the driver does not know; what has ended stays so. */
  state: 'open' | 'ended' | 'unknown'
  /** How it has ended, in the gateway's word. */
  outcome?: string
  /** When it ended, in ms. */
  endedAt?: number
  /** The bank only asks, and has taken nothing. */
  isInquiry?: boolean
  /** The bank has the money. Missing: the gateway does not say, and what is booked stays. */
  isOut?: boolean
}

/** One dispute of a payment, which is one alert, with all that the gateway has of it. */
export interface DisputeSet {
  /** The gateway's id of it. */
  id: string
  /** When the read began, in ms: a set never overwrites one whose read began later. */
  readAt: number
  /** It was not read: an event carried it, made at some time of the second `readAt`. */
  isCopy?: boolean
  parts: readonly ReportedDispute[]
  /** Why the payer asks for it, and what the gateway says of it. */
  error?: PaymentError
}
