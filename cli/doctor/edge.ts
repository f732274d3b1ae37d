// The doctor's checks of the edge and the access token.

import { decodeJwt, type JWTPayload } from 'jose'
import type { Notices } from '../../libraries/api/types.ts'
import { BoardError } from '../../libraries/client/types.ts'
import type { Reply } from '../../sidecar/publish/edge.ts'
import { misspelt } from '../../system/local/environment.ts'
import type { SignalboxFile } from '../../worker/payments/define-config.ts'
import { jsonIn } from '../../worker/shared/json.ts'
import { messageOf } from '../../worker/shared/log.ts'
import { isSafeForSecrets } from '../../worker/shared/loopback.ts'
import { coversPath } from '../../worker/shared/repos.ts'
import { readWhsecs } from '../../worker/shared/standard-webhook.ts'
import type { Environment } from '../context.ts'
import { ask, askEdge, type EdgeAddress, firstLineOf } from '../request.ts'
import { OPTION_VARIABLES } from '../settings.ts'
import { error, type Finding, ok, some, warn } from './findings.ts'

const WRITE = 'board:write'
const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const SOON_MS = 7 * DAY_MS

/** What the token itself contains; only the edge can verify its signature. */
export async function checkToken(
  token: (() => Promise<string>) | undefined,
  repos: readonly string[],
): Promise<{ finding: Finding; text?: string }> {
  if (!token) {
    const how = 'set SIGNALBOX_TOKEN, or name a file with --token-file'
    return { finding: error('token', `There is no access token: ${how}.`) }
  }
  let text: string
  try {
    text = await token()
  } catch (thrown) {
    return { finding: error('token', `It cannot be read: ${messageOf(thrown)}.`) }
  }
  try {
    return { finding: judge(decodeJwt(text), repos, Date.now()), text }
  } catch {
    return { finding: error('token', 'It is not a JSON Web Token.'), text }
  }
}

/** `boards`: the names of all that it is to publish. `now` in ms. */
function judge({ exp, scope, repos }: JWTPayload, boards: readonly string[], now: number): Finding {
  const scopes = typeof scope === 'string' ? scope.split(' ') : []
  const covered = Array.isArray(repos) ? repos.map(String) : []
  const others = boards.filter((name) => !coversPath(covered, name))
  const leftMs = (exp ?? 0) * 1_000 - now
  const until =
    exp === undefined ? 'without an end' : `until ${new Date(exp * 1_000).toISOString()}`
  const repositories = covered.join(', ') || 'no repository'
  const sentence = `It is for ${repositories}, allows ${scopes.join(' ') || 'nothing'}, ${until}`
  if (exp === undefined) return error('token', `${sentence}: the edge refuses such a token.`)
  if (leftMs <= 0) return error('token', `${sentence}: it has expired.`)
  if (others.length > 0) {
    return error('token', `${sentence}: it does not cover ${some(others)}.`)
  }
  if (!scopes.includes(WRITE)) return error('token', `${sentence}: ${WRITE} is missing.`)
  const left =
    leftMs > 2 * DAY_MS
      ? `${Math.floor(leftMs / DAY_MS)} days`
      : `${Math.floor(leftMs / HOUR_MS)} hours`
  return (leftMs < SOON_MS ? warn : ok)('token', `${sentence}: ${left} left.`)
}

/** `reply` to the probe. */
export function checkEdge(url: URL, reply: Reply<unknown>, hasToken: boolean): Finding[] {
  const { origin } = url
  const exposed = isSafeForSecrets(url)
    ? []
    : [warn('edge', `${origin} is not https: the token can be read on the way.`)]
  if (reply.ok) return [...exposed, ok('edge', `${origin} answers and accepts the token.`)]
  switch (reply.reason) {
    case 'unauthorized': {
      const refused = error('access', `The edge refuses the token: ${reply.message}`)
      return [...exposed, ok('edge', `${origin} answers.`), ...(hasToken ? [refused] : [])]
    }
    case 'malformed':
    case 'refused':
    case 'conflict':
    case 'too_large':
      return [...exposed, error('edge', `${url.href} is not a Signalbox edge.`)]
    case 'version':
    case 'network':
    case 'timeout':
    case 'busy':
      return [...exposed, error('edge', reply.message)]
  }
}

/**
 * Whether the service works, as it says itself: a token is accepted also while no payment can be
 * stored. Hosts that have no /healthz are not judged.
 */
export async function checkHealth(url: URL): Promise<Finding[]> {
  const answer = await ask(new URL('/healthz', url).href)
  if (!answer.ok) return [error('health', `${url.origin} does not answer: ${answer.why}.`)]
  const { status, text } = answer
  if (status === 200 && /"status":\s*"ok"/.test(text)) {
    const works = ok('health', 'The service works, as /healthz says.')
    return [works, ...warningsIn(text).map((sentence) => warn('health', sentence))]
  }
  if (status < 500) return []
  const why = /"error":\s*"([^"]+)"/.exec(text)?.[1] ?? firstLineOf(text)
  return [error('health', `The service does not work (/healthz answers ${status}): ${why}`)]
}

/** Those of the edge: what is misspelt, and what no notice could be signed by. */
export function checkEnvironment(variables: Environment, file: SignalboxFile): Finding[] {
  const { problem } = readWhsecs(variables.NOTICE_SECRET)
  return [
    ...misspelt(variables, file, OPTION_VARIABLES).map((sentence) => warn('config', sentence)),
    ...(problem === undefined ? [] : [error('notices', `NOTICE_SECRET: ${problem}.`)]),
  ]
}

/** Whether the edge can deliver what the rules of a board ask for. */
export async function checkNotices(edge: EdgeAddress, repo: string): Promise<Finding[]> {
  try {
    const { rules } = await askEdge<Notices>(edge, '/notices', { board: repo })
    const wrong = rules.flatMap(({ on, to, problem }) =>
      problem === undefined ? [] : error('notices', `${on} sends nothing by ${to}: ${problem}`),
    )
    if (wrong.length > 0 || rules.length === 0) return wrong
    return [ok('notices', `The rules of the board (${rules.length}) can be followed.`)]
  } catch (thrown) {
    // No sidecar has published it, or the token may not read: what is wrong has its own check.
    if (thrown instanceof BoardError) return []
    throw thrown
  }
}

function warningsIn(text: string): string[] {
  const { warnings } = (jsonIn(text) ?? {}) as { warnings?: unknown }
  return Array.isArray(warnings) ? warnings.map(String) : []
}
