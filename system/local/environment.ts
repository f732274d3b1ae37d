// Which variables each process of a local system gets: some of the user's environment and, for the
// edge, its URLs, its secrets and the simulated gateways. Pure.

import { ConfigError, readConfig } from '../../worker/config.ts'
import { configuredGateways } from '../../worker/payments/config/gateway-settings.ts'
import { gatewayPrefixes } from '../../worker/payments/config/payments-config.ts'
import type { SignalboxFile } from '../../worker/payments/define-config.ts'
import { DRIVERS } from '../../worker/payments/gateways/registry.ts'
import { isSecretName } from '../../worker/shared/secrets.ts'
import { VARIABLES } from '../../worker/shared/variables.ts'
import { StartError } from '../start-error.ts'
import {
  eventsSecret,
  type GatewayHere,
  gatewaySecrets,
  gatewaysHere,
  simulatedGateways,
} from './gateways.ts'
import { noticeSecret } from './notices.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** What any program may need on a machine; nothing of Signalbox. */
const MACHINE =
  /^(PATH|HOME|USER|TMPDIR|TZ|LANG|LC_\w+|XDG_\w+|SSL_CERT_\w+|DENO_DIR|NODE_COMPILE_CACHE)$/
const DRIVER_PREFIXES = Object.values(DRIVERS).map(({ envPrefix }) => envPrefix)
/** Settings of a sidecar. What it publishes, and where, is decided by the local system. */
const SIDECAR = /^SIGNALBOX_(?!TOKEN|EDGE$|REPO$|PUBLIC_URL$)\w+$/

const pick = (env: Environment, isIt: (name: string) => boolean): Record<string, string> => {
  const picked: Record<string, string> = {}
  for (const [name, value] of Object.entries(env)) {
    if (isIt(name) && value !== undefined && value !== '') picked[name] = value
  }
  return picked
}

export const machineVariables = (env: Environment) => pick(env, (name) => MACHINE.test(name))
export const sidecarVariables = (env: Environment) => pick(env, (name) => SIDECAR.test(name))

/**
 * `prefixes`: of gateways that are configured with a prefix of their own.
 * @forTests Each variable, without a process.
 */
export const workerVariables = (env: Environment, prefixes: readonly string[] = []) => {
  const all = [...DRIVER_PREFIXES, ...prefixes]
  return pick(
    env,
    (name) => VARIABLES[name]?.isPassedOn === true || all.some((prefix) => name.startsWith(prefix)),
  )
}

/** What each gateway of `file` is here. */
export const gatewaysIn = (env: Environment, file: SignalboxFile): GatewayHere[] =>
  gatewaysHere(file, workerVariables(env, gatewayPrefixes(file)))

export interface EdgeSurroundings {
  /** The data folder's. */
  secret: string
  /** URLs of the edge itself, the libSQL server and the gateway simulator. */
  edge: string
  database: string
  simulator: string
  databaseToken: string
}

/**
 * `env`: of the start. It may set the public URL and gateways, but not the addresses of processes.
 * `file`: signalbox.config.ts, which names the gateways.
 */
export function edgeVariables(
  env: Environment,
  file: SignalboxFile,
  { secret, edge, database, simulator, databaseToken }: EdgeSurroundings,
): Record<string, string> {
  const given = workerVariables(env, gatewayPrefixes(file))
  const gateways = gatewaysIn(env, file)
  const simulated = gateways.flatMap(({ mode, driver }) => (mode === 'simulated' ? driver : []))
  // Half a gateway is left out: the edge would refuse to start for it.
  for (const name of gateways.flatMap(({ unused }) => unused)) delete given[name]
  return {
    // Where gateways call back. With a tunnel to the internet one of them is set.
    PAYMENT_PUBLIC_URL: given.SIGNALBOX_PUBLIC_URL ?? edge,
    NOTICE_SECRET: noticeSecret(secret),
    ...(given.PAYMENT_EVENTS_URL !== undefined && { PAYMENT_EVENTS_SECRET: eventsSecret(secret) }),
    ...given,
    ...simulatedGateways(gatewaySecrets(secret), simulator, simulated),
    AUTH_SECRETS: secret,
    LIBSQL_URL: database,
    LIBSQL_AUTH_TOKEN: databaseToken,
  }
}

/**
 * Refuses here what the Worker would refuse at every request. `embeds`: its database may be a file.
 * Throws StartError.
 */
export function checkVariables(
  variables: Readonly<Record<string, string | undefined>>,
  file: SignalboxFile,
  { embeds = false } = {},
): void {
  try {
    const { auth } = readConfig(variables, file, { embeds })
    if (auth.problem !== undefined) throw new ConfigError(auth.problem)
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    throw new StartError('bad_configuration', error.message, { cause: error })
  }
}

/**
 * All but those of gateways and of options of the command line. Secrets may also be in a `_FILE`.
 * @forTests They are held to what the programs read.
 */
export const OWN_VARIABLES = [
  ...Object.keys(VARIABLES),
  'SIGNALBOX_URL',
  'SIGNALBOX_TOKEN',
  'SIGNALBOX_STOP_TIMEOUT',
]

const OWN_PREFIXES = ['AUTH_', 'LIBSQL_', 'METRICS_', 'NOTICE_', 'PAYMENT_', 'SIGNALBOX_']

/** For a local system, which signs by its own secret. `env` may also have it from a file. */
export const ignoredSecrets = (env: Environment): string[] =>
  env.AUTH_SECRETS
    ? [
        'AUTH_SECRETS is set and not used: this start signs by the secret of its data folder, ' +
          'whose tokens are in local.json.',
      ]
    : []

/**
 * A sentence for each variable that is set and probably misspelt: nothing reads it, and nothing
 * else would say so. Only what is near to one of ours, as other programs have such prefixes, too.
 * `ofOptions`: the variables of the command line's options.
 */
export function misspelt(
  env: Environment,
  file: SignalboxFile,
  ofOptions: ReadonlySet<string>,
): string[] {
  const ofGateways = configuredGateways(file, env).flatMap((it) => Object.values(it.variables))
  const plain = [...OWN_VARIABLES, ...ofOptions, ...ofGateways]
  const known = [...plain, ...plain.filter(isSecretName).map((name) => `${name}_FILE`)]
  const prefixes = [...OWN_PREFIXES, ...gatewayPrefixes(file)]
  return Object.entries(env).flatMap(([name, value]) => {
    const isOurs = prefixes.some((prefix) => name.startsWith(prefix))
    if (!value || !isOurs || known.includes(name)) return []
    const [nearest] = known
      .map((other) => ({ other, distance: distanceOf(name, other) }))
      .filter(({ other, distance }) => distance <= other.length / NEAR)
      .sort((a, b) => a.distance - b.distance)
    if (!nearest) return []
    return `${name} is set, and nothing here reads it: is ${nearest.other} meant?`
  })
}

/** One letter in four is another: STRIPE_SECRET is near to STRIPE_SECRET_KEY. */
const NEAR = 4

/** Edit distance without substitutions. */
function distanceOf(one: string, other: string): number {
  let above = new Array<number>(other.length + 1).fill(0)
  for (const letter of one) {
    const row = [0]
    for (const [at, it] of [...other].entries()) {
      const same = (above[at] ?? 0) + 1
      row.push(it === letter ? same : Math.max(row[at] ?? 0, above[at + 1] ?? 0))
    }
    above = row
  }
  return one.length + other.length - 2 * (above.at(-1) ?? 0)
}
