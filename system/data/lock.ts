// One running system per data folder: two would write the same databases.
//
// A transaction of SQLite holds the lock for the life of the process. The system ends it with the
// process, and it holds between containers that share the folder, whose pids say nothing to each
// other. Nothing else may open its file: closing a file drops all locks that the process has on it.
// A text beside it names the holder.

import { lstat, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type Libsql from 'libsql'
import { errorCode } from '../../worker/shared/file-errors.ts'
import { jsonIn } from '../../worker/shared/json.ts'
import { refuseOdd, textIn } from '../../worker/shared/plain-file-node.ts'
import { replacePrivateFile } from '../../worker/shared/private-file-node.ts'
import { processExists, processStat } from '../../worker/shared/process-stat-node.ts'
import { StartError } from '../start-error.ts'

const OF_FOLDER = 'lock'
const heldIn = (dir: string, name: string) => join(dir, `${name}.sqlite`)

/** A look whether it is held lasts less. */
const LOOK_MS = 500

export type Lock =
  | {
      ok: true
      /** The holder before us died without giving it back; its children may still be ending. */
      inherited: boolean
      release(): Promise<void>
    }
  /** Without `pid` the holder is no process that we can see. `place`: what it left there. */
  | { ok: false; pid?: number; place?: string }

/** Whether a system runs with this folder: one that was killed leaves its local.json behind. */
export async function isRunning(dir: string): Promise<boolean> {
  const holder = readHolder(await textIn(join(dir, OF_FOLDER)))
  if (holder !== undefined && isAlive(holder)) return true
  const file = heldIn(dir, OF_FOLDER)
  // The library would make the file, and follow a link.
  const found = await lstat(file).catch(() => undefined)
  return found?.isFile() === true && (await isHeld(file))
}

/**
 * `name`: of the lock, if it is not that of the folder itself. `place`: what others are to know of
 * the holder. Throws StartError where the file system has no locks.
 */
export async function takeLock(
  dir: string,
  { name = OF_FOLDER, place }: { name?: string; place?: string } = {},
): Promise<Lock> {
  // Nobody looks whether another one is held.
  const held = await hold(heldIn(dir, name), name === OF_FOLDER ? LOOK_MS : 0)
  const file = join(dir, name)
  const text = await textIn(file)
  if (!held) {
    const holder = readHolder(text)
    if (!holder || !isAlive(holder)) return { ok: false }
    const { pid, place } = holder
    return { ok: false, pid, ...(place !== undefined && { place }) }
  }
  const own: Holder = { pid: process.pid, born: bornOf(process.pid), ...(place && { place }) }
  await replacePrivateFile(file, JSON.stringify(own)).catch((error) => {
    held.close()
    throw error
  })
  const release = () => rm(file, { force: true }).finally(() => held.close())
  return { ok: true, inherited: text !== undefined, release }
}

/** Undefined: another process holds it. */
async function hold(file: string, waitMs: number): Promise<Libsql.Database | undefined> {
  const database = await open(file, waitMs)
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
    database = await open(file, LOOK_MS)
    database.prepare('SELECT 1 FROM sqlite_master').all()
    return false
  } catch (error) {
    return isBusy(error)
  } finally {
    database?.close()
  }
}

async function open(file: string, waitMs: number): Promise<Libsql.Database> {
  // Here, since it is a binary of 10 MB, and most commands only ask for a folder's name.
  const { default: Database } = await import('libsql')
  const found = await lstat(file).catch(() => undefined)
  try {
    // The library follows a link.
    if (found) refuseOdd(found)
    return new Database(file, { timeout: waitMs })
  } catch (cause) {
    throw noLocks(file, cause)
  }
}

const isBusy = (error: unknown): boolean => errorCode(error) === 'SQLITE_BUSY'

function noLocks(file: string, cause: unknown): StartError {
  const why = `${file} cannot be locked, and two systems could write one database`
  const advice = 'choose a folder on a disk of this machine with --data'
  return new StartError('bad_data_folder', `${why}: ${advice}.`, { cause })
}

interface Holder {
  pid: number
  /** Differs for a later process with the same pid; empty where the system has no such number. */
  born: string
  place?: string
}

/** Undefined where it is not our writing: nobody holds it. */
function readHolder(text: string | undefined): Holder | undefined {
  const { pid, born, place } = (jsonIn(text) ?? {}) as Partial<Holder>
  if (!Number.isInteger(pid) || pid === undefined) return undefined
  return { pid, born: String(born), ...(typeof place === 'string' && { place }) }
}

const isAlive = ({ pid, born }: Holder): boolean => processExists(pid) && bornOf(pid) === born

/** A container restarts with the same pids, so a pid alone would find itself holding the lock. */
function bornOf(pid: number): string {
  const { state, startedAt = '' } = processStat(pid) ?? {}
  // Dead, and its parent does not ask how it ended: in some containers none ever does.
  return state === 'Z' ? 'dead' : startedAt
}
