// What a checkout has beyond the package, where tools/package/edition.ts is in place of this file
// (`imports` of package.json).

import { join } from 'node:path'
import type { Command } from './command.ts'

export interface Edition {
  /** The console's page, for an edge with this folder. It may be named before it is filled. */
  consoleIn(edgeDir: string): { dir: string; ready: Promise<unknown> }
  /** It runs workerd, Deno and libSQL's server. Absent: they are not installed. */
  start?: () => Promise<Command>
}

export const edition: Edition = {
  consoleIn(edgeDir) {
    const dir = join(edgeDir, 'console')
    // Its sources may have changed since the last start.
    return { dir, ready: import('../local/bundle.ts').then((it) => it.bundleConsole(dir)) }
  },
  start: () => import('./commands/start.ts'),
}
