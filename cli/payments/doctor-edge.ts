// The doctor's check of the edge: each gateway's webhook route exists, refuses unsigned webhooks,
// and verifies with the same secret as here. The edge stores nothing that the doctor sends.

import { FORMATS } from '../../local/simulator/one-webhook.ts'
import type { SignalboxFile } from '../../worker/payments/define-config.ts'
import { routePath, routePrefixOf } from '../../worker/payments/webhooks/route-names.ts'
import { isPrivate } from '../../worker/shared/loopback.ts'
import { error, type Finding, ok, warn } from '../findings.ts'
import { type Answer, ask, firstLineOf } from './ask.ts'
import type { ConfiguredGateway } from './configured.ts'
import { DRIVER_TOOLS } from './drivers/registry.ts'

export interface EdgeChecked {
  findings: Finding[]
  /** How far its clock is ahead of ours. */
  skewMs: number | undefined
}

export interface EdgePlace {
  url: string
  token: string | undefined
}

export async function checkEdge(
  { url, token }: EdgePlace,
  file: SignalboxFile,
  gateways: readonly ConfiguredGateway[],
): Promise<EdgeChecked> {
  const { origin } = new URL(url)
  const answer = await ask(`${url}/api/payments/transactions?limit=1`, {
    headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
  })
  if (!answer.ok) {
    const findings = [error('edge', `${origin} does not answer: ${answer.why}.`)]
    return { findings, skewMs: undefined }
  }
  const exposed = isPrivate(new URL(url))
    ? []
    : [warn('edge', `${origin} is not https: others on the network can read callbacks and tokens.`)]
  const prefix = routePrefixOf(file)
  const routes = await Promise.all(
    gateways.map((gateway) =>
      checkRoute(`${url}${routePath('payments.webhook', prefix, gateway.key)}`, gateway),
    ),
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

async function checkRoute(url: string, gateway: ConfiguredGateway): Promise<Finding[]> {
  const { key } = gateway
  const headers = { 'content-type': 'application/json' }
  const answer = await ask(url, { method: 'POST', headers, body: '{}' })
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
  const callbacks = DRIVER_TOOLS[gateway.driver]?.callbacks
  const { signsWith = '', probe } = callbacks ?? {}
  const secret = gateway.settings[signsWith]
  if (!callbacks || secret === undefined || !probe) return []
  const { key, variables } = gateway
  const name = variables[signsWith] ?? signsWith
  const now = Date.now()
  const signed = { eventId: '', content: probe(now) }
  const { headers, body } = await FORMATS[callbacks.gateway].encode(signed, secret, now)
  const answer = await ask(url, { method: 'POST', headers, body })
  if (answer.ok && answer.status === 401) {
    return [error(key, `The edge verifies with another ${name} than this one.`)]
  }
  if (answer.ok && [200, 500].includes(answer.status)) {
    return [ok(key, `The edge verifies with the same ${name}.`)]
  }
  const what = answer.ok ? `it answers ${answer.status} ${firstLineOf(answer.text)}` : answer.why
  return [warn(key, `It is not known whether the edge has the same ${name}: ${what}.`)]
}
