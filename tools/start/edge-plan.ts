// A runtime of the edge: what it is given, and how it is run (workerd.ts, deno.ts).

import type { ChildSpec } from './child.ts'

export interface EdgePlan {
  port: number
  /** Folder for everything that this edge stores or makes; exists. */
  dir: string
  /** Folder of the built page, there when the edge is started; without one it serves none. */
  consoleDir?: string
  /** The repository's own folder, which holds wrangler.toml. */
  home: string
  /** The variables of the Worker: its secrets, and some of our environment. */
  variables: Readonly<Record<string, string>>
  /** The rest of the process's environment. */
  env: Readonly<Record<string, string>>
  logFile: string
}

/** Makes what the runtime needs; the answer is how to run it. Throws StartError. */
export type PrepareEdge = (plan: EdgePlan) => Promise<ChildSpec>

/** Open streams never end by themselves, and who holds one connects again: not worth a wait. */
export const EDGE_GRACE_MS = 1_000
