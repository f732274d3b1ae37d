// The folder that holds all a local system writes: databases, logs, local.json. It may have come
// with a repository, so nothing in it leads out of it.

import {
  access,
  chmod,
  constants,
  lstat,
  mkdir,
  readdir,
  rename,
  stat,
  writeFile,
} from 'node:fs/promises'
import { join, relative } from 'node:path'
import { isOwnersAlone } from '../sidecar/user-folders.ts'
import { takeLock } from './process-lock.ts'
import { findSecretFile, type SecretPlace } from './secret.ts'
import { StartError } from './start-error.ts'

export interface DataFolder {
  dir: string
  databaseDir: string
  /** Of the sidecar. */
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
  place: SecretPlace,
  host: string,
  notice: (sentence: string) => void,
): Promise<DataFolder> {
  const { dataDir: dir } = place
  const logs = join(dir, 'logs')
  const edgeDir = join(dir, host)
  await orRefused(dir, async () => {
    const isLink = (await lstat(dir).catch(() => undefined))?.isSymbolicLink()
    if (isLink) throw refused(dir, 'is a link: remove it, or')
    // For its owner alone, since it contains tokens and payments.
    await mkdir(dir, { recursive: true, mode: 0o700 })
    if (!isOwnersAlone(await stat(dir))) {
      await closeToOthers(place)
      notice(`The data folder ${dir} was open to others; it is its owner's alone now (chmod 700).`)
    }
    await refuseLinks(dir)
  })
  const lock = await orRefused(dir, () => claim(dir, [logs, edgeDir]))
  if (!lock.ok) {
    const link = 'npx signalbox sign-in prints a link to it'
    const sentence = `Signalbox already runs here (pid ${lock.pid}): ${link}.`
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
async function closeToOthers(place: SecretPlace): Promise<void> {
  const { dataDir: dir } = place
  const { uid, mode } = await stat(dir)
  if (uid !== process.getuid?.()) throw refused(dir, `belongs to another user (uid ${uid});`)
  const isEmpty = (await readdir(dir)).length === 0
  if (!isEmpty && (mode & OTHERS_WRITE) !== 0) {
    throw refused(dir, 'cannot be trusted, since others may write there: remove it, or')
  }
  // One that has a secret is one of ours.
  if (!isEmpty && (await findSecretFile(place)) === undefined) {
    const close = `close it yourself (chmod 700 ${dir})`
    throw refused(dir, `is open to others and holds other files: ${close}, or`)
  }
  await chmod(dir, 0o700)
  // Some file systems take it without a word and do nothing.
  if (!isOwnersAlone(await stat(dir))) throw refused(dir, 'cannot be closed to others;')
}

async function claim(dir: string, folders: string[]) {
  for (const folder of folders) await mkdir(folder, { recursive: true, mode: 0o700 })
  await access(dir, constants.W_OK)
  // It is in a user's project, whose git must not show it.
  const ignore = { mode: 0o600, flag: 'wx' } as const
  await writeFile(join(dir, '.gitignore'), '*\n', ignore).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error
  })
  return await takeLock(join(dir, 'lock'))
}

async function orRefused<Result>(dir: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (cause) {
    if (cause instanceof StartError) throw cause
    const code = cause instanceof Error && 'code' in cause ? cause.code : cause
    throw new StartError('bad_data_folder', `The data folder ${dir} cannot be written (${code}).`, {
      cause,
    })
  }
}
