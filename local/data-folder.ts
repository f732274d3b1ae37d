// The folder that holds all a local system writes: databases, logs, the secret, local.json.

import { access, constants, mkdir, readdir, rename } from 'node:fs/promises'
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

/** Makes and takes the folder, and puts the last run's logs aside. Throws StartError. */
export async function openDataFolder(dir: string, host: string): Promise<DataFolder> {
  const logs = join(dir, 'logs')
  const edgeDir = join(dir, host)
  const lock = await claim(dir, [logs, edgeDir])
  if (!lock.ok) {
    const holder = `the running start with pid ${lock.pid}`
    throw new StartError('data_folder_in_use', `The data folder ${dir} is in use by ${holder}.`)
  }
  for (const name of await readdir(logs)) {
    if (name.endsWith('.log')) await rename(join(logs, name), join(logs, `${name}.1`))
  }
  return {
    dir,
    secretFile: join(dir, 'secret'),
    databaseDir: join(dir, 'sqld'),
    cacheDir: join(dir, 'cache'),
    edgeDir,
    logsDir: logs,
    logFile: (name) => join(logs, `${name}.log`),
    inherited: lock.inherited,
    release: lock.release,
  }
}

async function claim(dir: string, folders: string[]) {
  try {
    // Ours alone: tokens and payments stand in it.
    await mkdir(dir, { recursive: true, mode: 0o700 })
    for (const folder of folders) await mkdir(folder, { recursive: true, mode: 0o700 })
    await access(dir, constants.W_OK)
    return await takeLock(join(dir, 'lock'))
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? cause.code : cause
    throw new StartError('bad_data_folder', `The data folder ${dir} cannot be written (${code}).`, {
      cause,
    })
  }
}
