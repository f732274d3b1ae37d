// The running system that a command means, by its data folder. Reads, and makes nothing.

import { existsSync, realpathSync } from 'node:fs'
import { lstat, realpath } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { isRepository, leadingFolder, linkedTreeOf } from '../sidecar/git/worktrees.ts'
import { isWithin } from '../sidecar/layouts/store-folder.ts'
import { DATA_DIR, databaseIn } from '../system/data/data-folder.ts'
import { type LocalJson, readLocalJson, type ServeJson } from '../system/data/local-json.ts'
import { isRunning } from '../system/data/lock.ts'
import { findSecretFile } from '../system/data/secret.ts'
import { readAuth } from '../worker/shared/auth-config.ts'
import { errorCode } from '../worker/shared/file-errors.ts'
import { readPlain } from '../worker/shared/plain-file-node.ts'
import { coversPath } from '../worker/shared/repos.ts'
import { withSecretFiles } from '../worker/shared/secret-files-node.ts'
import { isSecretName } from '../worker/shared/secrets.ts'
import { isOwnersAlone } from '../worker/shared/user-folders-node.ts'
import type { Environment } from './context.ts'
import { readEnvFile } from './environment.ts'
import type { OptionsOf } from './setting.ts'
import type { RUNNING } from './settings.ts'
import { type Input, UsageError } from './usage.ts'

export type RunningOptions = OptionsOf<typeof RUNNING>

export type RunningStart = LocalStart | ServedStart

export interface LocalStart {
  /** Its data folder. */
  dir: string
  local: LocalJson
  /** Signs tokens: of the data folder, or the first of AUTH_SECRETS. */
  secret: string
  served?: undefined
}

type ServedFields = 'url' | 'publicUrl' | 'path' | 'boards' | 'tokens' | 'shared'

/** A `serve`: its gateways, database and secrets are those of its variables. */
interface ServedStart {
  dir: string
  local: Pick<LocalJson, ServedFields> & { audience: string }
  secret: string
  served: {
    /** Some name the file of a secret. */
    variables: Environment
  }
}

/** The start that --data names, which has what these options would set. Throws UsageError. */
export async function runningStart(
  { options, typed }: Input<RunningOptions>,
  env: Environment,
): Promise<RunningStart | undefined> {
  const { data } = options
  if (data === undefined) return undefined
  const other = ['--edge', '--repo', '--env', '--token-file'].find((name) => typed.has(name))
  if (other === undefined) return await readDataFolder(data, options, env)
  throw new UsageError(`--data has what ${other} would set: give one of them.`)
}

/**
 * The system that runs in this project, for a check that names no other system. Throws UsageError
 * for a local.json that cannot be used.
 */
export async function systemIn(
  project: string,
  { options, typed }: Input<RunningOptions & { edge?: URL }>,
  env: Environment,
): Promise<RunningStart | undefined> {
  if (options.edge !== undefined) return undefined
  if (['--data', '--repo', '--env', '--token-file'].some((name) => typed.has(name)))
    return undefined
  const dir = await runningAbove(project)
  return dir === undefined ? undefined : await readDataFolder(dir, options, env)
}

/**
 * The data folder of the system that runs in `folder`, or in the nearest one above it, up to the
 * top of its git repository: beyond that begins somebody else's project, as for findBoard, unless
 * the system there has a board of this repository. A linked worktree counts as its main tree.
 * `isMeant` passes over data folders.
 */
export async function runningAbove(
  folder: string,
  isMeant: (dataDir: string) => Promise<boolean> = async () => true,
): Promise<string | undefined> {
  let repository: string | undefined
  // What is no worktree of its own may be in the folder of a system, too.
  const from = await leadingFolder(folder).catch(() => resolve(folder))
  for (let at = from; ; at = dirname(at)) {
    const dir = join(at, DATA_DIR)
    const isOurs = async () => repository === undefined || (await hasBoardIn(repository, dir))
    if (existsSync(join(dir, 'local.json')) && (await isMeant(dir)) && (await isOurs())) return dir
    if (await isRepository(at)) repository ??= at
    if (at === dirname(at)) return undefined
  }
}

/**
 * A sentence about the system of this user that runs around `project` with another data folder: a
 * nested project with a board of its own would be published twice, and nobody would see why.
 */
export async function alsoRunning(project: string, dataDir: string): Promise<string | undefined> {
  const dir = await runningAbove(project, async (dir) => {
    // In a folder of others, its files could be pipes, and a start would wait for them.
    const found = await lstat(dir)
    return dir !== dataDir && found.isDirectory() && isOwnersAlone(found) && (await isRunning(dir))
  })
  const local = dir === undefined ? undefined : await readLocalJson(dir).catch(() => undefined)
  if (dir === undefined || local === undefined) return undefined
  const there = `Signalbox already runs in ${dirname(dir)} at ${local.url}`
  return `${there}: this start is another system, with its own data in ${dataDir}.`
}

