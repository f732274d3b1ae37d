// The doctor's check of the database: it can be read and has the schema of schema.sql. It writes
// nothing.

import { existsSync } from 'node:fs'
import { decodeJwt } from 'jose'
import type { Scripts } from '../../local/database/scripts.ts'
import type { PaymentsConfig } from '../../worker/payments/config.ts'
import {
  type Database,
  libsqlDatabase,
} from '../../worker/payments/ledger/libsql/database-libsql.ts'
import {
  embeddedDatabase,
  fileOf,
  isEmbedded,
} from '../../worker/payments/ledger/libsql/embedded-libsql.ts'
import {
  mismatchOf,
  readSchemaState,
} from '../../worker/payments/ledger/libsql/schema-version-libsql.ts'
import { isPrivate } from '../../worker/shared/loopback.ts'
import { error, type Finding, ok, some, warn } from '../findings.ts'
import { type Column, type Schema, schemaIn, schemaOf } from './schema-libsql.ts'

const SOON_MS = 7 * 86_400_000

/** `now` in ms. */
export async function checkDatabase(
  { url, authToken }: PaymentsConfig['database'],
  scripts: Scripts,
  now: number,
): Promise<Finding[]> {
  if (isEmbedded(url)) return await checkFile(fileOf(url), scripts)
  // Other URLs were already refused by the check of the configuration.
  if (!(URL.canParse(url) && /^(libsql|https?):$/.test(new URL(url).protocol))) return []
  const findings = [...checkPlace(new URL(url)), ...checkToken(authToken, now)]
  const place = authToken === undefined ? { url } : { url, authToken }
  // Only the host is shown: the rest may hold a token.
  const { host } = new URL(url)
  return [...findings, ...(await checkSchema(libsqlDatabase(place, Date.now), host, scripts))]
}

/** A process may be writing to it: readers do not disturb it. */
async function checkFile(file: string, scripts: Scripts): Promise<Finding[]> {
  // To open it would make it.
  if (!existsSync(file)) return [error('database', `There is no file ${file}.`)]
  const database = embeddedDatabase(file)
  try {
    return await checkSchema(database, file, scripts)
  } finally {
    database.close()
  }
}

async function checkSchema(database: Database, name: string, scripts: Scripts): Promise<Finding[]> {
  try {
    const state = await readSchemaState(database.read)
    const actual = await schemaIn(database)
    const mismatch = mismatchOf(state, scripts.version)
    const findings = mismatch ? [error('schema', mismatch)] : compare(scripts, actual)
    return [ok('database', `${name} can be read.`), ...findings]
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

function compare({ text, version }: Scripts, actual: Schema): Finding[] {
  const expected = schemaOf(text)
  const tables = [...expected.tables].filter((table) => !actual.tables.has(table))
  const inTables = <Part extends { table: string }>(parts: readonly Part[]) =>
    parts.filter(({ table }) => !tables.includes(table))
  const found = (column: Column) =>
    actual.columns.find(({ table, name }) => table === column.table && name === column.name)
  const columns = inTables(expected.columns).filter((column) => !found(column))
  const changed = inTables(expected.columns).filter((column) => {
    const other = found(column)
    return other && (other.type !== column.type || other.isRequired !== column.isRequired)
  })
  const definitions = new Set(actual.indexes.map((index) => index.definition))
  const indexes = inTables(expected.indexes).filter((index) => !definitions.has(index.definition))
  const findings = [
    ...(tables.length > 0 ? [missing(tables.length === 1 ? 'table' : 'tables', tables)] : []),
    ...(columns.length > 0 ? [missingColumns(columns)] : []),
    ...(changed.length > 0
      ? [error('schema', `Their type differs from schema.sql: ${some(named(changed))}.`)]
      : []),
    ...(indexes.length > 0
      ? [
          missing(
            indexes.length === 1 ? 'index' : 'indexes',
            indexes.map(({ name }) => name),
          ),
        ]
      : []),
  ]
  if (findings.length > 0) return findings
  return [ok('schema', `All ${expected.tables.size} tables of schema ${version} exist.`)]
}

const named = (columns: readonly Column[]) => columns.map(({ table, name }) => `${table}.${name}`)

const missing = (what: string, names: readonly string[]): Finding =>
  error('schema', `The database does not have the ${what} ${some(names)}: run signalbox migrate.`)

/** The schema number is right, so the columns were removed, and no migration adds them again. */
function missingColumns(columns: readonly Column[]): Finding {
  const noun = columns.length === 1 ? 'column' : 'columns'
  const alter = columns.map(({ table, name, type, isRequired, fallback }) => {
    const value = fallback === undefined ? '' : ` DEFAULT ${fallback}`
    return `ALTER TABLE ${table} ADD COLUMN ${name} ${type}${isRequired ? ' NOT NULL' : ''}${value}`
  })
  const sentence = `The database does not have the ${noun} ${some(named(columns))}`
  return error(
    'schema',
    `${sentence}, and schema.sql does not add it to an existing table: ${some(alter)}.`,
  )
}

function whyOf(thrown: unknown): string {
  const cause = thrown instanceof Error && thrown.cause !== undefined ? thrown.cause : thrown
  const deepest = cause instanceof Error && cause.cause !== undefined ? cause.cause : cause
  const text = deepest instanceof Error ? deepest.message : String(deepest)
  return text.replace(/\.$/, '')
}
