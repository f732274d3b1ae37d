// The doctor's check of the database: it can be read, and has the schema of this version. It writes
// nothing.

import { existsSync } from 'node:fs'
import { decodeJwt } from 'jose'
import type { PaymentsConfig } from '../../worker/payments/config.ts'
import {
  embeddedDatabase,
  fileOf,
  isEmbedded,
} from '../../worker/payments/ledger/libsql/embedded-libsql.ts'
import { type Database, libsqlDatabase } from '../../worker/payments/ledger/libsql/http-libsql.ts'
import {
  mismatchOf,
  readSchemaState,
  SCHEMA_VERSION,
} from '../../worker/payments/ledger/libsql/schema-version-libsql.ts'
import { isPrivate } from '../../worker/shared/loopback.ts'
import { error, type Finding, ok, warn } from '../findings.ts'

const SOON_MS = 7 * 86_400_000

/** `now` in ms. */
export async function checkDatabase(
  { url, authToken }: PaymentsConfig['database'],
  now: number,
): Promise<Finding[]> {
  if (isEmbedded(url)) return await checkFile(fileOf(url))
  // Other URLs were already refused by the check of the configuration.
  if (!(URL.canParse(url) && /^(libsql|https?):$/.test(new URL(url).protocol))) return []
  const findings = [...checkPlace(new URL(url)), ...checkToken(authToken, now)]
  const place = authToken === undefined ? { url } : { url, authToken }
  // Only the host is shown: the rest may hold a token.
  const { host } = new URL(url)
  return [...findings, ...(await checkSchema(libsqlDatabase(place, Date.now), host))]
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
      ok('database', `${name} can be read.`),
      mismatch ? error('schema', mismatch) : ok('schema', `It has schema ${SCHEMA_VERSION}.`),
    ]
  } catch (thrown) {
    return [error('database', `${name} cannot be read: ${whyOf(thrown)}.`)]
  }
}

function checkPlace(url: URL): Finding[] {
  // libsql: uses TLS by default.
  if (isPrivate(url) || url.protocol === 'libsql:') return []
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
