// Compiled code, kept in the data folder for the next start.

import { existsSync, statSync } from 'node:fs'
import * as nodeModule from 'node:module'
import { join } from 'node:path'
import { isOwnersAlone } from '../local/data-folder.ts'

/** Deno has none. */
const { enableCompileCache }: Partial<typeof nodeModule> = nodeModule

/**
 * Called before the code of the command is loaded: without it, 0.4 s of a start are spent on
 * removing the types from its sources, with it 0.1 s.
 */
export function keepCompiled(dataDir: string): void {
  // A folder that others may write to could contain their code. Any other folder is made, closed or
  // refused later, and until then nothing may be put there.
  if (existsSync(dataDir) && isOwnersAlone(statSync(dataDir))) {
    enableCompileCache?.(join(dataDir, 'cache/compiled'))
  }
}
