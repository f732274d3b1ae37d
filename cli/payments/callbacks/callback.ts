// The port of a simulated gateway's webhook: makes and signs one. The Worker never uses it, since
// it must not be able to sign what it verifies.

import type { OptionName } from '../../options.ts'

export const SIMULATED_STATUSES = ['Paid', 'Failed', 'Expired', 'Cancelled', 'Refunded'] as const
export type SimulatedStatus = (typeof SIMULATED_STATUSES)[number]

export interface SimulatedEvent {
  status: SimulatedStatus
  /** The gateway's id of the payment. */
  transactionId: string
  /** Our external reference at the gateway; undefined when it is not known here. */
  externalReference: string | undefined
  reference: string
  /** Minor units. */
  amount: number
  currency: string
  eventId: string
  /** The time at which it is sent, in ms. */
  now: number
}

export interface Callback {
  headers: Record<string, string>
  body: string
}

export interface CallbackMaker {
  /** The setting with the signing secret; undefined: these callbacks are not signed. */
  signsWith: string | undefined
  /** The options that are required. */
  needs: readonly OptionName[]
  /** The statuses that the gateway has. */
  statuses: readonly SimulatedStatus[]
  /** `secret` is the value of `signsWith`. */
  make(event: SimulatedEvent, secret: string): Promise<Callback>
  /**
   * A genuine callback that changes nothing: a receiver that verifies it has the same secret. It
   * must be answered before anything is stored.
   */
  probe?(secret: string, now: number): Promise<Callback>
}
