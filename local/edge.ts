// The edge of a local system, whichever runtime holds it.

import { ConfigError, readConfig } from '../worker/config.ts'
import type { SignalboxFile } from '../worker/payments/define-config.ts'
import type { ChildSpec } from './child.ts'
import { LOOPBACK } from './ports.ts'
import { StartError } from './start-error.ts'
import { type Patience, tryFetch, until } from './until.ts'

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

/** Makes what the runtime needs and says how to run it. Throws StartError. */
export type PrepareEdge = (plan: EdgePlan) => Promise<ChildSpec>

export const edgeUrl = (port: number): string => `http://${LOOPBACK}:${port}`

/** Open streams never end by themselves, and who holds one connects again: not worth a wait. */
export const EDGE_GRACE_MS = 1_000

/**
 * Refuses here what the Worker would refuse at every request. `embeds`: its database may be a file.
 * Throws StartError.
 */
export function checkVariables(
  variables: Readonly<Record<string, string | undefined>>,
  file: SignalboxFile,
  { embeds = false } = {},
): void {
  try {
    const { auth } = readConfig(variables, file, { embeds })
    if (auth.problem !== undefined) throw new ConfigError(auth.problem)
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    throw new StartError('bad_configuration', error.message, { cause: error })
  }
}

/** Any answer will do: whether the board is in it is the sidecar's to say. */
export function edgeReady(url: string, patience: Patience): Promise<void> {
  return until(async (signal) => {
    const answer = await tryFetch(url, { signal })
    await answer?.body?.cancel()
    return answer !== undefined
  }, patience)
}
