// The payment gateways of a local system: simulated ones, with secrets of this data folder, unless
// the environment names real ones. Pure except for the digest.

import { hkdfSync } from 'node:crypto'
import { DRIVERS, variableOf } from '../worker/payments/gateways/registry.ts'
import { withoutQuery } from '../worker/payments/outbox/endpoint.ts'

type DriverName = keyof typeof DRIVERS
const DRIVER_NAMES = Object.keys(DRIVERS) as DriverName[]

/** The setting that signs the webhooks. Those of fib are not signed, so its client id is here. */
const SIGNED_WITH = {
  redirect: 'api_key',
  fib: 'client_id',
  stripe: 'webhook_secret',
} as const satisfies Record<DriverName, string>

/** For local.json: of each gateway that is configured, the value of that setting. */
export type LocalGateways = {
  [Name in DriverName]?: { [Setting in (typeof SIGNED_WITH)[Name]]: string }
}

/** Of every simulated gateway: a name, and no secret. */
const CLIENT_ID = 'signalbox-local'

/**
 * The settings that an edge and a simulated gateway have in common. They are derived from the data
 * folder's secret, which outlives a restart, so they do too. None can be derived from another.
 */
export function gatewaySecrets(secret: string) {
  const derive = (name: string) => derived(secret, name).toString('base64url')
  return {
    redirect: {
      client_id: CLIENT_ID,
      client_secret: derive('redirect client_secret'),
      api_key: derive('redirect api_key'),
    },
    fib: { client_id: CLIENT_ID, client_secret: derive('fib client_secret') },
    stripe: {
      secret_key: `sk_test_${derive('stripe secret_key')}`,
      webhook_secret: `whsec_${derive('stripe webhook_secret')}`,
    },
  } satisfies Record<DriverName, Record<string, string>>
}

export type GatewaySecrets = ReturnType<typeof gatewaySecrets>

/** Signs the events for PAYMENT_EVENTS_URL if no secret was given for them. */
export const eventsSecret = (secret: string): string =>
  `whsec_${derived(secret, 'events').toString('base64')}`

const derived = (secret: string, name: string): Buffer =>
  Buffer.from(hkdfSync('sha256', secret, '', `signalbox local ${name}`, 32))

type Variables = Readonly<Record<string, string>>

/**
 * As soon as one variable of a gateway is in `given`, that gateway is left out: half a real one and
 * half a simulated one would be neither.
 */
export const simulatedNames = (given: Variables): DriverName[] =>
  DRIVER_NAMES.filter(
    (driver) => !Object.keys(given).some((name) => name.startsWith(DRIVERS[driver].envPrefix)),
  )

/** Variables of the edge for the simulated gateways. */
export const simulatedGateways = (
  given: Variables,
  secrets: GatewaySecrets,
  simulator: string,
): Record<string, string> =>
  Object.fromEntries(
    simulatedNames(given).flatMap((driver) =>
      Object.entries({ base_url: simulator, ...secrets[driver] }).map(([setting, value]) => [
        variableOf(DRIVERS[driver].envPrefix, setting),
        value,
      ]),
    ),
  )

/** Variables of the simulator. `callbackOf`: for webhooks; FIB gets its URL with each charge. */
export function simulatorVariables(
  secrets: GatewaySecrets,
  { port, callbackOf }: { port: number; callbackOf: (gateway: 'redirect' | 'stripe') => string },
): Record<string, string> {
  const known = Object.entries(secrets).flatMap(([driver, settings]) =>
    Object.entries(settings).map(([setting, value]) => [
      variableOf(`SIMULATOR_${driver.toUpperCase()}_`, setting),
      value,
    ]),
  )
  return {
    SIMULATOR_PORT: String(port),
    SIMULATOR_REDIRECT_CALLBACK_URL: callbackOf('redirect'),
    SIMULATOR_STRIPE_CALLBACK_URL: callbackOf('stripe'),
    ...Object.fromEntries(known),
  }
}

const variableIn = <Name extends DriverName>(driver: Name): string =>
  variableOf(DRIVERS[driver].envPrefix, SIGNED_WITH[driver])

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
    return value === undefined ? [] : [[driver, { [SIGNED_WITH[driver]]: value }]]
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
