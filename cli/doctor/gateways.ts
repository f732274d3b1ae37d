// The doctor's checks of a gateway: its secrets, whether it answers and takes our credentials, its
// webhook route at an edge. Nothing is charged, and the edge stores nothing of what is sent.

import { simulationOf } from '../../simulator/one-webhook.ts'
import type { ConfiguredGateway } from '../../worker/payments/config/gateway-settings.ts'
import { oauthError } from '../../worker/payments/gateways/exchange.ts'
import type {
  AnyGateway,
  CredentialReads,
  GatewayRequest,
} from '../../worker/payments/gateways/gateway.ts'
import { PROBE } from '../../worker/payments/webhooks/receive.ts'
import { jsonIn } from '../../worker/shared/json.ts'
import { isLoopback, isSafeForSecrets } from '../../worker/shared/loopback.ts'
import { signingSecret } from '../payments/target.ts'
import { type Answer, ask, firstLineOf } from '../request.ts'
import { error, type Finding, ok, warn } from './findings.ts'

/** Swapped, of the wrong kind, too short, test keys in production. Names variables, no values. */
export function checkSecrets(gateway: ConfiguredGateway): Finding[] {
  const { key, drivenBy, missing, settings, variables } = gateway
  if (missing.length > 0) return []
  const remarks = drivenBy.examine?.(settings, (name) => variables[name] ?? name) ?? []
  const found = [...checkQuotes(gateway), ...remarks.map((remark) => ({ ...remark, about: key }))]
  if (found.length > 0) return found
  return [ok(key, 'Its secrets are of the right kind and length.')]
}

/** A pasted value or one of an env file may include its quotes. */
function checkQuotes({ key, settings, variables, required }: ConfiguredGateway): Finding[] {
  return required.flatMap((name) => {
    const value = settings[name] ?? ''
    const variable = variables[name] ?? name
    if (/^(["'`]).*\1$/.test(value)) {
      return error(key, `${variable} has quotes around it, which would be part of the value.`)
    }
    if (/^(<.*>|\.+|…|x{3,}|changeme|change-me|todo|your[-_ ].*)$/i.test(value)) {
      return error(key, `${variable} is a placeholder.`)
    }
    return []
  })
}

/** A sentence if some gateways use real money and others do not; else undefined. */
export function mixtureOf(gateways: readonly ConfiguredGateway[]): string | undefined {
  const usable = gateways.filter(({ missing }) => missing.length === 0)
  const modes = usable.map(({ key, drivenBy, settings }) => {
    // A simulator.
    const isHere = isLoopback(URL.parse(settings.base_url ?? '')?.hostname ?? '')
    return { key, isLive: isHere ? false : drivenBy.isLive?.(settings) }
  })
  const [live, test] = [true, false].map((mode) =>
    modes.flatMap(({ key, isLive }) => (isLive === mode ? key : [])).join(', '),
  )
  return live && test ? `${live} uses real money, but ${test} does not.` : undefined
}

export interface GatewayChecked {
  findings: Finding[]
  /** How far its clock is ahead of ours. */
  skewMs: number | undefined
}

export async function checkGateway(
  gateway: AnyGateway,
  configured: ConfiguredGateway,
): Promise<GatewayChecked> {
  const { key } = gateway
  const base = configured.settings.base_url ?? ''
  if (!URL.canParse(base)) return { findings: [], skewMs: undefined }
  const { origin } = new URL(base)
  const answer = await ask(base)
  if (!answer.ok) {
    return {
      findings: [error(key, `${origin} does not answer: ${answer.why}.`)],
      skewMs: undefined,
    }
  }
  const { status, skewMs } = answer
  if (status >= 500) {
    return { findings: [warn(key, `${origin} answers with ${status}: it is failing.`)], skewMs }
  }
  const problem = gateway.refundProblem?.()
  const findings = [
    ok(key, `${origin} answers.`),
    ...(await checkCredentials(gateway, configured)),
    ...(problem === undefined ? [] : [warn(key, problem)]),
  ]
  return { findings, skewMs }
}

async function checkCredentials(
  gateway: AnyGateway,
  configured: ConfiguredGateway,
): Promise<Finding[]> {
  const tokenRequest = gateway.tokenRequest?.()
  if (tokenRequest) return [await checkGatewayToken(tokenRequest, configured)]
  const reads = configured.drivenBy.reads?.(configured.settings)
  return reads ? [await checkReads(reads, configured)] : []
}

/** The first one shows whether the credentials are accepted. */
async function checkReads(
  { name, setting, requests }: CredentialReads,
  { key, variables }: ConfiguredGateway,
): Promise<Finding> {
  const variable = variables[setting] ?? setting
  const forbidden: string[] = []
  for (const [at, [what, { url, headers }]] of Object.entries(requests).entries()) {
    const answer = await ask(url, { headers })
    if (answer.ok && answer.status === 403) forbidden.push(what)
    if (at > 0) continue
    if (!answer.ok) return error(key, `${name} does not answer to ${variable}: ${answer.why}.`)
    if (answer.status === 401) return error(key, `${name} refuses ${variable} (401).`)
    if (![200, 403].includes(answer.status)) {
      return warn(key, `This may not be ${name}: it answers ${answer.status}.`)
    }
  }
  if (forbidden.length === 0) return ok(key, `${name} accepts ${variable}.`)
  return error(key, `${variable} is restricted: it cannot read ${forbidden.join(', ')} (403).`)
}

async function checkGatewayToken(
  request: GatewayRequest,
  { key, settings, variables }: ConfiguredGateway,
): Promise<Finding> {
  const answer = await askForToken(request)
  const clientSecret = variables.client_secret ?? 'client_secret'
  const names = `${variables.client_id ?? 'client_id'} and ${clientSecret}`
  if (isGranted(answer)) {
    const lacking = notGranted(answer, request.form?.scope)
    if (lacking.length === 0) return ok(key, `It gives an access token for ${names}.`)
    const scope = variables.scope ?? 'scope'
    return warn(key, `It gives an access token without ${lacking.join(' ')}, which ${scope} has.`)
  }
  if (!answer.ok) return error(key, `Its token endpoint does not answer: ${answer.why}.`)
  if (answer.status >= 500) {
    return warn(key, `Its token endpoint answers ${answer.status}: it is failing.`)
  }
  if (answer.status === 404) {
    const where = variables.base_url ?? 'base_url'
    return error(key, `It has no token endpoint (404): is ${where} right?`)
  }
  if (answer.status < 400) {
    return error(key, `Its token endpoint answers ${answer.status} without a token.`)
  }
  const code = oauthErrorIn(answer.text)
  const refusal = [answer.status, code].filter((part) => part !== undefined).join(' ')
  if (code === 'invalid_scope') {
    const scope = variables.scope ?? 'scope'
    return error(key, `It gives no token for the scope of ${scope} (${refusal}).`)
  }
  // Only over a private connection: the gateway knows the key that signs callbacks, others must
  // not.
  const api_key = signingSecret(settings, 'api_key')
  if (api_key !== undefined && isSafeForSecrets(new URL(request.url))) {
    const form = { ...request.form, client_secret: api_key }
    if (isGranted(await askForToken({ ...request, form }))) {
      const apiKey = variables.api_key ?? 'api_key'
      return error(key, `${clientSecret} and ${apiKey} are swapped: it accepts the latter.`)
    }
  }
  return error(key, `It refuses ${names} (${refusal}).`)
}

const oauthErrorIn = (text: string): string | undefined =>
  oauthError.safeParse(jsonIn(text)).data?.error

const askForToken = ({ url, form }: GatewayRequest): Promise<Answer> =>
  ask(url, {
    method: 'POST',
    headers: { accept: 'application/json' },
    body: new URLSearchParams(form),
  })

function isGranted(answer: Answer): boolean {
  if (!answer.ok || answer.status !== 200) return false
  // The token itself is not read.
  return /"access_token"\s*:\s*"[^"]/.test(answer.text)
}

/** What the answer's scope lacks of the requested one; without a scope, all of it is granted. */
function notGranted(answer: Answer, requested = ''): string[] {
  const [, scope] = (answer.ok && /"scope"\s*:\s*"([^"]*)"/.exec(answer.text)) || []
  if (scope === undefined) return []
  const granted = scope.split(/\s+/)
  return requested.split(/\s+/).filter((each) => each !== '' && !granted.includes(each))
}

