// A dispute as its gateway reports it. Types only.

import type { PaymentError } from './exceptions.ts'

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
