// The secret of a deployed edge and the tokens that it signs: files of their owner alone, in the
// folder of the user's state, since a folder of code may be pushed to where others read it.

import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { mintTokens, reposOf } from '../../system/tokens.ts'
import { textIn } from '../../worker/shared/plain-file-node.ts'
import { replacePrivateFile } from '../../worker/shared/private-file-node.ts'
import { stateFolder } from '../../worker/shared/user-folders-node.ts'
import { type Environment, UsageError } from '../context.ts'

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

const secretFile = (kept: string): string => join(kept, 'auth-secret')

/** Undefined: this machine has none. */
export const readSecret = (kept: string): Promise<string | undefined> =>
  textIn(secretFile(kept)).then((text) => text?.trim())

export const newSecret = (): string => randomBytes(32).toString('hex')

export const keepSecret = (kept: string, secret: string): Promise<void> =>
  replacePrivateFile(secretFile(kept), `${secret}\n`)

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
 * A folder in `parent` that is gone when `use` has ended, however it ends. `secrets`: Undefined if
 * there are none; else the file with them, for wrangler alone.
 */
export async function withSecretsFile<Result>(
  parent: string,
  secrets: Readonly<Record<string, string>>,
  use: (dir: string, secretsFile: string | undefined) => Promise<Result>,
): Promise<Result> {
  const dir = await mkdtemp(join(parent, 'deploying-'))
  try {
    if (Object.keys(secrets).length === 0) return await use(dir, undefined)
    const file = join(dir, 'secrets.json')
    await replacePrivateFile(file, JSON.stringify(secrets))
    return await use(dir, file)
  } finally {
    await rm(dir, { recursive: true, force: true })
  }
}
