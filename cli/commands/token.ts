// Makes a token. It is the only thing on standard output, so that it can go straight into a file.

import { decodeJwt } from 'jose'
import { SCOPES } from '../../worker/shared/access.ts'
import { readAuth, SECRET_BYTES } from '../../worker/shared/auth-config.ts'
import { hostClock } from '../../worker/shared/clock.ts'
import { createTokens } from '../../worker/shared/tokens.ts'
import { define } from '../command.ts'
import type { Context } from '../context.ts'
import { variablesIn } from '../environment.ts'
import { type OptionsOf, Setting } from '../setting.ts'
import { ENV, REPO, RUNNING } from '../settings.ts'
import { type Input, missing, refuseNeedless, UsageError } from '../usage.ts'

const WHICH = 'the same as the edge has; openssl rand -hex 32 makes one'
const SECRET = `the variable AUTH_SECRETS (${SECRET_BYTES} bytes or more, ${WHICH})`
/** What an agent needs: to claim, and to see what. */
const OF_ACTOR = 'board:read board:work'
const PUBLISHES = 'board:write'
const WIDE = 'Note: --repo limits board: scopes only; payments: scopes allow all payments.'

const OPTIONS = [
  new Setting('--repo <NAME>', REPO.description).env('SIGNALBOX_REPO').several(),
  new Setting(
    '--scope <SCOPES>',
    `what the token allows, separated by spaces [${PUBLISHES}; with --actor ${OF_ACTOR}]`,
  ).several(),
  new Setting('--actor <NAME>', 'its claims are those of NAME, and of NAME/…, alone'),
  new Setting('--subject <NAME>', 'who or what uses the token: its `sub`'),
  new Setting('--ttl <TIME>', 'how long the token is valid: 12h, 30d, …')
    .duration()
    .or(30 * 86_400_000, '30d'),
  ENV,
  ...RUNNING,
] as const

type TokenOptions = OptionsOf<typeof OPTIONS>

export const command = define({
  usage: '[--repo NAME] [--scope SCOPES] [--actor NAME] [--ttl TIME] [options]',
  description: `\
Signs an access token with the first secret in AUTH_SECRETS and prints it. The edge must have the
same secret. With --data, and where there is no AUTH_SECRETS, it is that of the signalbox that runs
here, for all of its boards unless --repo names some. --repo and --scope may be given several
times; a NAME that ends in * covers every name that begins with it. Scopes: board:read,
board:write, board:work (to claim tasks), board:lead (to pause), payments:read, payments:write.
--repo limits what the token may do with boards. Payments belong to no repository: payments: scopes
allow all of them, and need no --repo. --subject says who will use the token: a refund that is made
with it is stored with this name. --actor is for an agent elsewhere: it claims as NAME or
NAME/anything, and can end no claim of others. If the edge has an AUTH_AUDIENCE, set it here too.`,
  options: OPTIONS,
  run,
})

async function run(input: Input<TokenOptions>, context: Context): Promise<number> {
  const { io } = context
  const { repo, ttl, actor, subject, ...options } = input.options
  const signer = await signerOf(input, context)
  const { first, audience } = signer
  const scopes = (options.scope?.join(' ') ?? (actor ? OF_ACTOR : PUBLISHES)).split(/[\s,]+/)
  const isOfPayments = scopes.every((it) => it.startsWith('payments:'))
  const repos = repo ?? signer.repos ?? (isOfPayments ? [] : undefined)
  if (first === undefined || !repos) throw missing({ [SECRET]: first, [REPO.meaning]: repos })
  const auth = readAuth({ AUTH_SECRETS: first, AUTH_AUDIENCE: audience })
  if (auth.problem !== undefined) {
    const why = `is shorter than ${SECRET_BYTES} bytes`
    throw new UsageError(`the first secret in AUTH_SECRETS ${why}.`)
  }
  const unknown = scopes.filter((it) => !SCOPES.some((scope) => scope === it))
  if (unknown.length > 0) {
    const known = `the scopes are ${SCOPES.join(', ')}`
    throw new UsageError(`unknown scope ${unknown.join(', ')}: ${known}.`)
  }
  const scope = scopes.join(' ')
  const now = Date.now()
  const whose = { ...(subject && { sub: subject }), ...(actor && { actor }) }
  const iat = Math.floor(now / 1_000)
  const tokens = createTokens(auth, { clock: hostClock, fetch })
  const jwt = await tokens.sign({ scope, repos, iat, ...whose }, 'api', now + ttl)
  io.out(`${jwt}\n`)
  if (repo && /\bpayments:/.test(scope)) io.err(`${WIDE}\n`)
  return 0
}

interface Signer {
  /** The secret that signs. */
  first: string | undefined
  /** Undefined: the default one. */
  audience: string | undefined
  /** What its system covers. */
  repos?: readonly string[]
}

/** A running signalbox signs by a secret of its own, which nobody has to know. */
async function signerOf(input: Input<TokenOptions>, { env, cwd }: Context): Promise<Signer> {
  const { options } = input
  if (options.data !== undefined) refuseNeedless(input, ['--env'], 'with --data')
  const { AUTH_SECRETS, AUTH_AUDIENCE } = await variablesIn(options.env, env)
  const [first] = AUTH_SECRETS?.split(/\s+/).filter(Boolean) ?? []
  const isGiven = options.env !== undefined || first !== undefined
  if (isGiven && options.data === undefined) return { first, audience: AUTH_AUDIENCE }
  // A cron job that signs for an edge elsewhere need not load it.
  const { readDataFolder, runningAbove } = await import('../running-system.ts')
  const dir = options.data ?? (await runningAbove(cwd))
  if (dir === undefined) return { first, audience: AUTH_AUDIENCE }
  const { local, secret } = await readDataFolder(dir, options, env)
  const { repos } = decodeJwt<{ repos: string[] }>(local.tokens.payments)
  return { first: secret, audience: 'audience' in local ? local.audience : undefined, repos }
}
