// The secrets of a deployed edge and the tokens that it signs: files of their owner alone, in the
// folder of the user's state, since a folder of code may be pushed to where others read it.

import { randomBytes } from 'node:crypto'
import { mkdtemp, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { noticeSecret } from '../../system/local/notices.ts'
import { mintTokens, reposOf } from '../../system/local/tokens.ts'
import { defined } from '../../worker/shared/json.ts'
import { textIn } from '../../worker/shared/plain-file-node.ts'
import { replacePrivateFile } from '../../worker/shared/private-file-node.ts'
import { readWhsecs } from '../../worker/shared/standard-webhook.ts'
import { stateFolder } from '../../worker/shared/user-folders-node.ts'
import type { Environment } from '../context.ts'
import { missing, UsageError } from '../usage.ts'
import type { Choice } from './edge-folder.ts'

/** A deployment again gives new ones. */
const TOKENS_MS = 90 * 24 * 60 * 60 * 1_000

/**
 * What is kept of edges: a folder for each name, and a record of each folder that was deployed.
 * Throws UsageError.
 */
export function edgesFolder(env: Environment): string {
  const state = stateFolder(env)
  if (state === undefined) throw new UsageError('HOME is not set: the secret has no place.')
  return join(state, 'edges')
}

/** What signs tokens, what is to sign them when a deployment has ended well, what signs notices. */
type Kept = 'auth-secret' | 'new-auth-secret' | 'notice-secret'

/** Undefined: this machine has none. */
const readSecret = (kept: string, name: Kept): Promise<string | undefined> =>
  textIn(join(kept, name)).then((text) => text?.trim())

export const newSecret = (): string => randomBytes(32).toString('hex')

/** What signs tokens. */
export interface Signing {
  /** Undefined: what the Worker has, which is on another machine. */
  secret: string | undefined
  isNew: boolean
}

/** A new one whose deployment did not end well is sent again, since the Worker may have it. */
export async function secretToSend(
  kept: string,
  { isThere, wantsNew }: { isThere: boolean; wantsNew: boolean | undefined },
): Promise<Signing> {
  const unfinished = await readSecret(kept, 'new-auth-secret')
  if (unfinished !== undefined) return { secret: unfinished, isNew: true }
  const known = await readSecret(kept, 'auth-secret')
  const isNew = wantsNew || (known === undefined && !isThere)
  return { secret: isNew ? newSecret() : known, isNew }
}

/** The Worker has the new one: only now does nothing need the one before. */
export const replaceSecret = (kept: string): Promise<void> =>
  rename(join(kept, 'new-auth-secret'), join(kept, 'auth-secret'))

/** Resolves with its file. */
export async function keepSecret(kept: string, name: Kept, secret: string): Promise<string> {
  const file = join(kept, name)
  await replacePrivateFile(file, `${secret}\n`)
  return file
}

/**
 * What is set here, what this machine keeps, else one that follows from `secret`. Undefined: the
 * Worker has one of its own (`hasOwn`), or its secrets are on another machine. Throws UsageError.
 * @forTests Each of these, without a Worker.
 */
export async function noticeSecretOf(
  kept: string,
  { NOTICE_SECRET: given }: Environment,
  { secret, hasOwn }: { secret: string | undefined; hasOwn: boolean },
): Promise<string | undefined> {
  const { secrets, problem } = readWhsecs(given)
  if (problem !== undefined) throw new UsageError(`NOTICE_SECRET: ${problem}.`)
  if (secrets.length > 0) return secrets.join(' ')
  const own = hasOwn || secret === undefined ? undefined : noticeSecret(secret)
  return (await readSecret(kept, 'notice-secret')) ?? own
}

/** What goes up with the code. `names`: what the Worker has already. Throws UsageError. */
export async function secretsOf(
  { choice: { payments }, kept }: { choice: Choice; kept: string },
  given: Environment,
  secret: string | undefined,
  names: readonly string[],
): Promise<Readonly<Record<string, string>>> {
  const { LIBSQL_URL: url, LIBSQL_AUTH_TOKEN: authToken } = given
  if (payments && !url && !names.includes('LIBSQL_URL')) {
    throw missing({ 'LIBSQL_URL, the database of --payments': undefined })
  }
  const hasOwn = names.includes('NOTICE_SECRET')
  const notices = await noticeSecretOf(kept, given, { secret, hasOwn })
  return {
    ...(payments && url && { LIBSQL_URL: url, ...(authToken && { LIBSQL_AUTH_TOKEN: authToken }) }),
    ...defined({ AUTH_SECRETS: secret, NOTICE_SECRET: notices }),
  }
}

export interface TokenFiles {
  sidecar: string
  reader: string
}

/** Tokens for the board and those beside and below it. `now` in ms. */
export async function writeTokens(
  kept: string,
  { secret, board, now }: { secret: string; board: string; now: number },
): Promise<TokenFiles> {
  const repos = reposOf(board, [board])
  const tokens = await mintTokens(secret, repos, now, {
    lifetimeMs: TOKENS_MS,
    scopes: { board: 'board:read' },
  })
  const files = { sidecar: join(kept, 'sidecar-token'), reader: join(kept, 'reader-token') }
  await replacePrivateFile(files.sidecar, `${tokens.sidecar}\n`)
  await replacePrivateFile(files.reader, `${tokens.board}\n`)
  return files
}

/**
 * Makes a folder in `parent` that is gone when `use` has ended, however it ends. `args`: how
 * wrangler, and nobody else, gets the secrets; none if there are none.
 */
export async function withSecretsFile<Result>(
  parent: string,
  secrets: Readonly<Record<string, string>>,
  use: (dir: string, args: readonly string[]) => Promise<Result>,
): Promise<Result> {
  const dir = await mkdtemp(join(parent, 'deploying-'))
  try {
    if (Object.keys(secrets).length === 0) return await use(dir, [])
    const file = join(dir, 'secrets.json')
    await replacePrivateFile(file, JSON.stringify(secrets))
    return await use(dir, ['--secrets-file', file])
  } finally {
    await rm(dir, { recursive: true, force: true })
  }
}
