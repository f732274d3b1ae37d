// The gateways of signalbox.config.ts with their settings and variables. Whether these are valid is
// decided in worker/payments/config.ts. Pure.

import type { SignalboxFile } from '../../worker/payments/define-config.ts'
import type { Driver, Setting } from '../../worker/payments/gateways/gateway.ts'
import { DRIVERS } from '../../worker/payments/gateways/registry.ts'
import type { Environment } from '../settings.ts'

export interface ConfiguredGateway {
  key: string
  driver: string
  /** By the setting's name, defaults included. */
  settings: Readonly<Record<string, string>>
  /** The variable of each setting, by its name. */
  variables: Readonly<Record<string, string>>
  /** Settings with a value of the file or the environment. */
  given: readonly string[]
  /** The required settings, and those of them without a value. */
  required: readonly string[]
  missing: readonly string[]
}

/** Leaves out gateways with an unknown driver. */
export function configuredGateways(file: SignalboxFile, env: Environment): ConfiguredGateway[] {
  return Object.entries(file.payments?.gateways ?? {}).flatMap(([key, entry]) => {
    const { driver: name, env_prefix, ...own } = entry
    const drivers: Readonly<Record<string, Driver>> = DRIVERS
    const driver = drivers[name]
    if (!driver) return []
    const prefix = env_prefix ?? driver.envPrefix
    const variables: Record<string, string> = {}
    const settings: Record<string, string> = {}
    const given: string[] = []
    for (const [setting, kind] of Object.entries<Setting>(driver.settings)) {
      const variable = `${prefix}${setting.toUpperCase()}`
      variables[setting] = variable
      const value = own[setting] ?? (env[variable]?.trim() || undefined)
      if (value !== undefined) given.push(setting)
      const effective = value ?? ('default' in kind ? kind.default : undefined)
      if (effective !== undefined) settings[setting] = effective
    }
    const required = Object.entries<Setting>(driver.settings)
      .filter(([, kind]) => 'required' in kind)
      .map(([setting]) => setting)
    const missing = required.filter((setting) => settings[setting] === undefined)
    return { key, driver: name, settings, variables, given, required, missing }
  })
}
