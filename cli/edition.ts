// What the checkout and the package have differently: `#edition` is one of the two
// (tools/start/edition.ts, tools/package/edition.ts).

import type { Listed } from './command.ts'

export interface Edition {
  /** The console's page, for an edge with this folder. It may be named before it is filled. */
  consoleIn(edgeDir: string): { dir: string; ready: Promise<unknown> }
  /** The installed package, which a Worker is made of. Absent: it is a clone. */
  packageDir?: string
  /** It runs workerd, Deno and libSQL's server. Absent: they are not installed. */
  start?: Listed['load']
}
