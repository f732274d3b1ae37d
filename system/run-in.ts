// Runs a system in its data folder: while it runs, local.json there has what programs connect with.

import { existsSync, watch } from 'node:fs'
import { join } from 'node:path'
import { type DataFolder, openDataFolder } from './data/data-folder.ts'
import {
  LOCAL_JSON,
  type LocalJson,
  removeLocalJson,
  type ServeJson,
  writeLocalJson,
} from './data/local-json.ts'
import type { SecretLocation } from './data/secret.ts'

export interface Running {
  data: DataFolder
  /** Called at the end, the last one first, since a part may need those that were opened before. */
  defer(close: () => Promise<unknown>): void
  /** Aborted when the system is to end, or has. */
  signal: AbortSignal
  /** Writes local.json, until the system is to end. */
  writeLocal(now: () => LocalJson | ServeJson): Promise<void>
  /** A board has appeared or was let go: writes it again, if it was written. */
  rewriteLocal(): void
}

export interface RunPlan {
  location: SecretLocation
  /** What runs the edge: each runtime has a folder of its own. */
  host: string
  /** Aborted when the system is to end. */
  asked: AbortSignal
  /** Prints one sentence for the person at the terminal. */
  notice(sentence: string): void
}

/**
 * Runs a system in its data folder, and closes what it opened. Resolves with the exit code, 0 if it
 * was asked to end. Throws StartError, else what failed first.
 */
export async function runIn(
  { location, host, asked, notice }: RunPlan,
  run: (running: Running) => Promise<number>,
): Promise<number> {
  const data = await openDataFolder(location, host, notice)
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
  const failures: unknown[] = []
  let code = 0
  try {
    await removeLocalJson(data.dir)
    closing.push(follow(data.dir, rewriteLocal))
    code = await run({ data, signal, defer, writeLocal, rewriteLocal })
  } catch (error) {
    if (!asked.aborted) failures.push(error)
  }
  over.abort()
  await writing.catch(() => undefined)
  // First of all local.json: a program that finds it may connect. The lock is the last, and is
  // given back whatever fails before.
  for (const close of [...closing, () => removeLocalJson(data.dir)].toReversed()) {
    await close().catch((error: unknown) => failures.push(error))
  }
  const [first, ...others] = failures
  for (const other of others) notice(`This failed, too, at the end: ${String(other)}`)
  if (failures.length > 0) throw first
  return code
}

/** Who cleans up a project may take the file that programs find us by. */
function follow(dir: string, onGone: () => void): () => Promise<void> {
  try {
    const watcher = watch(dir, (_, name) => {
      if (name === LOCAL_JSON && !existsSync(join(dir, LOCAL_JSON))) onGone()
    })
    watcher.on('error', () => watcher.close())
    return async () => watcher.close()
  } catch {
    return async () => undefined
  }
}

/** Resolves when the signal is aborted. */
export const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
