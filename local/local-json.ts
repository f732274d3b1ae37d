// local.json: where a running system is and how to be let in, for programs on the same machine.
// It stands there exactly while the system is ready: whoever finds it may connect.

import { rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { LocalGateways } from './gateways.ts'
import type { LocalTokens } from './tokens.ts'

export interface LocalJson {
  /** Of the edge. */
  url: string
  /** The repository's name there. */
  path: string
  /** URL of the libSQL server. */
  database: string
  /** What the libSQL server asks for: reads and writes all that is in it. */
  databaseToken: string
  /** URL of the gateway simulator. */
  simulator: string
  tokens: LocalTokens
  /** What it takes to speak for a gateway: its webhooks are signed with these. */
  gateways: LocalGateways
  /** Where events are posted to, and what signs them; absent where nobody asked for them. */
  eventsUrl?: string
  eventsSecret?: string
}

const fileIn = (dataDir: string): string => join(dataDir, 'local.json')

/** Readable by its owner alone: it holds tokens. Whole or not there, never half-written. */
export async function writeLocalJson(dataDir: string, local: LocalJson): Promise<void> {
  const file = fileIn(dataDir)
  const fresh = `${file}.tmp`
  await rm(fresh, { force: true })
  await writeFile(fresh, `${JSON.stringify(local, null, 2)}\n`, { mode: 0o600, flag: 'wx' })
  await rename(fresh, file)
}

export const removeLocalJson = (dataDir: string): Promise<void> =>
  rm(fileIn(dataDir), { force: true })
