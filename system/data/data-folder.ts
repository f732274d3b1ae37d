// The folder that holds all a local system writes: databases, logs, local.json. It may have come
// with a repository, so nothing in it leads out of it.

import { access, chmod, constants, lstat, readdir, rename, stat, writeFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { errorCode, isDiskFailure } from '../../worker/shared/file-errors.ts'
import { makePrivateFolder } from '../../worker/shared/private-file-node.ts'
import { isOwnersAlone } from '../../worker/shared/user-folders-node.ts'
import { StartError } from '../start-error.ts'
import { readLocalJson } from './local-json.ts'
import { takeLock } from './lock.ts'
import { findSecretFile, type SecretLocation } from './secret.ts'

/** The data folder unless another one is named. */
export const DATA_DIR = '.signalbox'

/** The database of payments of a system in one process, as LIBSQL_URL names it. */
export const databaseIn = (dataDir: string): string => `file:${join(dataDir, 'node/payments.db')}`

export interface DataFolder {
  dir: string
  databaseDir: string
  /** The sidecar's. */
  cacheDir: string
  edgeDir: string
  logsDir: string
  logFile(name: string): string
  /** Who held the folder before died; what it left behind may still be ending. */
  inherited: boolean
  release(): Promise<void>
}

const OTHERS_WRITE = 0o022

/**
 * Creates and locks the folder, and renames the last run's logs. `notice` gets a sentence if other
 * users had access to the folder, which then only its owner has. Throws StartError.
 */
export async function openDataFolder(
  location: SecretLocation,
  host: string,
  notice: (sentence: string) => void,
): Promise<DataFolder> {
  const { dataDir: dir } = location
  const logs = join(dir, 'logs')
  const edgeDir = join(dir, host)
  await orRefused(dir, async () => {
    const isLink = (await lstat(dir).catch(() => undefined))?.isSymbolicLink()
    if (isLink) throw refused(dir, 'is a link: remove it, or')
    // For its owner alone, since it contains tokens and payments.
    makePrivateFolder(dir)
    if (!isOwnersAlone(await stat(dir))) {
      await closeToOthers(location)
      notice(`The data folder ${dir} was open to others; it is its owner's alone now (chmod 700).`)
    }
    await refuseLinks(dir)
  })
  const lock = await orRefused(dir, () => claim(dir, [logs, edgeDir]))
  if (!lock.ok) {
    const link = 'signalbox sign-in prints a link to it'
    const who = lock.pid === undefined ? 'another container or user' : `pid ${lock.pid}`
    const local = await readLocalJson(dir).catch(() => undefined)
    const at = local === undefined ? '' : ` at ${local.url}`
    const sentence = `Signalbox already runs here${at} (${who}): ${link}.`
    throw new StartError('data_folder_in_use', `${sentence} The data folder is ${dir}.`)
  }
  for (const name of await readdir(logs)) {
    if (name.endsWith('.log')) await rename(join(logs, name), join(logs, `${name}.1`))
  }
  return {
    dir,
    databaseDir: join(dir, 'sqld'),
    cacheDir: join(dir, 'cache'),
    edgeDir,
    logsDir: logs,
    logFile: (name) => join(logs, `${name}.log`),
    inherited: lock.inherited,
    release: lock.release,
  }
}

const refused = (dir: string, why: string) =>
  new StartError('bad_data_folder', `The data folder ${dir} ${why} choose another with --data.`)

/**
 * What is written through a link would be written elsewhere: a foreign log would be renamed, a
 * foreign file replaced. A pipe would stop the start for ever.
 */
async function refuseLinks(dir: string): Promise<void> {
  const entries = await readdir(dir, { recursive: true, withFileTypes: true })
  const foreign = entries.find((entry) => !entry.isFile() && !entry.isDirectory())
  if (!foreign) return
  const name = relative(dir, join(foreign.parentPath, foreign.name))
  throw refused(dir, `holds ${name}, which is a link or no usual file: remove that, or`)
}

/**
 * Shuts other users out of a folder that is ours. Any other folder stays as it is: what is open may
 * be meant to be.
 */
async function closeToOthers(location: SecretLocation): Promise<void> {
  const { dataDir: dir } = location
  const { uid, mode } = await stat(dir)
  if (uid !== process.getuid?.()) throw refused(dir, `belongs to another user (uid ${uid});`)
  const isEmpty = (await readdir(dir)).length === 0
  if (!isEmpty && (mode & OTHERS_WRITE) !== 0) {
    throw refused(dir, 'cannot be trusted, since others may write there: remove it, or')
  }
  // One that has a secret is one of ours.
  if (!isEmpty && (await findSecretFile(location)) === undefined) {
    const close = `close it yourself (chmod 700 ${dir})`
    throw refused(dir, `is open to others and holds other files: ${close}, or`)
  }
  await chmod(dir, 0o700)
  // Some file systems take it without a word and do nothing.
  if (!isOwnersAlone(await stat(dir))) throw refused(dir, 'cannot be closed to others;')
}

async function claim(dir: string, folders: string[]) {
  for (const folder of folders) makePrivateFolder(folder)
  await access(dir, constants.W_OK)
  // It is in a user's project, whose git must not show it.
  const ignore = { mode: 0o600, flag: 'wx' } as const
  await writeFile(join(dir, '.gitignore'), '*\n', ignore).catch((error: unknown) => {
    if (errorCode(error) !== 'EEXIST') throw error
  })
  return await takeLock(dir)
}

async function orRefused<Result>(dir: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (cause) {
    if (cause instanceof StartError) throw cause
    const code = errorCode(cause) || cause
    const isReadOnly = code === 'EROFS' || code === 'EACCES' || code === 'EPERM'
    if (isDiskFailure(cause)) {
      const full = `The disk of the data folder ${dir} is full or fails (${code}).`
      throw new StartError('bad_data_folder', full, { cause })
    }
    const why = isReadOnly
      ? `is in a place that is read-only for you (${code}): choose another with --data.`
      : `cannot be written (${code}).`
    throw new StartError('bad_data_folder', `The data folder ${dir} ${why}`, { cause })
  }
}
