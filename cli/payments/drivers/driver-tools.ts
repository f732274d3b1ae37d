// What the command line knows of a driver: how its gateway's webhooks are made and signed, and what
// is wrong with its secrets. The Worker never uses it, since it must not be able to sign what it
// verifies.

import type { Finding } from '../../findings.ts'
import type { OptionName } from '../../options.ts'
import type { ConfiguredGateway } from '../configured.ts'

export interface DriverTools {
  callbacks: CallbackMaker
  /** What is wrong with its secrets, though the Worker would take them. All of them are set. */
  checkSecrets?(gateway: ConfiguredGateway): Finding[]
  /** Asks the gateway whether it takes the credentials. For a driver without access tokens. */
  checkCredentials?(gateway: ConfiguredGateway): Promise<Finding[]>
  /** For a gateway that has one address for tests and for real money: the key that says which. */
  moneyKey?: { setting: string; modeOf(key: string): MoneyMode }
}

/** Whether real money moves. */
export type MoneyMode = 'test' | 'live' | 'unknown'

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
  /** Further options that its callbacks have no place for. */
  ignores?: readonly OptionName[]
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