/** For a start: the board of this folder is that of another one, as in a linked worktree. */
export async function boardElsewhere(folder: string): Promise<string | undefined> {
  const here = await realpath(folder)
  const leading = await leadingFolder(here)
  if (leading === here) return undefined
  const what = (await linkedTreeOf(here))
    ? 'is in a linked worktree'
    : 'is in the main worktree, which has no board'
  return `${here} ${what}: its board is the one of ${leading}.`
}

async function hasBoardIn(folder: string, dataDir: string): Promise<boolean> {
  const local = await readLocalJson(dataDir).catch(() => undefined)
  const { boards } = (local && 'serve' in local ? local.serve : local) ?? { boards: [] }
  return boards.some(({ dir }) => isWithin(dir, folder))
}

/** A folder that a person has named may be a link: it is the folder that the link leads to. */
export function namedFolder(cwd: string, name: string): string {
  const path = resolve(cwd, name)
  return existsSync(path) ? realpathSync(path) : path
}

/** When --trust-data is about nothing. */
export const NO_DATA = 'without a data folder (--data)'

/** Throws UsageError when no system of this user runs with it. */
export async function readDataFolder(
  dir: string,
  { data, trustData: trustsData = false }: RunningOptions,
  env: Environment,
): Promise<RunningStart> {
  const local = await readLocalJson(dir).catch((error: unknown) => {
    const code = errorCode(error) || 'unreadable'
    const start =
      code === 'EACCES'
        ? 'It belongs to another user: run this as that user.'
        : 'Signalbox is not running here: start it with signalbox.'
    throw new UsageError(`${start} The data folder is ${dir} (local.json: ${code}).`)
  })
  if (local && 'serve' in local) {
    // Its local.json says which secret signs, and who gets the token. One that came with a
    // repository, or is another user's in a folder above, would get a token of the user's edge.
    if (data !== undefined) return await servedStart(dir, local, env)
    throw new UsageError(
      `A signalbox serve may run with ${dir}: if it is yours, name it by --data.`,
    )
  }
  if (!local) throw new UsageError(`${join(dir, 'local.json')} is of another version of Signalbox.`)
  const file = await findSecretFile({ dataDir: dir, trustsData, env })
  if (file !== undefined) return { dir, local, secret: (await readPlain(file)).text.trim() }
  const where = trustsData ? 'in it' : 'among the files of this user'
  const other = trustsData ? 'without' : 'with'
  throw new UsageError(
    `The data folder ${dir} has no secret ${where}: was Signalbox started by another user, or ` +
      `${other} --trust-data?`,
  )
}

async function servedStart(
  dir: string,
  { url, serve }: ServeJson,
  env: Environment,
): Promise<ServedStart> {
  const { boards, repo, env: file } = serve
  const given = await variablesOf(serve, env)
  const { LIBSQL_URL, SIGNALBOX_PUBLIC_URL: publicUrl } = given
  const variables = { ...given, LIBSQL_URL: LIBSQL_URL || databaseIn(resolve(dir)) }
  // A system that has made its tokens itself needs nobody who signs.
  const { mintTokens, reposOf } = await import('../system/local/tokens.ts')
  const { secrets, audience } = readAuth(await withSecretFiles(variables))
  const [secret] = secrets
  if (secret === undefined) {
    const where = file === undefined ? 'the environment of its serve' : file
    throw new UsageError(
      `A token is needed for the edge of ${dir}: set AUTH_SECRETS, as in ${where}.`,
    )
  }
  // Sidecars may publish any board to it.
  const [{ path } = { path: '*' }] = boards
  const below = repo === undefined ? [path] : reposOf(path, [repo])
  // One at the top of the project that appeared after the first.
  const others = boards.map((board) => board.path).filter((it) => !coversPath(below, it))
  const repos = [...below, ...others]
  const tokens = await mintTokens(secret, repos, Date.now(), { audience })
  const local = { url, ...(publicUrl && { publicUrl }), path, boards, tokens, audience }
  return { dir, local, secret, served: { variables } }
}

/** The variables of a `serve`, as far as its local.json says where they are. */
export const variablesOf = async (
  { env: file, files }: Pick<ServeJson['serve'], 'env' | 'files'>,
  env: Environment,
): Promise<Environment> => ({
  ...env,
  ...namesOfFiles(files),
  ...(file && (await readEnvFile(file))),
})

/** The variables that say where secrets are: systemd names the folder of its own. */
export const namesOfFiles = (env: Environment): Environment =>
  Object.fromEntries(
    Object.entries(env).filter(([name]) => {
      const [, secret] = /^(.*)_FILE$/.exec(name) ?? []
      return name === 'CREDENTIALS_DIRECTORY' || (secret !== undefined && isSecretName(secret))
    }),
  )
