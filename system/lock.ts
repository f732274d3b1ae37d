// One running system per data folder: two would write the same databases.
//
// A transaction of SQLite holds the lock for the life of the process. The system ends it with the
// process, and it holds between containers that share the folder, whose pids say nothing to each
// other. Nothing else may open its file: closing a file drops all locks that the process has on it.
// A text beside it names the holder, and is all that versions before 0.1.0 knew.

import { link, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type Libsql from 'libsql'
import { StartError } from './start-error.ts'

const HELD = 'lock.sqlite'
const HOLDER = 'lock'

/** A look whether it is held lasts less. */
const LOOK_MS = 500

export type Lock =
  | {
      ok: true
      /** The holder before us died without giving it back; its children may still be ending. */
      inherited: boolean
      release(): Promise<void>
    }
  /** Without `pid` the holder is no process that we can see. */
  | { ok: false; pid?: number }

/** Whether a system runs with this folder: one that was killed leaves its local.json behind. */
export async function isRunning(dir: string): Promise<boolean> {
  const holder = readHolder(await readFile(join(dir, HOLDER), 'utf8').catch(() => ''))
  if (holder !== undefined && (await isAlive(holder))) return true
  const file = join(dir, HELD)
  // The library would make the file.
  const found = await stat(file).catch(() => undefined)
  return found !== undefined && (await isHeld(file))
}

/** Throws StartError where the file system has no locks. */
export async function takeLock(dir: string): Promise<Lock> {
  const held = await hold(join(dir, HELD))
  const file = join(dir, HOLDER)
  if (!held) {
    const holder = readHolder(await readFile(file, 'utf8').catch(() => ''))
    return holder && (await isAlive(holder)) ? { ok: false, pid: holder.pid } : { ok: false }
  }
  const named = await nameHolder(file).catch((error) => {
    held.close()
    throw error
  })
  if (named.ok) return { ...named, release: () => named.release().finally(() => held.close()) }
  held.close()
  return named
}

/** Undefined: another process holds it. */
async function hold(file: string): Promise<Libsql.Database | undefined> {
  const database = await open(file)
  try {
    // Nothing is ever written in it, so it needs no journal beside it.
    database.exec('PRAGMA journal_mode = OFF; BEGIN EXCLUSIVE')
    return database
  } catch (cause) {
    database.close()
    if (isBusy(cause)) return undefined
    throw noLocks(file, cause)
  }
}

/** Reading needs a lock that all readers share, so that looks and a start do not meet. */
async function isHeld(file: string): Promise<boolean> {
  let database: Libsql.Database | undefined
  try {
    database = await open(file)
    database.prepare('SELECT 1 FROM sqlite_master').all()
    return false
  } catch (error) {
    return isBusy(error)
  } finally {
    database?.close()
  }
}

async function open(file: string): Promise<Libsql.Database> {
  // Here, since it is a binary of 10 MB, and most commands only ask for a folder's name.
  const { default: Database } = await import('libsql')
  try {
    return new Database(file, { timeout: LOOK_MS })
  } catch (cause) {
    throw noLocks(file, cause)
  }
}

const isBusy = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'SQLITE_BUSY'

function noLocks(file: string, cause: unknown): StartError {
  const why = `${file} cannot be locked, and two systems could write one database`
  const advice = 'choose a folder on a disk of this machine with --data'
  return new StartError('bad_data_folder', `${why}: ${advice}.`, { cause })
}

interface Holder {
  pid: number
  /** Tells a process from a later one with the same pid; empty where the system does not say. */
  born: string
}

type Named = { ok: true; inherited: boolean; release(): Promise<void> } | { ok: false; pid: number }

/** Also refuses where a version that knows only this text runs. */
async function nameHolder(file: string): Promise<Named> {
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
