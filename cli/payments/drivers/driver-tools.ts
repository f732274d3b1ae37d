// What the command line knows of a driver: which webhooks its gateway sends, and what is wrong with
// its secrets. The gateway simulator signs them. The Worker never uses either, since it must not be
// able to sign what it verifies.

import type { Action, GatewayName } from '../../../local/simulator/payments.ts'
import type { Content } from '../../../local/simulator/webhooks.ts'
import type { Finding } from '../../findings.ts'
import type { ConfiguredGateway } from '../configured.ts'

export interface DriverTools {
  callbacks: Callbacks
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

export interface Callbacks {
  /** Its name in the simulator, which writes and signs them. */
  gateway: GatewayName
  /** The setting with the signing secret; undefined: these callbacks are not signed. */
  signsWith: string | undefined
  /** The options that are required. */
  needs: readonly ('reference' | 'amount' | 'currency' | 'transaction')[]
  /** Further options that its callbacks have no place for. */
  ignores?: readonly string[]
  /**
   * The statuses that the gateway has, and what happens to a payment until it has that status. The
   * webhook is about the last of it.
   */
  ways: Readonly<Partial<Record<SimulatedStatus, readonly Action[]>>>
  /**
   * A genuine callback that changes nothing: a receiver that verifies it has the same secret. It
   * must be answered before anything is stored. `now` in ms.
   */
  probe?(now: number): Content
}
