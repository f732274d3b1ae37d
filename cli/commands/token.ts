// Makes a token. It is the only thing on standard output, so that it can go straight into a file.

import { randomUUID } from 'node:crypto'
import { SignJWT } from 'jose'
import type { Scope } from '../../worker/shared/access.ts'
import { type Context, type Input, missing, UsageError, variablesIn } from '../command.ts'
import { REPO } from '../setting.ts'

const SCOPES: readonly string[] = [
  'board:read',
  'board:write',
  'payments:read',
  'payments:write',
] satisfies Scope[]
/** The edge refuses shorter ones: an HS256 key has to be as long as its hash. */
const SECRET_BYTES = 32
const WHICH = 'the same as the edge has; openssl rand -hex 32 makes one'
const SECRET = `the variable AUTH_SECRETS (${SECRET_BYTES} bytes or more, ${WHICH})`
const WIDE = 'Note: --repo limits board: scopes only; payments: scopes allow all payments.'

interface TokenOptions {
  repo?: string[]
  scope: string
  subject?: string
  /** In ms. */
  ttl: number
  env?: string
}

export async function run(
  { options: { repo, ttl, ...options } }: Input<TokenOptions>,
  { io, env }: Context,
): Promise<number> {
  const { AUTH_SECRETS, AUTH_AUDIENCE } = await variablesIn(options.env, env)
  const [first] = AUTH_SECRETS?.split(/\s+/).filter(Boolean) ?? []
  const scopes = options.scope.split(/[\s,]+/)
  const repos = scopes.every((it) => it.startsWith('payments:')) ? (repo ?? []) : repo
  if (first === undefined || !repos) throw missing({ [SECRET]: first, [REPO.meaning]: repos })
  const secret = new TextEncoder().encode(first)
  if (secret.length < SECRET_BYTES) {
    const why = `is shorter than ${SECRET_BYTES} bytes`
    throw new UsageError(`the first secret in AUTH_SECRETS ${why}.`)
  }
  const unknown = scopes.filter((it) => !SCOPES.includes(it))
  if (unknown.length > 0) {
    const known = `the scopes are ${SCOPES.join(', ')}`
    throw new UsageError(`unknown scope ${unknown.join(', ')}: ${known}.`)
  }
  const scope = scopes.join(' ')
  const now = Math.floor(Date.now() / 1_000)
  const { subject } = options
  const jwt = await new SignJWT({ scope, repos, ...(subject && { sub: subject }) })
    .setProtectedHeader({ alg: 'HS256' })
    .setJti(randomUUID())
    .setAudience(AUTH_AUDIENCE || 'signalbox')
    .setIssuedAt(now)
    .setExpirationTime(now + Math.floor(ttl / 1_000))
    .sign(secret)
  io.out(`${jwt}\n`)
  if (repo && /\bpayments:/.test(scope)) io.err(`${WIDE}\n`)
  return 0
}
