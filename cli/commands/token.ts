// Mints a token. It is the only thing on standard output, so that it can go straight into a file.

import { SignJWT } from 'jose'
import type { Settings } from '../settings.ts'
import type { Command } from './command.ts'

const SCOPES = ['board:read', 'board:write', 'payments:read', 'payments:write']
/** The edge refuses shorter ones: an HS256 key has to be as long as its hash. */
const SECRET_BYTES = 32
const DAY_MS = 86_400_000
const WIDE =
  'Note: payments: scopes are for the whole deployment; --repo bounds board: scopes alone.'

export const token = {
  name: 'token',
  usage: '--repo NAME [--scope SCOPES] [--ttl TIME]',
  summary: 'mints an access token from AUTH_SECRETS',
  about: `\
Signs an access token with the first secret of the environment variable AUTH_SECRETS, which the
edge must know too, and prints it. --repo may be given again; a NAME that ends in * covers all that
begin like it. Scopes: ${SCOPES.join(', ')}. --repo bounds what a
token may do with boards; payments belong to no repository, so payments: scopes are for all of them.
Where the edge has an AUTH_AUDIENCE, set it here too.`,
  options: ['repo', 'scope', 'ttl', 'help'],
  async run(settings, io) {
    const { secret, audience, repos, scope, ttlMs } = read(settings)
    const now = Math.floor(Date.now() / 1_000)
    const jwt = await new SignJWT({ scope, repos })
      .setProtectedHeader({ alg: 'HS256' })
      .setAudience(audience)
      .setIssuedAt(now)
      .setExpirationTime(now + Math.floor(ttlMs / 1_000))
      .sign(secret)
    io.out(`${jwt}\n`)
    if (/\bpayments:/.test(scope)) io.err(`${WIDE}\n`)
    return 0
  },
} satisfies Command

function read(settings: Settings) {
  settings.noPositionals()
  const [first] = settings.variable('AUTH_SECRETS')?.split(/\s+/).filter(Boolean) ?? []
  const secret = new TextEncoder().encode(first)
  if (first === undefined) settings.missing('the environment variable AUTH_SECRETS')
  else if (secret.length < SECRET_BYTES)
    settings.malformed(`the first secret of AUTH_SECRETS is shorter than ${SECRET_BYTES} bytes`)
  const audience = settings.variable('AUTH_AUDIENCE') ?? 'signalbox'
  const repos = settings.texts('repo')
  if (repos.length === 0) settings.required('repo')
  const scopes = (settings.text('scope') ?? 'board:write').split(/[\s,]+/)
  const unknown = scopes.filter((it) => !SCOPES.includes(it))
  if (unknown.length > 0)
    settings.malformed(`unknown scope ${unknown.join(', ')}: there are ${SCOPES.join(', ')}`)
  const ttlMs = settings.durationMs('ttl', 30 * DAY_MS)
  settings.check()
  return { secret, audience, repos, scope: scopes.join(' '), ttlMs }
}
