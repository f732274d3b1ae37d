// Makes a token. It is the only thing on standard output, so that it can go straight into a file.

import { randomUUID } from 'node:crypto'
import { SignJWT } from 'jose'
import type { Scope } from '../../worker/shared/access.ts'
import { define } from '../command.ts'
import { type Context, type Input, missing, UsageError, variablesIn } from '../context.ts'
import { type OptionsOf, Setting } from '../setting.ts'
import { ENV, REPO } from '../settings.ts'

const SCOPES: readonly string[] = [
  'board:read',
  'board:write',
  'board:work',
  'payments:read',
  'payments:write',
] satisfies Scope[]
/** The edge refuses shorter ones: an HS256 key has to be as long as its hash. */
const SECRET_BYTES = 32
const WHICH = 'the same as the edge has; openssl rand -hex 32 makes one'
const SECRET = `the variable AUTH_SECRETS (${SECRET_BYTES} bytes or more, ${WHICH})`
const WIDE = 'Note: --repo limits board: scopes only; payments: scopes allow all payments.'

const OPTIONS = [
  new Setting('--repo <NAME>', REPO.description).env('SIGNALBOX_REPO').several(),
  new Setting('--scope <SCOPES>', 'what the token allows, separated by spaces').or('board:write'),
  new Setting('--subject <NAME>', 'who or what uses the token: its `sub`'),
  new Setting('--ttl <TIME>', 'how long the token is valid: 12h, 30d, …')
    .duration()
    .or(30 * 86_400_000, '30d'),
  ENV,
] as const

export const command = define({
  usage: '[--repo NAME] [--scope SCOPES] [--subject NAME] [--ttl TIME] [--env FILE]',
  description: `\
Signs an access token with the first secret in AUTH_SECRETS and prints it. The edge must have the
same secret. --repo may be given several times; a NAME that ends in * covers every name that begins
with it. Scopes: board:read, board:write, board:work (to claim tasks), payments:read,
payments:write. --repo limits what the token may do with boards. Payments belong to no repository:
payments: scopes allow all of them, and need no --repo. --subject says who will use the token: a
refund that is made with it is stored with this name. If the edge has an AUTH_AUDIENCE, set it here
too.`,
  options: OPTIONS,
  run,
})

async function run(
  { options: { repo, ttl, ...options } }: Input<OptionsOf<typeof OPTIONS>>,
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
