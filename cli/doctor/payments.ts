// The doctor's checks of payments: one a line, each with its reason. It reads the configuration as
// the Worker does, and stores nothing.

import {
  type ConfiguredGateway,
  configuredGateways,
} from '../../worker/payments/config/gateway-settings.ts'
import {
  type Fault,
  type PaymentsConfig,
  readPayments,
} from '../../worker/payments/config/payments-config.ts'
import type { SignalboxFile } from '../../worker/payments/define-config.ts'
import { routePath, routePrefixOf } from '../../worker/payments/webhooks/route-names.ts'
import { readAuth } from '../../worker/shared/auth-config.ts'
import { isLoopback, isSafeForSecrets } from '../../worker/shared/loopback.ts'
import { readWhsecs } from '../../worker/shared/standard-webhook.ts'
import type { Context, Environment } from '../context.ts'
import { hiding, type PaymentsOptions, readTarget, secretValues } from '../payments/target.ts'
import { type Answer, ask } from '../request.ts'
import type { RunningStart } from '../running-system.ts'
import type { Input } from '../usage.ts'
import { checkClocks } from './clock.ts'
import { checkDatabase } from './database.ts'
import { checkEnvironment, checkHealth } from './edge.ts'
import { error, type Finding, NO_EDGE, ok, warn } from './findings.ts'
import { checkGateway, checkRoute, checkSecrets, isKnown, mixtureOf } from './gateways.ts'

const DEFAULT_TOLERANCE_MS = 300_000
const NONE: ReadonlySet<string> = new Set()

/** `signalbox doctor --payments` prints these too. No finding holds a secret. */
export async function checkPayments(
  input: Input<PaymentsOptions>,
  context: Context,
  running?: RunningStart,
): Promise<Finding[]> {
  const target = await readTarget(input, context, running)
  const { file, env, edge: url, token, differing } = target
  const gateways = configuredGateways(file, env)
  const known = target.isRunning && url !== undefined ? await keysAt(url, file, gateways) : NONE
  const { findings, payments } = checkConfig(file, env, gateways, known)
  const used = gateways.filter(({ required, missing }) => missing.length < required.length)
  const mixture = mixtureOf(gateways)
  const here = [
    ...findings,
    ...used.flatMap(checkSecrets),
    ...checkEnvironment(env, file),
    ...(mixture === undefined ? [] : [warn('config', mixture)]),
    ...differing.map((name) =>
      warn('config', `The variables of ${name} differ between the running system and this shell.`),
    ),
  ]

  const [database, checked, edge, health] = await Promise.all([
    payments ? checkDatabase(payments, Date.now()) : [],
    Promise.all(
      [...(payments?.gateways.values() ?? [])].map(async (gateway) => {
        const configured = gateways.find(({ key }) => key === gateway.key)
        return configured && { key: gateway.key, ...(await checkGateway(gateway, configured)) }
      }),
    ),
    url === undefined ? undefined : checkPaymentsEdge(url, token, file, used),
    url === undefined ? [] : checkHealth(new URL(url)),
  ])
  const reached = checked.filter((it) => it !== undefined)
  const skews = reached.flatMap(({ key, skewMs }): [string, number][] =>
    skewMs === undefined ? [] : [[key, skewMs]],
  )
  const clocks = { edge: edge?.skewMs, gateways: new Map(skews) }
  const there = [
    ...database,
    ...reached.flatMap((it) => it.findings),
    ...health,
    ...(edge?.findings ?? [warn('edge', NO_EDGE)]),
    ...checkClocks(clocks, payments?.toleranceMs || DEFAULT_TOLERANCE_MS),
  ]
  const hide = hiding(secretValues(env, gateways))
  return [...here, ...there].map(({ sentence, ...finding }) => ({
    ...finding,
    sentence: hide(sentence),
  }))
}

/** The gateways that a running system has, of those that cannot be used with what is set here. */
async function keysAt(
  url: string,
  file: SignalboxFile,
  gateways: readonly ConfiguredGateway[],
): Promise<ReadonlySet<string>> {
  const missing = gateways.filter((gateway) => gateway.missing.length > 0)
  const known = missing.map(async ({ key }) =>
    (await isKnown(routeOf(url, file, key))) ? [key] : [],
  )
  return new Set((await Promise.all(known)).flat())
}

const routeOf = (url: string, file: SignalboxFile, key: string): string =>
  `${url}${routePath('payments.webhook', routePrefixOf(file), key)}`

/** Only parts of `payments` without an error may be used. `known`: see `keysAt`. */
function checkConfig(
  file: SignalboxFile,
  env: Environment,
  gateways: readonly ConfiguredGateway[],
  known: ReadonlySet<string>,
): { findings: Finding[]; payments: PaymentsConfig | undefined } {
  const found = (some: readonly Fault[]) => some.map(({ clause }) => error('config', `${clause}.`))
  // Only a host of one Node process has a database in a file; the doctor does not know the host.
  const { faults, payments } = readPayments(env, file, { embeds: true })
  if (!payments) {
    const sentence = 'No gateway and no LIBSQL_URL is set, so this edge has no payments.'
    return { findings: [...found(faults), error('config', sentence)], payments }
  }
  // Each fault is reported once, with its gateway.
  const ofGateways = gateways.map((gateway) => {
    const own = faults.filter((fault) => fault.gateway === gateway.key)
    return known.has(gateway.key) ? uncheckedOne(gateway) : checkOne(gateway, own)
  })
  const others = faults.filter(({ gateway }) => gateways.every(({ key }) => key !== gateway))
  return {
    payments,
    findings: [
      ...ofGateways,
      ...found(others),
      ...(payments.gateways.size === 0 && known.size === 0
        ? [error('config', 'No gateway can be used: no charge is possible.')]
        : []),
      ...checkEvents(env, payments),
      ...checkAccess(env),
      ...checkPublicUrl(payments, gateways),
    ],
  }
}

