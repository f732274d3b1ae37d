// Files of a local system that hold secrets, or that a killed process must not leave half-written.

import { rename, rm, writeFile } from 'node:fs/promises'

/** For its owner alone. Whole or as it was before, never half-written. The file has one writer. */
export async function replacePrivateFile(file: string, text: string): Promise<void> {
  const fresh = `${file}.tmp`
  await rm(fresh, { force: true })
  await writeFile(fresh, text, { mode: 0o600, flag: 'wx' })
  await rename(fresh, file)
}
