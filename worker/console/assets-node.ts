// The page's files in a folder, for Deno and Node.

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Assets, isAssetName } from './assets.ts'

export function folderAssets(dir: string): Assets {
  return {
    async read(name) {
      // Checked again here: a name with a slash could reach any file of the machine.
      if (!isAssetName(name)) return undefined
      try {
        return { body: new Uint8Array(await readFile(join(dir, name))) }
      } catch (error) {
        if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
        throw error
      }
    },
  } satisfies Assets
}