function uncheckedOne({ key, missing, variables }: ConfiguredGateway): Finding {
  const names = missing.map((name) => variables[name] ?? name).join(', ')
  const why = `its settings are not checked, since ${names} is not set in this shell`
  return warn(key, `The running system has it; ${why}.`)
}

function checkOne(gateway: ConfiguredGateway, faults: readonly Fault[]): Finding {
  const { key, driver, given, required, missing, variables } = gateway
  const names = (settings: readonly string[]) =>
    settings.map((name) => variables[name] ?? name).join(', ')
  const present = required.filter((name) => !missing.includes(name))
  if (required.length > 0 && present.length === 0) {
    const sentence = `It is left out: none of ${names(required)} is set`
    if (given.length === 0) return ok(key, `${sentence}.`)
    return warn(key, `${sentence}, though ${names(given)} is.`)
  }
  if (missing.length > 0) {
    const sentence = `It is incomplete: ${names(present)} is set, ${names(missing)} is missing.`
    return error(key, sentence)
  }
  if (faults.length > 0) {
    const bare = faults.map(({ clause }) => clause.replace(`payments.gateways.${key}: `, ''))
    return error(key, `It cannot be used: ${bare.join('; ')}.`)
  }
  return ok(key, `It is configured (driver ${driver}).`)
}

function checkEvents(env: Environment, { endpoint }: PaymentsConfig): Finding[] {
  const { secrets, problem } = readWhsecs(env.PAYMENT_EVENTS_SECRET)
  if (endpoint === undefined) {
    const set = ['PAYMENT_EVENTS_SECRET', 'PAYMENT_EVENTS_TYPES'].filter((name) => env[name])
    const sentence = `${set.join(', ')} is set and PAYMENT_EVENTS_URL is not: nothing is sent.`
    return set.length > 0 ? [warn('events', sentence)] : []
  }
  // What is wrong with them is a finding about the configuration.
  if (secrets.length === 0 || problem !== undefined || !URL.canParse(endpoint.url)) return []
  const { origin } = new URL(endpoint.url)
  const only = endpoint.types ? ` Only ${[...endpoint.types].join(', ')}.` : ''
  const sentence = `They are sent to ${origin}, signed with ${secrets.length} secret(s).${only}`
  return [ok('events', sentence)]
}

function checkAccess(env: Environment): Finding[] {
  const { problem, secrets, issuer } = readAuth(env)
  if (problem !== undefined) {
    return [error('config', `${problem} Until then charges are answered with 503.`)]
  }
  if (secrets.length > 0 || issuer) return []
  const sentence = 'Neither AUTH_SECRETS nor AUTH_JWKS_URL is set: charges are answered with 503.'
  return [warn('config', sentence)]
}

function checkPublicUrl({ publicUrl }: PaymentsConfig, gateways: readonly ConfiguredGateway[]) {
  if (publicUrl === undefined || !URL.canParse(publicUrl)) return []
  const { hostname } = new URL(publicUrl)
  if (!isLoopback(hostname)) return []
  const remote = gateways.filter(({ settings, missing }) => {
    const base = settings.base_url ?? ''
    return missing.length === 0 && URL.canParse(base) && !isLoopback(new URL(base).hostname)
  })
  const keys = remote.map(({ key }) => key).join(', ')
  const where = `Callbacks begin with ${publicUrl}, which is this machine`
  const sentence = `${where}: ${keys} cannot reach it. Set PAYMENT_PUBLIC_URL.`
  return remote.length > 0 ? [warn('config', sentence)] : []
}

/** That it has payments, and each gateway's webhook route. `skewMs`: its clock is ahead of ours. */
async function checkPaymentsEdge(
  url: string,
  token: string | undefined,
  file: SignalboxFile,
  gateways: readonly ConfiguredGateway[],
): Promise<{ findings: Finding[]; skewMs: number | undefined }> {
  const { origin } = new URL(url)
  const answer = await ask(`${url}/api/payments/transactions?limit=1`, {
    headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
  })
  if (!answer.ok) {
    const findings = [error('edge', `${origin} does not answer: ${answer.why}.`)]
    return { findings, skewMs: undefined }
  }
  const exposed = isSafeForSecrets(new URL(url))
    ? []
    : [warn('edge', `${origin} is not https: others on the network can read callbacks and tokens.`)]
  const routes = await Promise.all(
    gateways.map((gateway) => checkRoute(routeOf(url, file, gateway.key), gateway)),
  )
  const findings = [...exposed, checkApi(origin, answer, token !== undefined), ...routes.flat()]
  return { findings, skewMs: answer.skewMs }
}

function checkApi(origin: string, answer: Answer & { ok: true }, hasToken: boolean): Finding {
  const { status } = answer
  const code = /"code"\s*:\s*"(\w+)"/.exec(answer.text)?.[1]
  switch (status) {
    case 200:
      return ok('edge', `${origin} answers and accepts the token.`)
    case 401:
      if (hasToken) return error('edge', `${origin} refuses the token.`)
      return ok('edge', `${origin} answers; its payments were not read, since no token was given.`)
    case 403:
      return error('edge', `The token for ${origin} lacks the scope payments:read.`)
    case 404:
      return error(
        'edge',
        `${origin} has no payments: it is not Signalbox, or has no gateway configured.`,
      )
    default:
      return error('edge', `${origin} answers ${status}${code === undefined ? '' : ` (${code})`}.`)
  }
}
