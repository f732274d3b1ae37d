// The folder that holds all a local system writes: databases, logs, the secret, local.json.

import type { Stats } from 'node:fs'
import { access, chmod, constants, mkdir, readdir, rename, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { takeLock } from './process-lock.ts'
import { StartError } from './start-error.ts'

export interface DataFolder {
  dir: string
  secretFile: string
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

/** The file of the folder's secret. A folder that has it is one of ours. */
const SECRET = 'secret'
const OTHERS = 0o077
const OTHERS_WRITE = 0o022

/**
 * Creates and locks the folder, and renames the last run's logs. `notice` gets a sentence if other
 * users had access to the folder, which then only its owner has. Throws StartError.
 */
export async function openDataFolder(
  dir: string,
  host: string,
  notice: (sentence: string) => void,
): Promise<DataFolder> {
  const logs = join(dir, 'logs')
  const edgeDir = join(dir, host)
  await orRefused(dir, async () => {
    // For its owner alone, since it contains tokens and payments.
    await mkdir(dir, { recursive: true, mode: 0o700 })
    if (isOwnersAlone(await stat(dir))) return
    await closeToOthers(dir)
    notice(`The data folder ${dir} was open to others; it is its owner's alone now (chmod 700).`)
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
    secretFile: join(dir, SECRET),
    databaseDir: join(dir, 'sqld'),
    cacheDir: join(dir, 'cache'),
    edgeDir,
    logsDir: logs,
    logFile: (name) => join(logs, `${name}.log`),
    inherited: lock.inherited,
    release: lock.release,
  }
}

export const isOwnersAlone = ({ uid, mode }: Stats): boolean =>
  uid === process.getuid?.() && (mode & OTHERS) === 0

/**
 * Shuts other users out of a folder that is ours. Any other folder stays as it is: what is open may
 * be meant to be.
 */
async function closeToOthers(dir: string): Promise<void> {
  const { uid, mode } = await stat(dir)
  const refused = (why: string) =>
    new StartError('bad_data_folder', `The data folder ${dir} ${why} choose another with --data.`)
  if (uid !== process.getuid?.()) throw refused(`belongs to another user (uid ${uid});`)
  const names = await readdir(dir)
  if (names.length > 0 && (mode & OTHERS_WRITE) !== 0) {
    throw refused('cannot be trusted, since others may write there: remove it, or')
  }
  if (names.length > 0 && !names.includes(SECRET)) {
    throw refused(
      `is open to others and holds other files: close it yourself (chmod 700 ${dir}), or`,
    )
  }
  await chmod(dir, 0o700)
  // Some file systems take it without a word and do nothing.
  if (!isOwnersAlone(await stat(dir))) throw refused('cannot be closed to others;')
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
