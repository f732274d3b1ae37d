// The doctor's check of one gateway over the network: it answers and accepts our credentials.
// Nothing is charged.

import type { AnyGateway, GatewayRequest } from '../../worker/payments/gateways/gateway.ts'
import { isPrivate } from '../../worker/shared/loopback.ts'
import { error, type Finding, ok, warn } from '../findings.ts'
import { type Answer, ask } from './ask.ts'
import type { ConfiguredGateway } from './configured.ts'
import { DRIVER_TOOLS } from './drivers/registry.ts'

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
  if (tokenRequest) return [await checkToken(tokenRequest, configured)]
  return (await DRIVER_TOOLS[configured.driver]?.checkCredentials?.(configured)) ?? []
}

async function checkToken(
  request: GatewayRequest,
  { key, settings, variables }: ConfiguredGateway,
): Promise<Finding> {
  const answer = await askForToken(request)
  const clientSecret = variables.client_secret ?? 'client_secret'
  const names = `${variables.client_id ?? 'client_id'} and ${clientSecret}`
  if (isGranted(answer)) return ok(key, `It gives an access token for ${names}.`)
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
  // Only over a private connection: the gateway knows the key that signs callbacks, others must
  // not.
  const { api_key } = settings
  if (api_key !== undefined && isPrivate(new URL(request.url))) {
    const form = { ...request.form, client_secret: api_key }
    if (isGranted(await askForToken({ ...request, form }))) {
      const apiKey = variables.api_key ?? 'api_key'
      return error(key, `${clientSecret} and ${apiKey} are swapped: it accepts the latter.`)
    }
  }
  return error(key, `It refuses ${names} (${answer.status}).`)
}

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
