// Where a payments command looks: variables, edge and token from a running system, from a file or
// from the environment; and their secrets, to hide them.

import { edgeVariables } from '../../system/local/environment.ts'
import { describeGateways, variablesOf } from '../../system/local/gateways.ts'
import type { ConfiguredGateway } from '../../worker/payments/config/gateway-settings.ts'
import { gatewayPrefixes } from '../../worker/payments/config/payments-config.ts'
import type { SignalboxFile } from '../../worker/payments/define-config.ts'
import { hideTokens, isSecretName, REDACTED } from '../../worker/shared/secrets.ts'
import { readToken, tokenSource } from '../access-token.ts'
import { type Context, type Environment, loadConfig } from '../context.ts'
import { variablesIn } from '../environment.ts'
import { addressOf, askEdge, type EdgeAddress, failureIn } from '../request.ts'
import {
  type LocalStart,
  NO_DATA,
  type RunningStart,
  runningStart,
  systemIn,
} from '../running-system.ts'
import type { OptionsOf } from '../setting.ts'
import { EDGE, ENV, NO_CONFIG, RUNNING, TOKEN_FILE } from '../settings.ts'
import { noticeTo } from '../terminal.ts'
import { type Input, missing, refuseNeedless } from '../usage.ts'

/** Which system is looked at. */
export const PAYMENTS_TARGET = [EDGE, ...RUNNING, NO_CONFIG, ENV, TOKEN_FILE] as const

export type PaymentsOptions = OptionsOf<typeof PAYMENTS_TARGET>

export interface PaymentsTarget {
  /** signalbox.config.ts */
  file: SignalboxFile
  /** The edge's variables. */
  env: Environment
  /** Without a slash at its end. */
  edge: string | undefined
  /** For the edge. */
  token: string | undefined
  /** It is that of a running system, which may have variables that this shell has not. */
  isRunning: boolean
  /** Gateways whose variables differ between the running system and this shell. */
  differing: readonly string[]
}

/** `here`: used where no other is named. Throws UsageError for files that cannot be read. */
export async function readTarget(
  input: Input<PaymentsOptions>,
  context: Context,
  here?: RunningStart,
): Promise<PaymentsTarget> {
  const { options } = input
  const { env } = context
  const file = await loadConfig(options, context)
  const prefixes = gatewayPrefixes(file)
  const start = here ?? (await runningStart(input, env))
  if (start?.served) {
    const { url: edge, tokens } = start.local
    const own = await variablesIn(undefined, start.served.variables, prefixes)
    return { file, env: own, edge, token: tokens.payments, isRunning: true, differing: [] }
  }
  if (start) return systemOf(start, file, await variablesIn(undefined, env, prefixes))
  refuseNeedless(input, ['--trust-data'], NO_DATA)
  if (!options.edge) refuseNeedless(input, ['--token-file'], 'without --edge')
  const token = tokenSource(input, env)
  return {
    file,
    env: await variablesIn(options.env, env, prefixes),
    edge: options.edge && addressOf(options.edge),
    token: token && (await readToken(token)),
    isRunning: false,
    differing: [],
  }
}

export interface PaymentsEdge extends EdgeAddress {
  token: string
  /** Undefined: it was named, and is not of a running system here. */
  here: RunningStart | undefined
}

/**
 * The edge that is named, else that of the system which runs here. `needed`: what else has to be
 * given, by its name in the sentence that asks for all of it. Throws UsageError.
 */
export async function edgeOf(
  input: Input<PaymentsOptions>,
  context: Context,
  needed: Readonly<Record<string, unknown>> = {},
): Promise<PaymentsEdge> {
  const { env, cwd } = context
  const here = (await runningStart(input, env)) ?? (await systemIn(cwd, input, env))
  const { edge: url, token } = await readTarget(input, context, here)
  if (url && token && !Object.values(needed).includes(undefined)) return { url, token, here }
  throw missing({
    ...needed,
    [`${EDGE.called} or --data DIR`]: url,
    '--token-file FILE, which holds the access token': token,
  })
}

/**
 * Has the edge do something, and prints what came of it; resolves with the exit code. `sentenceOf`
 * throws for an answer that is none.
 */
export async function order(
  { io }: Pick<Context, 'io'>,
  edge: EdgeAddress,
  route: string,
  sentenceOf: (answer: unknown) => string,
  { timeoutMs }: { timeoutMs?: number } = {},
): Promise<number> {
  const asked = { method: 'POST', ...(timeoutMs !== undefined && { timeoutMs }) } as const
  const read = (answer: unknown) => ({ sentence: sentenceOf(answer) })
  const done = await askEdge(edge, route, asked, read).catch(failureIn)
  if ('failure' in done) noticeTo(io)(done.failure)
  else io.out(`${done.sentence}\n`)
  return 'failure' in done ? 1 : 0
}

/** `env`: the variables of this shell; those of the running system may differ. */
function systemOf(
  { local, secret }: LocalStart,
  file: SignalboxFile,
  env: Environment,
): PaymentsTarget {
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
  return { file, env: variables, edge, token: tokens.payments, isRunning: true, differing }
}

/** While a secret is changed there are several; the first one signs as well as any. */
export const signingSecret = (
  settings: ConfiguredGateway['settings'],
  name: string,
): string | undefined => settings[name]?.split(/\s+/)[0]

/** Shorter values occur in ordinary text, and hiding them there would reveal them. */
const MIN_CHARS = 6

/** `gateways`: some of their secrets may be in signalbox.config.ts. */
export function secretValues(
  env: Environment,
  gateways: readonly Pick<ConfiguredGateway, 'settings'>[] = [],
): string[] {
  const values = [env, ...gateways.map(({ settings }): Environment => settings)]
    .flatMap((named) => Object.entries(named))
    .filter(([name]) => isSecretName(name))
    .flatMap(([, value = '']) => value.split(/\s+/))
    .filter((value) => value.length >= MIN_CHARS)
  // The longest first, since one may be the beginning of another.
  return [...new Set(values)].sort((a, b) => b.length - a.length)
}

/** Hides these secrets and everything that looks like a token. */
export const hiding =
  (secrets: readonly string[]) =>
  (text: string): string =>
    secrets.reduce((result, secret) => result.replaceAll(secret, REDACTED), hideTokens(text))
