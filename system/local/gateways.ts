// The payment gateways of a local system: simulated ones, with secrets of this data folder, unless
// the environment has the credentials of real ones. Pure except for the digest.

import { join } from 'node:path'
import {
  configuredGateways,
  driversOf,
  variableOf,
} from '../../worker/payments/config/gateway-settings.ts'
import type { GatewayEntry, SignalboxFile } from '../../worker/payments/define-config.ts'
import type { Driver, Setting } from '../../worker/payments/gateways/gateway.ts'
import { DRIVERS, type DriverName } from '../../worker/payments/gateways/registry.ts'
import { withoutQuery } from '../../worker/payments/outbox/deliver.ts'
import { routePath, routePrefixOf } from '../../worker/payments/webhooks/route-names.ts'
import { isSecretName } from '../../worker/shared/secrets.ts'
import type { LocalGateways } from '../data/local-json.ts'
import { derived } from '../data/secret.ts'

const DRIVER_NAMES = Object.keys(DRIVERS) as DriverName[]

type RequiredOf<Settings> = {
  [Name in keyof Settings]: Settings[Name] extends { required: true } ? Name : never
}[keyof Settings]

/** The required settings of each driver. */
export type GatewaySecrets = {
  readonly [Name in DriverName]: Readonly<
    Record<RequiredOf<(typeof DRIVERS)[Name]['settings']>, string>
  >
}

/** Every simulated gateway has it: a name, and no secret. */
const CLIENT_ID = 'signalbox-local'

/**
 * The settings that an edge and a simulated gateway have in common. They are derived from the data
 * folder's secret, which outlives a restart, so they do too.
 */
export function gatewaySecrets(secret: string): GatewaySecrets {
  const secretFor = (driver: string, name: string, { testPrefix = '' }: { testPrefix?: string }) =>
    isSecretName(name)
      ? `${testPrefix}${derived(secret, `${driver} ${name}`).toString('base64url')}`
      : CLIENT_ID
  return Object.fromEntries(
    DRIVER_NAMES.map((driver) => [
      driver,
      Object.fromEntries(
        Object.entries<Setting>(DRIVERS[driver].settings).flatMap(([name, setting]) =>
          'required' in setting ? [[name, secretFor(driver, name, setting)]] : [],
        ),
      ),
    ]),
  ) as GatewaySecrets
}

/** Signs the events for PAYMENT_EVENTS_URL if no secret was given for them. */
export const eventsSecret = (secret: string): string =>
  `whsec_${derived(secret, 'events').toString('base64')}`

type Variables = Readonly<Record<string, string>>

/** A gateway of signalbox.config.ts. Its credentials alone decide what it is. */
export interface GatewayHere {
  key: string
  driver: string
  /** `missing`: a part of its credentials is not set, or all of them and nothing simulates it. */
  mode: 'real' | 'simulated' | 'missing'
  /** Its own address. */
  url: string | undefined
  /** The variables of credentials that are not set. */
  missing: readonly string[]
  /** Variables that are set, and have no effect without the missing ones. */
  unused: readonly string[]
}

export const gatewaysHere = (file: SignalboxFile, given: Variables): GatewayHere[] =>
  configuredGateways(file, given).map(({ key, driver, settings, variables, required, missing }) => {
    const own = file.payments?.gateways?.[key] ?? { driver }
    const isBare = missing.length === required.length && isOurs(own, file)
    const mode = missing.length === 0 ? 'real' : isBare ? 'simulated' : 'missing'
    // What the file itself holds cannot be left out: then the edge refuses to start.
    const isOfFile = required.some((name) => own[name] !== undefined)
    const idle = { real: [], simulated: ['base_url'], missing: isOfFile ? [] : required }[mode]
    const named = (names: readonly string[]) => names.map((name) => variables[name] ?? name)
    const unused = named(idle).filter((name) => given[name] !== undefined)
    return { key, driver, mode, url: settings.base_url, missing: named(missing), unused }
  })

/** The simulator knows the included drivers, and the variables with their usual names. */
const isOurs = ({ driver, env_prefix, base_url }: GatewayEntry, file: SignalboxFile): boolean => {
  const included: Driver | undefined = DRIVERS[driver as DriverName]
  const isIncluded = included !== undefined && driversOf(file)[driver] === included
  const prefix = env_prefix ?? included?.envPrefix
  return isIncluded && prefix === included.envPrefix && base_url === undefined
}

