// A query of libSQL: statements that are read together, and a function that reads their rows. Long
// rows are read in parts, by their bytes: an answer of its server ends at 10 MB.

import { unreadableReason } from '../domain/rows.ts'
import type { Listed } from '../domain/types.ts'
import { type Database, reachable } from '../ledger/libsql/database-libsql.ts'
import { schemaMismatch } from '../ledger/libsql/schema-version-libsql.ts'
import {
  type Given,
  type Row,
  type Statement,
  statement,
  type Value,
} from '../ledger/libsql/statement-libsql.ts'

export interface Query<Result> {
  statements: readonly Statement[]
  /** `results`: the rows of each statement. */
  read(results: readonly (readonly Row[])[]): Result
}

/** The conditions of a query, each with its AND. False: it does not have this one. */
export const allOf = (conditions: readonly (string | false)[]): string =>
  conditions.map((condition) => (condition === false ? '' : `AND ${condition}`)).join(' ')

/** As the tables have them. */
export const rowsOf = <Stored>(rows: readonly Row[] = []) => rows as unknown as readonly Stored[]

export type RunQuery = ReturnType<typeof queryRunner>

/**
 * Reads do not wait for writes. `refuseOther` throws OtherDatabase. Rejects with that,
 * LedgerUnavailable or SchemaMismatch.
 */
export const queryRunner =
  (database: Database, refuseOther: () => void | Promise<void>) =>
  async <Result>({ statements, read }: Query<Result>): Promise<Result> => {
    await refuseOther()
    const rows = await reachable(database.read(statements)).catch(async (error: unknown) => {
      const isSchemaError = /no such (table|column)/.test(String(error))
      throw (isSchemaError && (await schemaMismatch(database, error))) || error
    })
    return read(rows)
  }

/** With what a row does not repeat of its payment. */
export const AUDIT_SQL = `SELECT a.*, t.gateway, t.reference, t.currency
  FROM payment_audit a LEFT JOIN payment_transactions t ON t.id = a.transaction_id`

/** What gateways sent, in one story or page. */
const MAX_RAW_BYTES = 4 << 20
/** Of one table in one answer, which has several: quotes within a JSON text count twice there. */
const PART_BYTES = 1 << 20

export const LIMITS = { raw_most: MAX_RAW_BYTES, part_most: PART_BYTES }

/** All rows of `sql`, in their order. `first`: its first part, if that is read. */
export async function inParts<Stored>(
  run: RunQuery,
  sql: string,
  args: Given,
  first?: readonly Row[],
): Promise<Stored[]> {
  const read = (after: Value) =>
    run({
      statements: [statement(sql, { ...args, read_upto: after, ...LIMITS })],
      read: ([rows = []]) => rows,
    })
  const all: Row[] = []
  for (let part = first ?? (await read(0)); ; part = await read(part.at(-1)?.at ?? 0)) {
    all.push(...part)
    if (part.length === 0 || part.length >= Number(part[0]?.rows_left)) return all as Stored[]
  }
}

export interface Table {
  name: string
  /** Of the row `e`. */
  columns: readonly string[]
  /** Bytes of what may be long. */
  own: string
  raw?: string
}

/** Of what may be long. */
export const bytesOf = (column: string) => `coalesce(length(CAST(e.${column} AS BLOB)), 0)`
/** Of the other columns of a row, with their names. */
const ROW_BYTES = 1_000

/**
 * As many rows after `:read_upto` as are small enough together, at least one. `picked`: `n`, the
 * rowid, and `at`, their order. Each has the number of rows that were left.
 */
export function partOf({ name, columns, own, raw }: Table, picked: string): string {
  const rawOf = (value: string, other: string) =>
    raw === undefined ? [] : [`iif(p.raw_sum <= :raw_most, ${value}, ${other})`]
  const shown = [
    ...columns,
    ...rawOf(`e.${raw}`, 'NULL').map((sql) => `${sql} AS raw`),
    ...rawOf('NULL', 'p.raw_bytes').map((sql) => `${sql} AS raw_bytes`),
  ]
  return `WITH picked(n, at) AS (${picked}),
    sized AS (SELECT n, at, ${ROW_BYTES} + ${own} AS own,
        ${raw === undefined ? '0' : bytesOf(raw)} AS raw_bytes
      FROM picked CROSS JOIN ${name} e WHERE e.rowid = n),
    summed AS (SELECT *, sum(raw_bytes) OVER (ORDER BY at) AS raw_sum FROM sized),
    parts AS (SELECT *, sum(own) OVER (ORDER BY at) - own AS before, count(*) OVER () AS rows_left
      FROM summed WHERE at > :read_upto)
    SELECT ${shown.join(', ')}, p.at, p.rows_left FROM parts p CROSS JOIN ${name} e
      WHERE e.rowid = p.n AND p.before < :part_most ORDER BY p.at`
}

/** Reads a row of a list: if one cannot be read, the others still are. */
export const listed =
  <Stored extends { id: string }, Item>(read: (row: Stored) => Item) =>
  (row: Stored): Listed<Item> => {
    try {
      return read(row)
    } catch (error) {
      const why = unreadableReason(error)
      return { id: row.id, code: 'unreadable', invalid: `The row cannot be read: ${why}.` }
    }
  }
