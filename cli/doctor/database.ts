// The doctor's checks of the database of payments: that it can be read, its engine, its schema, and
// what its token allows.

import { existsSync } from 'node:fs'
import { decodeJwt } from 'jose'
import { hasPayments, VARIABLE } from '../../system/database/installation.ts'
import { isServed, type PaymentsConfig } from '../../worker/payments/config/payments-config.ts'
import { SCHEMA_VERSION } from '../../worker/payments/domain/rows.ts'
import { isoTime } from '../../worker/payments/domain/time.ts'
import type { Database } from '../../worker/payments/ledger/libsql/database-libsql.ts'
import {
  type EmbeddedDatabase,
  embeddedDatabase,
  fileOf,
  isEmbedded,
} from '../../worker/payments/ledger/libsql/embedded-libsql.ts'
import { libsqlDatabase } from '../../worker/payments/ledger/libsql/http-libsql.ts'
import {
  otherThan,
  readInstallation,
  readPause,
} from '../../worker/payments/ledger/libsql/ledger-row-libsql.ts'
import {
  mismatchOf,
  readEngine,
  readSchemaState,
} from '../../worker/payments/ledger/libsql/schema-version-libsql.ts'
import { statement } from '../../worker/payments/ledger/libsql/statement-libsql.ts'
import { isDamaged } from '../../worker/shared/file-errors.ts'
import { isSafeForSecrets } from '../../worker/shared/loopback.ts'
import { printable } from '../../worker/shared/printable.ts'
import { error, type Finding, ok, warn } from './findings.ts'

type Guarded = Pick<PaymentsConfig, 'installation' | 'realGateways'>
type Checked = Guarded & Pick<PaymentsConfig, 'database'>

const SOON_MS = 7 * 86_400_000

/** `now` in ms. */
export async function checkDatabase(
  { database: { url, authToken }, ...guarded }: Checked,
  now: number,
): Promise<Finding[]> {
  if (isEmbedded(url)) return await checkFile(fileOf(url), guarded)
  // Other URLs were already refused by the check of the configuration.
  if (!(URL.canParse(url) && isServed(url))) return []
  const findings = [...checkHost(new URL(url)), ...checkDatabaseToken(authToken, now)]
  const target = authToken === undefined ? { url } : { url, authToken }
  // Only the host is shown: the rest may hold a token.
  const { host } = new URL(url)
  const database = libsqlDatabase(target, Date.now)
  return [...findings, ...(await checkSchema(database, host, guarded))]
}

/** A process may be writing to it: readers do not disturb it. */
async function checkFile(file: string, guarded: Guarded): Promise<Finding[]> {
  // To open it would make it.
  if (!existsSync(file)) return [error('database', `There is no file ${file}.`)]
  let database: EmbeddedDatabase
  try {
    database = embeddedDatabase(file)
  } catch (thrown) {
    return [unreadable(file, thrown)]
  }
  try {
    const findings = await checkSchema(database, file, guarded)
    return [...findings, ...(await checkPages(database))]
  } catch (thrown) {
    return [unreadable(file, thrown)]
  } finally {
    database.close()
  }
}

/** A reader beside the writer, for as long as all pages take. */
async function checkPages({ read }: Pick<Database, 'read'>): Promise<Finding[]> {
  const [[row] = []] = await read([statement('PRAGMA quick_check')])
  if (row?.quick_check === 'ok') return []
  const why = `its pages are damaged (${row?.quick_check})`
  return [error('database', `The file cannot be trusted: ${why}. See signalbox restore.`)]
}

async function checkSchema(database: Database, name: string, guarded: Guarded): Promise<Finding[]> {
  try {
    const mismatch = mismatchOf(await readSchemaState(database.read), SCHEMA_VERSION)
    return [
      await checkEngine(database, name),
      mismatch ? error('schema', mismatch) : ok('schema', `It has schema ${SCHEMA_VERSION}.`),
      ...(await checkInstallation(database, guarded)),
      ...(mismatch ? [] : await checkPause(database)),
    ]
  } catch (thrown) {
    return [unreadable(name, thrown)]
  }
}

const unreadable = (name: string, thrown: unknown): Finding =>
  isDamaged(thrown)
    ? error('database', `${name} is damaged (${whyOf(thrown)}). See signalbox restore.`)
    : error('database', `${name} cannot be read: ${whyOf(thrown)}.`)

async function checkPause(database: Pick<Database, 'read'>): Promise<Finding[]> {
  const pause = await readPause(database)
  if (!pause) return []
  const since = `since ${isoTime(pause.since)}, by ${printable(pause.by)}`
  return [warn('payments', `They are paused ${since}. See signalbox payments resume.`)]
}

/** Without its id, an empty database would be taken for it. */
async function checkInstallation(
  { read }: Pick<Database, 'read'>,
  { installation, realGateways }: Guarded,
): Promise<Finding[]> {
  const found = await readInstallation(read)
  if (installation !== undefined) {
    const why = otherThan(found, installation)
    return why === undefined ? [] : [error('database', `It is another one: ${why}.`)]
  }
  if (found.is !== 'made' || !(await hasPayments(read, realGateways))) return []
  const guard = `${VARIABLE}=${found.id} guards against an empty one`
  return [warn('database', `Nothing says which database it is to be: ${guard}.`)]
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
function checkDatabaseToken(token: string | undefined, now: number): Finding[] {
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