/** Where the simulator sends a driver's webhooks: to its key in signalbox.config.ts. */
export function simulatedCallback(
  edge: string,
  file: SignalboxFile,
  gateways: readonly GatewayHere[],
): (driver: string) => string {
  return (driver) => {
    const simulated = gateways.find((it) => it.driver === driver && it.mode === 'simulated')
    const key = simulated?.key ?? driver
    return `${edge}${routePath('payments.webhook', routePrefixOf(file), key)}`
  }
}

/** Variables of the edge for simulated gateways. */
export const simulatedGateways = (
  secrets: GatewaySecrets,
  simulator: string,
  drivers: readonly string[] = DRIVER_NAMES,
): Record<string, string> => ({
  PAYMENT_SIMULATOR_URL: simulator,
  ...Object.fromEntries(
    DRIVER_NAMES.filter((driver) => drivers.includes(driver)).flatMap((driver) =>
      Object.entries({ base_url: simulator, ...secrets[driver] }).map(([setting, value]) => [
        variableOf(DRIVERS[driver].envPrefix, setting),
        value,
      ]),
    ),
  ),
})

export interface SimulatorSettings {
  port: number
  /** For webhooks of a gateway that does not get its URL with each charge. */
  callbackOf: (driver: string) => string
  /** Where payers on other machines open its pages. */
  sharedUrl?: string | undefined
  /** Keeps what the simulator books. Absent: it is forgotten when it ends. */
  dataDir?: string
}

/** Variables of the simulator. */
export function simulatorVariables(
  secrets: GatewaySecrets,
  { port, callbackOf, sharedUrl, dataDir }: SimulatorSettings,
): Record<string, string> {
  const known = DRIVER_NAMES.flatMap((driver) =>
    Object.entries({ ...secrets[driver], callback_url: callbackOf(driver) }).map(
      ([setting, value]) => [variableOf(`SIMULATOR_${driver.toUpperCase()}_`, setting), value],
    ),
  )
  return {
    SIMULATOR_PORT: String(port),
    ...(dataDir !== undefined && { SIMULATOR_FILE: join(dataDir, 'simulator.jsonl') }),
    ...(sharedUrl !== undefined && { SIMULATOR_SHARED_URL: sharedUrl }),
    ...Object.fromEntries(known),
  }
}

/** What verifies its webhooks, so that others can sign some; else what is no secret. */
function tellingSetting(name: DriverName): string {
  const { verifiesWith, settings }: Driver = DRIVERS[name]
  return verifiesWith ?? Object.keys(settings).find((setting) => setting.endsWith('_id')) ?? ''
}

const variableIn = (driver: DriverName): string =>
  variableOf(DRIVERS[driver].envPrefix, tellingSetting(driver))

/** For local.json. `variables`: all variables of the Worker. */
export function describePayments(variables: Variables): {
  gateways: LocalGateways
  eventsUrl?: string
  eventsSecret?: string
  publicUrl?: string
} {
  const { PAYMENT_EVENTS_URL: eventsUrl, PAYMENT_EVENTS_SECRET: secrets = '' } = variables
  const { SIGNALBOX_PUBLIC_URL: publicUrl } = variables
  const [eventsSecret] = secrets.split(/\s+/).filter(Boolean)
  return {
    gateways: describeGateways(variables),
    ...(eventsUrl && { eventsUrl: withoutQuery(eventsUrl) }),
    ...(eventsSecret && { eventsSecret }),
    ...(publicUrl && { publicUrl }),
  }
}

export function describeGateways(variables: Variables): LocalGateways {
  const described = DRIVER_NAMES.flatMap((driver) => {
    // While it is changed there are several; the first one signs as well as any.
    const [value] = (variables[variableIn(driver)] ?? '').split(/\s+/).filter(Boolean)
    return value === undefined ? [] : [[driver, { [tellingSetting(driver)]: value }]]
  })
  return Object.fromEntries(described)
}

/** The variables of these gateways that `described` has. */
export const variablesOf = (
  described: LocalGateways,
  drivers: readonly string[],
): Record<string, string> =>
  Object.fromEntries(
    DRIVER_NAMES.flatMap((driver) => {
      const [value] = Object.values(described[driver] ?? {})
      return value === undefined || !drivers.includes(driver) ? [] : [[variableIn(driver), value]]
    }),
  )
