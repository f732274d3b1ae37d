// Files of a local system that hold secrets, or that a killed process must not leave half-written.

import { mkdirSync } from 'node:fs'
import { rename, rm, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { errorCode } from './file-errors.ts'

/** For its owner alone. Whole or as it was before, never half-written. The file has one writer. */
export async function replacePrivateFile(file: string, text: string): Promise<void> {
  const fresh = `${file}.tmp`
  await rm(fresh, { force: true })
  await writeFile(fresh, text, { mode: 0o600, flag: 'wx' })
  await rename(fresh, file)
}

/**
 * Makes a folder for its owner alone, and those above it. Node's own recursive mkdir never returns
 * where a file system answers ENOENT to each, as /proc does for a user whose home is there.
 */
export function makePrivateFolder(dir: string): void {
  const missing = tryToMake(dir)
  if (!missing) return
  if (dirname(dir) === dir) throw missing
  makePrivateFolder(dirname(dir))
  const stillMissing = tryToMake(dir)
  if (stillMissing) throw stillMissing
}

/** The error where what is above it is missing. What another process made meanwhile is made. */
function tryToMake(dir: string): unknown {
  try {
    mkdirSync(dir, { mode: 0o700 })
  } catch (error) {
    const code = errorCode(error)
    if (code === 'ENOENT') return error
    if (code !== 'EEXIST') throw error
  }
  return undefined
}
