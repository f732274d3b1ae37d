// The page's files in a folder of the host's, under Deno and Node alike.

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Assets, isAssetName } from './assets.ts'

export function folderAssets(dir: string): Assets {
  return {
    async read(name) {
      // Asked once more, because a name with a slash would be a file of the machine.
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
