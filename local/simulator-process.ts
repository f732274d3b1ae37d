// The gateway simulator as a process of the system.

import { join } from 'node:path'
import type { ChildSpec } from './child.ts'
import { CLIENT_ID, type GatewaySecrets } from './gateways.ts'
import { LOOPBACK } from './ports.ts'
import { type Patience, tryFetch, until } from './until.ts'

export interface SimulatorPlan {
  home: string
  port: number
  /** Where the redirect gateway calls back; others are told with each charge. */
  callback: string
  secrets: GatewaySecrets
  /** Of the data folder: reports of a crash, and compiled sources. */
  logsDir: string
  cacheDir: string
  env: Readonly<Record<string, string>>
  logFile: string
}

export const simulatorUrl = (port: number): string => `http://${LOOPBACK}:${port}`

export function simulatorProcess(plan: SimulatorPlan): ChildSpec {
  const { redirect, fib } = plan.secrets
  return {
    name: 'simulator',
    command: process.execPath,
    args: [`--diagnostic-dir=${plan.logsDir}`, join(plan.home, 'local/simulator/main.ts')],
    env: {
      ...plan.env,
      SIMULATOR_PORT: String(plan.port),
      SIMULATOR_REDIRECT_CALLBACK_URL: plan.callback,
      SIMULATOR_REDIRECT_CLIENT_ID: CLIENT_ID,
      SIMULATOR_REDIRECT_CLIENT_SECRET: redirect.clientSecret,
      SIMULATOR_REDIRECT_API_KEY: redirect.apiKey,
      SIMULATOR_FIB_CLIENT_ID: CLIENT_ID,
      SIMULATOR_FIB_CLIENT_SECRET: fib.clientSecret,
      NODE_COMPILE_CACHE: join(plan.cacheDir, 'compiled'),
    },
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
