// The folder that holds all a local system writes: databases, logs, local.json. It may have come
// with a repository, so nothing in it leads out of it.

import {
  access,
  chmod,
  constants,
  link,
  lstat,
  mkdir,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  writeFile,
} from 'node:fs/promises'
import { join, relative } from 'node:path'
import { isOwnersAlone } from '../sidecar/user-folders.ts'
import { type LocalJson, removeLocalJson, type ServeJson, writeLocalJson } from './local-json.ts'
import { findSecretFile, type SecretPlace } from './secret.ts'
import { StartError } from './start-error.ts'

/** The data folder unless another one is named. */
export const DATA_DIR = '.signalbox'
const LOCK = 'lock'

/** The database of payments of a system in one process, as LIBSQL_URL names it. */
export const databaseIn = (dataDir: string): string => `file:${join(dataDir, 'node/payments.db')}`

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

export interface Running {
  data: DataFolder
  /** Called at the end, the last one first, since a part may need those that were opened before. */
  defer(close: () => Promise<unknown>): void
  /** Aborted when the system is to end, or has. */
  signal: AbortSignal
  /** Writes local.json, until the system is to end. */
  writeLocal(now: () => LocalJson | ServeJson): Promise<void>
  /** A board has appeared: writes it again, if it was written. */
  rewriteLocal(): void
}

export interface RunPlan {
  place: SecretPlace
  /** What runs the edge: each runtime has a folder of its own. */
  host: string
  /** Aborted when the system is to end. */
  asked: AbortSignal
  /** Tells the person at the terminal one sentence. */
  notice(sentence: string): void
}

/**
 * Runs a system in its data folder, and closes what it opened. Resolves with the exit code, 0 if it
 * was asked to end. Throws StartError.
 */
export async function runIn(
  { place, host, asked, notice }: RunPlan,
  run: (running: Running) => Promise<number>,
): Promise<number> {
  const data = await openDataFolder(place, host, notice)
  const closing: (() => Promise<unknown>)[] = [data.release]
  const over = new AbortController()
  const signal = AbortSignal.any([asked, over.signal])
  let localNow: (() => LocalJson | ServeJson) | undefined
  let writing = Promise.resolve()
  const writeLocal = async (now: () => LocalJson | ServeJson) => {
    localNow = now
    const before = writing.catch(() => undefined)
    writing = before.then(() => (signal.aborted ? undefined : writeLocalJson(data.dir, now())))
    await writing
  }
  const rewriteLocal = () => {
    if (localNow)
      writeLocal(localNow).catch((error) => notice(`local.json cannot be written: ${error}.`))
  }
  const defer = (close: () => Promise<unknown>) => void closing.push(close)
  try {
    await removeLocalJson(data.dir)
    return await run({ data, signal, defer, writeLocal, rewriteLocal })
  } catch (error) {
    if (asked.aborted) return 0
    throw error
  } finally {
    over.abort()
    await writing.catch(() => undefined)
    // First of all: a program that finds local.json may connect.
    await removeLocalJson(data.dir)
    for (const close of closing.toReversed()) await close()
  }
}

/** Resolves when the signal is aborted. */
export const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })

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
    const link = 'signalbox sign-in prints a link to it'
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
  return await takeLock(join(dir, LOCK))
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

// One running system per data folder: two would write the same databases. A file names the process
// that holds the folder, and counts only as long as that very process lives.

export type Lock =
  | {
      ok: true
      /** The holder before us died without giving it back; its children may still be ending. */
      inherited: boolean
      release(): Promise<void>
    }
  | { ok: false; pid: number }

/** Whether a system runs with this folder: one that was killed leaves its local.json behind. */
export async function isRunning(dir: string): Promise<boolean> {
  const holder = readHolder(await readFile(join(dir, LOCK), 'utf8').catch(() => ''))
  return holder !== undefined && (await isAlive(holder))
}

interface Holder {
  pid: number
  /** Tells a process from a later one with the same pid; empty where the system does not say. */
  born: string
}

export async function takeLock(file: string): Promise<Lock> {
  const own = JSON.stringify({ pid: process.pid, born: await bornOf(process.pid) } satisfies Holder)
  const fresh = `${file}.${process.pid}`
  await writeFile(fresh, own, { mode: 0o600 })
  try {
    for (let inherited = false; ; inherited = true) {
      // Unlike a file that is opened and then written, a link is never seen empty.
      if (await linked(fresh, file)) {
        return { ok: true, inherited, release: () => rm(file, { force: true }) }
      }
      const text = await readFile(file, 'utf8').catch(() => '')
      const holder = readHolder(text)
      if (holder && (await isAlive(holder))) return { ok: false, pid: holder.pid }
      await removeStale(file, text)
    }
  } finally {
    await rm(fresh, { force: true })
  }
}

const linked = (from: string, to: string): Promise<boolean> =>
  link(from, to).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'EEXIST') return false
      throw error
    },
  )

/** Between our reading and our removing, another start may have put its own lock there. */
async function removeStale(file: string, text: string): Promise<void> {
  const aside = `${file}.stale.${process.pid}`
  await rename(file, aside).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error
  })
  const moved = await readFile(aside, 'utf8').catch(() => text)
  if (moved !== text) await linked(aside, file)
  await rm(aside, { force: true })
}

function readHolder(text: string): Holder | undefined {
  try {
    const { pid, born } = JSON.parse(text) as Partial<Holder>
    return Number.isInteger(pid) && pid !== undefined ? { pid, born: String(born) } : undefined
  } catch {
    // Not our writing: nobody holds it.
    return undefined
  }
}

async function isAlive({ pid, born }: Holder): Promise<boolean> {
  try {
    process.kill(pid, 0)
  } catch (error) {
    // EPERM: it lives, and belongs to somebody else.
    if (!(error instanceof Error && 'code' in error && error.code === 'EPERM')) return false
  }
  return (await bornOf(pid)) === born
}

/** A container restarts with the same pids, so a pid alone would find itself holding the lock. */
async function bornOf(pid: number): Promise<string> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
  // The name before the last bracket may hold anything; the start time is the 20th field after it.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  // Dead, and its parent does not ask how it ended: in some containers none ever does.
  return fields[0] === 'Z' ? 'dead' : (fields[19] ?? '')
}
