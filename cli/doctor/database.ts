// The doctor's checks of the database of payments: that it can be read, its engine, its schema, and
// what its token allows.

import { existsSync } from 'node:fs'
import { decodeJwt } from 'jose'
import { isServed, type PaymentsConfig } from '../../worker/payments/config/payments-config.ts'
import type { Database } from '../../worker/payments/ledger/libsql/database-libsql.ts'
import {
  embeddedDatabase,
  fileOf,
  isEmbedded,
} from '../../worker/payments/ledger/libsql/embedded-libsql.ts'
import { libsqlDatabase } from '../../worker/payments/ledger/libsql/http-libsql.ts'
import {
  mismatchOf,
  readEngine,
  readSchemaState,
  SCHEMA_VERSION,
} from '../../worker/payments/ledger/libsql/schema-version-libsql.ts'
import { isSafeForSecrets } from '../../worker/shared/loopback.ts'
import { error, type Finding, ok, warn } from '../findings.ts'

const SOON_MS = 7 * 86_400_000

/** `now` in ms. */
export async function checkDatabase(
  { url, authToken }: PaymentsConfig['database'],
  now: number,
): Promise<Finding[]> {
  if (isEmbedded(url)) return await checkFile(fileOf(url))
  // Other URLs were already refused by the check of the configuration.
  if (!(URL.canParse(url) && isServed(url))) return []
  const findings = [...checkHost(new URL(url)), ...checkToken(authToken, now)]
  const target = authToken === undefined ? { url } : { url, authToken }
  // Only the host is shown: the rest may hold a token.
  const { host } = new URL(url)
  return [...findings, ...(await checkSchema(libsqlDatabase(target, Date.now), host))]
}

/** A process may be writing to it: readers do not disturb it. */
async function checkFile(file: string): Promise<Finding[]> {
  // To open it would make it.
  if (!existsSync(file)) return [error('database', `There is no file ${file}.`)]
  const database = embeddedDatabase(file)
  try {
    return await checkSchema(database, file)
  } finally {
    database.close()
  }
}

async function checkSchema(database: Database, name: string): Promise<Finding[]> {
  try {
    const mismatch = mismatchOf(await readSchemaState(database.read), SCHEMA_VERSION)
    return [
      await checkEngine(database, name),
      mismatch ? error('schema', mismatch) : ok('schema', `It has schema ${SCHEMA_VERSION}.`),
    ]
  } catch (thrown) {
    return [error('database', `${name} cannot be read: ${whyOf(thrown)}.`)]
  }
}

/** Turso has two, and only one of them is libSQL. @forTests An engine that nobody can run here. */
export async function checkEngine(
  { read }: Pick<Database, 'read'>,
  name: string,
): Promise<Finding> {
  const engine = await readEngine(read).catch(() => undefined)
  if (engine?.isLibsql) return ok('database', `${name} can be read (libSQL, ${engine.version}).`)
  const met = engine ? `SQLite ${engine.version}` : 'an engine that does not say what it is'
  const why = 'Signalbox is tested with libSQL alone, and what another one lacks is not known'
  return warn('database', `${name} is ${met}: ${why}. Use turso db create without --tursodb.`)
}

function checkHost(url: URL): Finding[] {
  // libsql: uses TLS by default.
  if (isSafeForSecrets(url) || url.protocol === 'libsql:') return []
  return [warn('database', `${url.host} is not https: others on the network can read payments.`)]
}

/** Checks the token's claims. Only the database knows whether the token is valid. */
function checkToken(token: string | undefined, now: number): Finding[] {
  const { exp, a: access } = token === undefined ? {} : claimsOf(token)
  const leftMs = exp === undefined ? Number.POSITIVE_INFINITY : exp * 1_000 - now
  return [
    ...(access === 'ro'
      ? [error('database', 'LIBSQL_AUTH_TOKEN can only read: no payment can be stored.')]
      : []),
    ...(leftMs <= 0 ? [error('database', 'LIBSQL_AUTH_TOKEN has expired.')] : []),
    ...(leftMs > 0 && leftMs < SOON_MS
      ? [warn('database', `LIBSQL_AUTH_TOKEN expires at ${new Date(now + leftMs).toISOString()}.`)]
      : []),
  ]
}

function claimsOf(token: string) {
  try {
    return decodeJwt<{ a?: unknown }>(token)
  } catch {
    // A server of your own may use other tokens.
    return {}
  }
}

function whyOf(thrown: unknown): string {
  const cause = thrown instanceof Error && thrown.cause !== undefined ? thrown.cause : thrown
  const deepest = cause instanceof Error && cause.cause !== undefined ? cause.cause : cause
  const text = deepest instanceof Error ? deepest.message : String(deepest)
  return text.replace(/\.$/, '')
}
