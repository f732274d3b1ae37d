// The doctor's check of signalbox.config.ts and the variables, with the function that the Worker
// reads them with. No I/O.

import { type PaymentsConfig, readPayments } from '../../worker/payments/config.ts'
import type { SignalboxFile } from '../../worker/payments/define-config.ts'
import { whsecProblem } from '../../worker/payments/outbox/standard-webhook.ts'
import { readAuth } from '../../worker/shared/auth-config.ts'
import { isLoopback } from '../../worker/shared/loopback.ts'
import type { Environment } from '../command.ts'
import { error, type Finding, ok, warn } from '../findings.ts'
import type { ConfiguredGateway } from './configured.ts'

export interface Checked {
  findings: Finding[]
  /** Only parts without an error may be used. */
  payments: PaymentsConfig | undefined
}

export function checkConfig(
  file: SignalboxFile,
  env: Environment,
  gateways: readonly ConfiguredGateway[],
): Checked {
  const wrong: string[] = []
  const found = (problems: readonly string[]) =>
    problems.map((problem) => error('config', `${problem}.`))
  // Only a host of one Node process has a database in a file; the doctor does not know the host.
  const payments = readPayments(env, file, wrong, { embeds: true })
  if (!payments) {
    const sentence = 'No gateway and no LIBSQL_URL is set, so this edge has no payments.'
    return { findings: [...found(wrong), error('config', sentence)], payments }
  }
  // Each problem is reported once, with its gateway.
  const reported = new Set<string>()
  const ofGateways = gateways.map((gateway) => {
    const problems = problemsOf(gateway, file, env).filter((problem) => wrong.includes(problem))
    for (const problem of problems) reported.add(problem)
    return checkOne(gateway, problems)
  })
  const others = wrong.filter((problem) => !reported.has(problem))
  return {
    payments,
    findings: [
      ...ofGateways,
      ...found(others),
      ...(payments.gateways.size === 0
        ? [error('config', 'No gateway can be used: no charge is possible.')]
        : []),
      ...checkEvents(env, payments),
      ...checkAccess(env),
      ...checkPublicUrl(payments, gateways),
    ],
  }
}

/** The Worker's problems with this gateway alone, without those that it has with no gateway. */
function problemsOf({ key }: ConfiguredGateway, file: SignalboxFile, env: Environment): string[] {
  const entry = file.payments?.gateways?.[key]
  const read = (gateways: NonNullable<SignalboxFile['payments']>['gateways'] & object) => {
    const wrong: string[] = []
    // With a database it reads all settings, even without a gateway.
    const withDatabase = { ...env, LIBSQL_URL: 'http://127.0.0.1' }
    readPayments(withDatabase, { payments: { ...file.payments, gateways } }, wrong)
    return wrong
  }
  const without = read({})
  return entry ? read({ [key]: entry }).filter((problem) => !without.includes(problem)) : []
}

function checkOne(gateway: ConfiguredGateway, problems: readonly string[]): Finding {
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
  if (problems.length > 0) {
    const bare = problems.map((problem) => problem.replace(`payments.gateways.${key}: `, ''))
    return error(key, `It cannot be used: ${bare.join('; ')}.`)
  }
  return ok(key, `It is configured (driver ${driver}).`)
}

function checkEvents(env: Environment, { endpoint }: PaymentsConfig): Finding[] {
  const secrets = env.PAYMENT_EVENTS_SECRET?.split(/\s+/).filter(Boolean) ?? []
  const isValid = secrets.every((secret) => whsecProblem(secret) === undefined)
  if (endpoint === undefined) {
    const set = ['PAYMENT_EVENTS_SECRET', 'PAYMENT_EVENTS_TYPES'].filter((name) => env[name])
    const sentence = `${set.join(', ')} is set and PAYMENT_EVENTS_URL is not: nothing is sent.`
    return set.length > 0 ? [warn('events', sentence)] : []
  }
  // What is wrong with them has been said with the rest of the configuration.
  if (secrets.length === 0 || !isValid || !URL.canParse(endpoint.url)) return []
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
  const sentence = `PAYMENT_PUBLIC_URL is this machine, so callbacks of ${keys} cannot reach it.`
  return remote.length > 0 ? [warn('config', sentence)] : []
}
