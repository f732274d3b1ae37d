// The settings of the gateways, from signalbox.config.ts and the environment. Whether they are
// right is not decided here.

import type { GatewayEntry, SignalboxFile } from '../define-config.ts'
import type { Driver, Setting, Settings } from '../gateways/gateway.ts'
import { DRIVERS } from '../gateways/registry.ts'

/** With those of the file. One of the same name takes the place of ours. */
export const driversOf = ({ payments }: SignalboxFile): Readonly<Record<string, Driver>> => ({
  ...DRIVERS,
  ...payments?.drivers,
})

/** By their keys. What is no object is left out: `readPayments` reports it. */
export const gatewaysOf = ({ payments }: SignalboxFile): [key: string, entry: GatewayEntry][] =>
  Object.entries(payments?.gateways ?? {}).filter(([, entry]) => entry instanceof Object)

export interface GatewaySettings {
  /** By the setting's name, defaults included. */
  settings: Settings
  /** The variable of each setting, by its name. */
  variables: Readonly<Record<string, string>>
  /** Settings with a value of the file or the environment. */
  given: readonly string[]
  /** The required settings, and those of them without a value. */
  required: readonly string[]
  missing: readonly string[]
}

/** Environment variables are a prefix and a setting's name in capitals. */
export const variableOf = (prefix: string, setting: string): string =>
  `${prefix}${setting.toUpperCase()}`

/**
 * `own`: settings of the file, which count more than variables. `text`: the value of a variable,
 * undefined if it is not set or empty.
 */
export function settingsOf(
  driver: Driver,
  prefix: string,
  own: Readonly<Record<string, string | undefined>>,
  text: (variable: string) => string | undefined,
): GatewaySettings {
  const variables: Record<string, string> = {}
  const settings: Record<string, string> = {}
  const given: string[] = []
  const required: string[] = []
  for (const [name, setting] of Object.entries<Setting>(driver.settings)) {
    const variable = variableOf(prefix, name)
    variables[name] = variable
    const value = own[name] ?? text(variable)
    if (value !== undefined) given.push(name)
    if ('required' in setting) required.push(name)
    const effective = value ?? ('default' in setting ? setting.default : undefined)
    if (effective !== undefined) settings[name] = effective
  }
  const missing = required.filter((name) => settings[name] === undefined)
  return { settings, variables, given, required, missing }
}

export interface ConfiguredGateway extends GatewaySettings {
  key: string
  /** Its name in signalbox.config.ts. */
  driver: string
  drivenBy: Driver
}

/** Those of the file, whether they can be used or not. Leaves out those with an unknown driver. */
export function configuredGateways(
  file: SignalboxFile,
  env: Readonly<Record<string, string | undefined>>,
): ConfiguredGateway[] {
  const drivers = driversOf(file)
  const text = (variable: string) => env[variable]?.trim() || undefined
  return gatewaysOf(file).flatMap(([key, entry]) => {
    const { driver: name, env_prefix, ...own } = entry
    const driver = drivers[name]
    if (!driver) return []
    const prefix = env_prefix ?? driver.envPrefix
    return { key, driver: name, drivenBy: driver, ...settingsOf(driver, prefix, own, text) }
  })
}
