// The variables of the Worker in a running system. Pure.

import { edgeVariables } from '../../local/environment.ts'
import { describeGateways, variablesOf } from '../../local/gateways.ts'
import type { SignalboxFile } from '../../worker/payments/define-config.ts'
import type { RunningStart } from '../data-folder.ts'
import type { Environment } from '../settings.ts'

export interface EdgeSettings {
  /** The edge's variables. */
  env: Environment
  /** Without a slash at its end. */
  edge: string | undefined
  /** For the edge. */
  token: string | undefined
  /** Gateways whose variables differ between the running system and this shell. */
  differing: readonly string[]
}

/** `env`: the variables of this shell; those of the running system may differ. */
export function systemOf(
  { local, secret }: RunningStart,
  file: SignalboxFile,
  env: Environment,
): EdgeSettings {
  const { url: edge, database, databaseToken, simulator, tokens, gateways } = local
  const here = edgeVariables(env, file, { secret, edge, database, simulator, databaseToken })
  const expected: Readonly<Record<string, unknown>> = { ...describeGateways(here) }
  const actual: Readonly<Record<string, unknown>> = { ...gateways }
  const names = new Set([...Object.keys(expected), ...Object.keys(actual)])
  const differing = [...names].filter(
    (name) => JSON.stringify(expected[name]) !== JSON.stringify(actual[name]),
  )
  // The running system's values take precedence over those of this shell.
  const variables = { ...here, ...variablesOf(gateways, differing) }
  return { env: variables, edge, token: tokens.payments, differing }
}
