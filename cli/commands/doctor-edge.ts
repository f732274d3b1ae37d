// The doctor's checks of the edge and of the token. Only the token is read, with
// the time at which it is judged; nothing is asked over the network.

import { decodeJwt, type JWTPayload } from 'jose'
import { messageOf } from '../../sidecar/error-message.ts'
import type { Reply } from '../../sidecar/publish/edge.ts'
import type { Finding } from './finding.ts'
import { isPrivate } from './publish-settings.ts'

const WRITE = 'board:write'
const SOON_MS = 7 * 86_400_000
const SKEW_WARN_MS = 5_000
/** Past this a token that was just made may count as expired, or a stale session as alive. */
const SKEW_FAIL_MS = 300_000

/** What the token says of itself; whether its signature is good only the edge can tell. */
export async function checkToken(
  token: (() => Promise<string>) | undefined,
  repo: string,
): Promise<{ finding: Finding; text?: string }> {
  const name = 'token'
  if (!token) {
    const says = 'There is none: set SIGNALBOX_TOKEN, or name a file with --token-file.'
    return { finding: { name, state: 'fail', says } }
  }
  let text: string
  try {
    text = await token()
  } catch (error) {
    return { finding: { name, state: 'fail', says: `It cannot be read: ${messageOf(error)}.` } }
  }
  try {
    return { finding: judge(decodeJwt(text), repo, Date.now()), text }
  } catch {
    return { finding: { name, state: 'fail', says: 'It is no JSON Web Token.' }, text }
  }
}

/** `now` in ms. */
export function judge({ exp, scope, repos }: JWTPayload, repo: string, now: number): Finding {
  const name = 'token'
  const scopes = typeof scope === 'string' ? scope.split(' ') : []
  const covered = Array.isArray(repos) ? repos.map(String) : []
  const leftMs = (exp ?? 0) * 1_000 - now
  const until =
    exp === undefined ? 'without an end' : `until ${new Date(exp * 1_000).toISOString()}`
  const repositories = covered.join(', ') || 'no repository'
  const says = `It is for ${repositories}, allows ${scopes.join(' ') || 'nothing'}, ${until}`
  const isCovered = covered.some((it) =>
    it.endsWith('*') ? repo.startsWith(it.slice(0, -1)) : it === repo,
  )
  if (exp === undefined || leftMs <= 0)
    return { name, state: 'fail', says: `${says}: it has expired.` }
  if (!isCovered) return { name, state: 'fail', says: `${says}: ${repo} is not among them.` }
  if (!scopes.includes(WRITE)) return { name, state: 'fail', says: `${says}: ${WRITE} is missing.` }
  const left =
    leftMs > 2 * 86_400_000
      ? `${Math.floor(leftMs / 86_400_000)} days`
      : `${Math.floor(leftMs / 3_600_000)} hours`
  return { name, state: leftMs < SOON_MS ? 'warn' : 'ok', says: `${says}: ${left} left.` }
}

/** `reply` to the probe. */
export function checkEdge(url: URL, reply: Reply<unknown>, hasToken: boolean): Finding[] {
  const findings: Finding[] = !isPrivate(url)
    ? [
        {
          name: 'edge',
          state: 'warn',
          says: `${url.origin} is not https: the token can be read on the way.`,
        },
      ]
    : []
  if (reply.ok) return [...findings, good(url)]
  switch (reply.reason) {
    case 'version':
      return [...findings, { name: 'edge', state: 'fail', says: reply.message }]
    case 'unauthorized':
      return [
        ...findings,
        { name: 'edge', state: 'ok', says: `${url.origin} answers.` },
        ...(hasToken
          ? [
              {
                name: 'access',
                state: 'fail' as const,
                says: `The edge refuses the token: ${reply.message}`,
              },
            ]
          : []),
      ]
    case 'malformed':
    case 'refused':
    case 'conflict':
    case 'too_large':
      return [...findings, unlike(url)]
    case 'network':
    case 'timeout':
    case 'busy':
      return [...findings, { name: 'edge', state: 'fail', says: reply.message }]
  }
}

const good = (url: URL): Finding => ({
  name: 'edge',
  state: 'ok',
  says: `${url.origin} answers and takes the token.`,
})

const unlike = (url: URL): Finding => ({
  name: 'edge',
  state: 'fail',
  says: `${url.href} is not a Signalbox edge.`,
})

/** `skewMs`: how far the edge's clock is ahead of ours, ±1 s. */
export function checkClock(skewMs: number): Finding {
  const seconds = Math.round(Math.abs(skewMs) / 1_000)
  const state =
    Math.abs(skewMs) > SKEW_FAIL_MS ? 'fail' : Math.abs(skewMs) > SKEW_WARN_MS ? 'warn' : 'ok'
  const side = skewMs > 0 ? 'behind' : 'ahead of'
  const says =
    state === 'ok'
      ? 'This clock and that of the edge agree.'
      : `This clock is ${seconds} s ${side} that of the edge: sessions look stale, ` +
        'and tokens expire at the wrong time.'
  return { name: 'clock', state, says }
}
