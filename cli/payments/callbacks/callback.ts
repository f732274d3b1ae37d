// The port of what stands in for a gateway: it makes and signs one webhook. Never used by the
// Worker, which must not be able to sign what it verifies.

import type { OptionName } from '../../options.ts'

export const TOLD_STATUSES = ['Paid', 'Failed', 'Expired', 'Cancelled', 'Refunded'] as const
export type ToldStatus = (typeof TOLD_STATUSES)[number]

export interface Told {
  status: ToldStatus
  /** The gateway's name for the payment. */
  transactionId: string
  /** Ours at the gateway; undefined when nobody knows it here. */
  externalReference: string | undefined
  reference: string
  /** Minor units. */
  amount: number
  currency: string
  eventId: string
  /** When it is told, in ms. */
  now: number
}

export interface Callback {
  headers: Record<string, string>
  body: string
}

export interface CallbackMaker {
  /** The setting that it signs with; undefined: these callbacks are not signed. */
  signsWith: string | undefined
  /** What must be known of a payment. */
  needs: readonly OptionName[]
  /** What the gateway has words for. */
  statuses: readonly ToldStatus[]
  /** `secret` is the value of `signsWith`. */
  make(told: Told, secret: string): Promise<Callback>
  /**
   * Genuine, and about nothing: whoever takes it knows the same secret. It must be one that is
   * answered before anything is stored.
   */
  idle?(secret: string, now: number): Promise<Callback>
}
