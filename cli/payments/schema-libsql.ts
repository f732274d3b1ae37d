// Reads the tables of schema.sql and of a database with the same queries, so that schema.sql is not
// repeated here.

import { DatabaseSync } from 'node:sqlite'
import type { Database } from '../../worker/payments/ledger/libsql/database-libsql.ts'
import { type Row, statement } from '../../worker/payments/ledger/libsql/statement-libsql.ts'

const COLUMNS = `
  SELECT t.name AS "table", c.name, c.type, c."notnull" AS required, c.dflt_value AS fallback
  FROM sqlite_master t JOIN pragma_table_info(t.name) c
  WHERE t.type = 'table' ORDER BY t.name, c.cid`
/** Indexes of UNIQUE and PRIMARY KEY too, which have no SQL text. */
const INDEXES = `
  SELECT t.name AS "table", i.name, i."unique" AS is_unique, i.origin, m.sql,
    (SELECT group_concat(name) FROM (SELECT name FROM pragma_index_info(i.name) ORDER BY seqno))
      AS columns
  FROM sqlite_master t JOIN pragma_index_list(t.name) i LEFT JOIN sqlite_master m ON m.name = i.name
  WHERE t.type = 'table' ORDER BY t.name, i.name`

export interface Column {
  table: string
  name: string
  type: string
  isRequired: boolean
  fallback: string | undefined
}

export interface Index {
  table: string
  /** For messages. */
  name: string
  /** Equal for two indexes with the same effect. */
  definition: string
}

export interface Schema {
  tables: ReadonlySet<string>
  columns: readonly Column[]
  indexes: readonly Index[]
}

/** The schema that a script creates in an empty database. */
export function schemaOf(script: string): Schema {
  const database = new DatabaseSync(':memory:')
  try {
    database.exec(script)
    const all = (sql: string) => database.prepare(sql).all() as Row[]
    return readSchema(all(COLUMNS), all(INDEXES))
  } finally {
    database.close()
  }
}

/** The schema of a database. Rejects if it cannot be read. */
export async function schemaIn(database: Database): Promise<Schema> {
  const [columns = [], indexes = []] = await database.read([statement(COLUMNS), statement(INDEXES)])
  return readSchema(columns, indexes)
}

function readSchema(columns: readonly Row[], indexes: readonly Row[]): Schema {
  return {
    tables: new Set(columns.map((row) => String(row.table))),
    columns: columns.map((row) => ({
      table: String(row.table),
      name: String(row.name),
      type: String(row.type).toUpperCase(),
      isRequired: Number(row.required) === 1,
      fallback: row.fallback === null ? undefined : String(row.fallback),
    })),
    indexes: indexes.map((row) => {
      const table = String(row.table)
      const what = `${table} (${row.columns})`
      if (row.origin !== 'c')
        return { table, name: `the unique ${what}`, definition: `unique ${what}` }
      const [, where = ''] = /\bWHERE\b(.*)$/is.exec(String(row.sql)) ?? []
      const definition = [
        Number(row.is_unique) === 1 ? 'unique' : 'index',
        what,
        normal(where),
      ].join(' ')
      return { table, name: String(row.name), definition }
    }),
  }
}

const normal = (sql: string): string => sql.replace(/\s+/g, ' ').trim().toLowerCase()
