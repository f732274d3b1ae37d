// The page's files in a folder, for Deno and Node.

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { errorCode } from '../shared/file-errors.ts'
import { type AssetFile, type Assets, isAssetName } from './assets.ts'

/** Each file is read once: a client that asks for many at a time would have as many copies. */
export function folderAssets(dir: string): Assets {
  const known = new Map<string, AssetFile>()
  return {
    async read(name) {
      // Checked again here: a name with a slash could reach any file of the machine.
      if (!isAssetName(name)) return undefined
      const kept = known.get(name)
      if (kept) return kept
      try {
        const file = { body: new Uint8Array(await readFile(join(dir, name))) }
        known.set(name, file)
        return file
      } catch (error) {
        if (errorCode(error) === 'ENOENT') return undefined
        throw error
      }
    },
  } satisfies Assets
}
