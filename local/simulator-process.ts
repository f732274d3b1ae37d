// The gateway simulator as a process of the system.

import { join } from 'node:path'
import type { ChildSpec } from './child.ts'
import { type GatewaySecrets, simulatorVariables } from './gateways.ts'
import { LOOPBACK } from './ports.ts'
import { type Patience, tryFetch, until } from './until.ts'

export interface SimulatorPlan {
  home: string
  port: number
  /** Where webhooks are sent; FIB gets its URL with each charge. */
  callbackOf: (gateway: 'redirect' | 'stripe') => string
  secrets: GatewaySecrets
  /** Of the data folder, for reports of a crash. */
  logsDir: string
  env: Readonly<Record<string, string>>
  logFile: string
}

export const simulatorUrl = (port: number): string => `http://${LOOPBACK}:${port}`

export function simulatorProcess(plan: SimulatorPlan): ChildSpec {
  return {
    name: 'simulator',
    command: process.execPath,
    args: [`--diagnostic-dir=${plan.logsDir}`, join(plan.home, 'local/simulator/main.ts')],
    env: { ...plan.env, ...simulatorVariables(plan.secrets, plan) },
    logFile: plan.logFile,
    // It keeps nothing, so there is nothing to finish.
    graceMs: 1_000,
  }
}

export function simulatorReady(url: string, patience: Patience): Promise<void> {
  return until(async (signal) => {
    const health = await tryFetch(`${url}/health`, { signal })
    await health?.body?.cancel()
    return health?.ok ?? false
  }, patience)
}
