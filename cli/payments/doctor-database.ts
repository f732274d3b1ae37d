// The doctor's check of the database: it can be read, and has all that schema.sql makes. It writes
// nothing.

import { decodeJwt } from 'jose'
import type { Scripts } from '../../local/database/scripts.ts'
import type { PaymentsConfig } from '../../worker/payments/config.ts'
import { libsqlDatabase } from '../../worker/payments/ledger/libsql/database-libsql.ts'
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
  // Any other has been refused with the configuration.
  if (!(URL.canParse(url) && /^(libsql|https?):$/.test(new URL(url).protocol))) return []
  // The rest of it may hold a token.
  const { host } = new URL(url)
  const findings = [...checkPlace(new URL(url)), ...checkToken(authToken, now)]
  const place = authToken === undefined ? { url } : { url, authToken }
  const database = libsqlDatabase(place, Date.now)
  try {
    const state = await readSchemaState(database.read)
    const actual = await schemaIn(database)
    const mismatch = mismatchOf(state, scripts.version)
    findings.push(ok('database', `${host} can be read.`))
    return [...findings, ...(mismatch ? [error('schema', mismatch)] : compare(scripts, actual))]
  } catch (thrown) {
    return [...findings, error('database', `${host} cannot be read: ${whyOf(thrown)}.`)]
  }
}

function checkPlace(url: URL): Finding[] {
  // libsql: is TLS, unless it says otherwise.
  if (isPrivate(url) || url.protocol === 'libsql:') return []
  return [warn('database', `${url.host} is not https: payments can be read on the way.`)]
}

/** What the token says of itself; whether it is good only the database can tell. */
function checkToken(token: string | undefined, now: number): Finding[] {
  const { exp, a: access } = token === undefined ? {} : claimsOf(token)
  const leftMs = exp === undefined ? Number.POSITIVE_INFINITY : exp * 1_000 - now
  return [
    ...(access === 'ro'
      ? [error('database', 'LIBSQL_AUTH_TOKEN may only read: no payment could be stored.')]
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
    // Servers of one's own may take other tokens.
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
  const does = new Set(actual.indexes.map((index) => index.does))
  const indexes = inTables(expected.indexes).filter((index) => !does.has(index.does))
  const findings = [
    ...(tables.length > 0 ? [lacking(tables.length === 1 ? 'table' : 'tables', tables)] : []),
    ...(columns.length > 0 ? [lackingColumns(columns)] : []),
    ...(changed.length > 0
      ? [error('schema', `Of another type than schema.sql has them: ${some(named(changed))}.`)]
      : []),
    ...(indexes.length > 0
      ? [
          lacking(
            indexes.length === 1 ? 'index' : 'indexes',
            indexes.map(({ name }) => name),
          ),
        ]
      : []),
  ]
  if (findings.length > 0) return findings
  return [ok('schema', `All ${expected.tables.size} tables of schema ${version} are there.`)]
}

const named = (columns: readonly Column[]) => columns.map(({ table, name }) => `${table}.${name}`)

const lacking = (what: string, names: readonly string[]): Finding =>
  error('schema', `The database lacks the ${what} ${some(names)}: run signalbox migrate.`)

/** The number of the schema is right: somebody took them away, and no migration adds them again. */
function lackingColumns(columns: readonly Column[]): Finding {
  const word = columns.length === 1 ? 'column' : 'columns'
  const alter = columns.map(({ table, name, type, isRequired, fallback }) => {
    const value = fallback === undefined ? '' : ` DEFAULT ${fallback}`
    return `ALTER TABLE ${table} ADD COLUMN ${name} ${type}${isRequired ? ' NOT NULL' : ''}${value}`
  })
  const sentence = `The database lacks the ${word} ${some(named(columns))}`
  return error('schema', `${sentence}, which schema.sql adds to no table: ${some(alter)}.`)
}

function whyOf(thrown: unknown): string {
  const cause = thrown instanceof Error && thrown.cause !== undefined ? thrown.cause : thrown
  const deepest = cause instanceof Error && cause.cause !== undefined ? cause.cause : cause
  const text = deepest instanceof Error ? deepest.message : String(deepest)
  return text.replace(/\.$/, '')
}
