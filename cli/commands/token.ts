// Makes a token. It is the only thing on standard output, so that it can go straight into a file.

import { SignJWT } from 'jose'
import type { Scope } from '../../worker/shared/access.ts'
import type { World } from '../command.ts'
import type { Settings } from '../settings.ts'

const SCOPES: readonly string[] = [
  'board:read',
  'board:write',
  'payments:read',
  'payments:write',
] satisfies Scope[]
/** The edge refuses shorter ones: an HS256 key has to be as long as its hash. */
const SECRET_BYTES = 32
const WHICH = 'the same as the edge has; openssl rand -hex 32 makes one'
const DAY_MS = 86_400_000
const WIDE = 'Note: --repo limits board: scopes only; payments: scopes allow all payments.'

export async function run(settings: Settings, { io }: World): Promise<number> {
  const { secret, audience, repos, scope, ttlMs } = await read(settings)
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
}

async function read(settings: Settings) {
  settings.noPositionals()
  const { AUTH_SECRETS, AUTH_AUDIENCE } = await settings.variables()
  const [first] = AUTH_SECRETS?.split(/\s+/).filter(Boolean) ?? []
  const secret = new TextEncoder().encode(first)
  if (first === undefined) {
    settings.missing(`the variable AUTH_SECRETS (${SECRET_BYTES} bytes or more, ${WHICH})`)
  } else if (secret.length < SECRET_BYTES) {
    settings.malformed(`the first secret in AUTH_SECRETS is shorter than ${SECRET_BYTES} bytes`)
  }
  const repos = settings.texts('repo')
  if (repos.length === 0) settings.required('repo')
  const scopes = (settings.text('scope') ?? 'board:write').split(/[\s,]+/)
  const unknown = scopes.filter((it) => !SCOPES.includes(it))
  if (unknown.length > 0) {
    settings.malformed(`unknown scope ${unknown.join(', ')}: the scopes are ${SCOPES.join(', ')}`)
  }
  const ttlMs = settings.durationMs('ttl', 30 * DAY_MS)
  settings.check()
  return { secret, audience: AUTH_AUDIENCE || 'signalbox', repos, scope: scopes.join(' '), ttlMs }
}
