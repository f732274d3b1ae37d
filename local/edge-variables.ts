// All that the edge of a local system is told: its places and secrets, the simulated gateways, and
// what of somebody's environment is passed through. Pure.

import { gatewayPrefixes } from '../worker/payments/config.ts'
import type { SignalboxFile } from '../worker/payments/define-config.ts'
import { DRIVERS } from '../worker/payments/gateways/registry.ts'
import { type Environment, workerVariables } from './environment.ts'
import { gatewaySecrets, simulatedGateways } from './gateways.ts'

export interface EdgeSurroundings {
  /** Of the data folder. */
  secret: string
  /** URLs of the edge itself, the libSQL server and the gateway simulator. */
  edge: string
  database: string
  simulator: string
  databaseToken: string
}

/**
 * `env`: of whoever starts the system. It sets the public URL and gateways, never the places.
 * `file`: signalbox.config.ts, which names the gateways.
 */
export function edgeVariables(
  env: Environment,
  file: SignalboxFile,
  { secret, edge, database, simulator, databaseToken }: EdgeSurroundings,
): Record<string, string> {
  const given = workerVariables(env, gatewayPrefixes(file, DRIVERS))
  return {
    // Where gateways call back; whoever has a tunnel to the internet sets it in the environment.
    PAYMENT_PUBLIC_URL: edge,
    ...simulatedGateways(given, gatewaySecrets(secret), simulator),
    ...given,
    AUTH_SECRETS: secret,
    LIBSQL_URL: database,
    LIBSQL_AUTH_TOKEN: databaseToken,
  }
}
