// All that the edge of a local system is told: its places and secrets, the simulated gateways, and
// what of somebody's environment is passed through. Pure.

import { type Environment, workerVariables } from './environment.ts'
import { gatewaySecrets, simulatedGateways } from './gateways.ts'

export interface EdgeSurroundings {
  /** Of the data folder. */
  secret: string
  /** URLs of the edge itself, the libSQL server and the gateway simulator. */
  edge: string
  database: string
  simulator: string
}

/** `env`: of whoever starts the system. It sets the public URL and gateways, never the places. */
export function edgeVariables(
  env: Environment,
  { secret, edge, database, simulator }: EdgeSurroundings,
): Record<string, string> {
  const given = workerVariables(env)
  return {
    // Where gateways call back; whoever has a tunnel to the internet sets it in the environment.
    PAYMENT_PUBLIC_URL: edge,
    ...simulatedGateways(given, gatewaySecrets(secret), simulator),
    ...given,
    AUTH_SECRETS: secret,
    LIBSQL_URL: database,
  }
}