/** An unsigned webhook. */
const UNSIGNED = {
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: PROBE,
} as const

/** Whether the edge has the gateway of this webhook route. */
export async function isKnown(url: string): Promise<boolean> {
  const answer = await ask(url, UNSIGNED)
  return answer.ok && answer.status !== 404
}

/** Its webhook route at an edge exists, refuses unsigned webhooks, and has the same secret. */
export async function checkRoute(url: string, gateway: ConfiguredGateway): Promise<Finding[]> {
  const { key } = gateway
  const answer = await ask(url, UNSIGNED)
  const { pathname } = new URL(url)
  if (!answer.ok) return [error(key, `The edge does not answer at ${pathname}: ${answer.why}.`)]
  const body = firstLineOf(answer.text)
  if (answer.status === 401 && body === 'invalid') {
    const refused = ok(key, 'The edge knows it and refuses an unsigned webhook.')
    return [refused, ...(await checkSecret(url, gateway))]
  }
  if (answer.status === 404) {
    const why = body === 'unknown' ? 'its variables are not set there' : 'there is no such route'
    return [error(key, `The edge does not know it at ${pathname} (404): ${why}.`)]
  }
  if (answer.status === 200) {
    return [error(key, `The edge accepts an unsigned webhook (200 ${body}).`)]
  }
  return [error(key, `The edge answers an unsigned webhook with ${answer.status} ${body}.`)]
}

/** Sends a genuine callback that changes nothing. An edge with another secret refuses it. */
async function checkSecret(url: string, gateway: ConfiguredGateway): Promise<Finding[]> {
  const { webhooks, simulate } = simulationOf(gateway.driver) ?? {}
  const { signsWith = '' } = webhooks ?? {}
  const secret = signingSecret(gateway.settings, signsWith)
  if (!webhooks || secret === undefined || !simulate?.probe) return []
  const { key, variables } = gateway
  const name = variables[signsWith] ?? signsWith
  const now = Date.now()
  const { headers, body } = await webhooks.encode(
    { eventId: '', content: simulate.probe(now) },
    secret,
    now,
  )
  const answer = await ask(url, { method: 'POST', headers, body })
  if (answer.ok && answer.status === 401) {
    return [error(key, `The edge verifies with another ${name} than this one.`)]
  }
  if (answer.ok && answer.status === 200) {
    return [ok(key, `The edge verifies with the same ${name}.`)]
  }
  const what = answer.ok ? `it answers ${answer.status} ${firstLineOf(answer.text)}` : answer.why
  return [warn(key, `It is not known whether the edge has the same ${name}: ${what}.`)]
}
