// The gateways of signalbox.config.ts with their settings and variables. Whether these are valid is
// decided in worker/payments/config.ts. Pure.

import type { SignalboxFile } from '../../worker/payments/define-config.ts'
import {
  driversOf,
  type GatewaySettings,
  settingsOf,
} from '../../worker/payments/gateways/registry.ts'
import type { Environment } from '../command.ts'

export interface ConfiguredGateway extends GatewaySettings {
  key: string
  driver: string
}

/** Leaves out gateways with an unknown driver. */
export function configuredGateways(file: SignalboxFile, env: Environment): ConfiguredGateway[] {
  const drivers = driversOf(file)
  const text = (variable: string) => env[variable]?.trim() || undefined
  return Object.entries(file.payments?.gateways ?? {}).flatMap(([key, entry]) => {
    const { driver: name, env_prefix, ...own } = entry
    const driver = drivers[name]
    if (!driver) return []
    const prefix = env_prefix ?? driver.envPrefix
    return { key, driver: name, ...settingsOf(driver, prefix, own, text) }
  })
}
