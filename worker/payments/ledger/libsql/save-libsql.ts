// Saves what a group of operations has changed: one INSERT a table, and one UPDATE for each set of
// columns that changed together. No rule stands here.
//
// An UPDATE names only columns that changed: every index over a named column is written anew, also
// with the same value. And a value that nobody here could read stays as it is.

import { TABLES, type TableName, type TableRow, type WorkingSet } from '../working-set.ts'
import { type Statement, statement } from './database-libsql.ts'
import { COLUMNS, TABLE } from './tables-libsql.ts'

/**
 * In the order in which rows refer to each other; empty where nothing changed. Updates come first:
 * a new row may take over a name that must be unique, from a row that gives it up.
 */
export const saveOf = (rows: WorkingSet): Statement[] =>
  TABLES.flatMap((name) => {
    const { inserted, updated } = rows.changesOf(name)
    return [...updatesOf(name, updated), ...insertOf(name, inserted)]
  })

function insertOf(name: TableName, rows: readonly TableRow[]): Statement[] {
  if (rows.length === 0) return []
  const columns: readonly string[] = COLUMNS[name]
  const values = columns.map((_, at) => `value ->> ${at}`)
  const sql = `INSERT INTO ${TABLE[name]} (${columns.join(', ')})
    SELECT ${values.join(', ')} FROM json_each(:rows)`
  return [statement(sql, { rows: toJson(rows, columns) })]
}

function updatesOf(
  name: TableName,
  updated: readonly { before: TableRow; after: TableRow }[],
): Statement[] {
  const together = new Map<string, TableRow[]>()
  for (const { before, after } of updated) {
    const changed = COLUMNS[name].filter(
      (column) => valueIn(before, column) !== valueIn(after, column),
    )
    if (changed.length === 0) continue
    const key = changed.join()
    together.set(key, [...(together.get(key) ?? []), after])
  }
  return [...together].map(([key, rows]) => {
    const columns = key.split(',')
    const values = columns.map((column, at) => `${column} = v ->> ${at + 1}`)
    const sql = `UPDATE ${TABLE[name]} SET ${values.join(', ')}
      FROM (SELECT value AS v FROM json_each(:rows)) WHERE id = v ->> 0`
    return statement(sql, { rows: toJson(rows, ['id', ...columns]) })
  })
}

const valueIn = (row: TableRow, column: string): unknown =>
  (row as unknown as Record<string, unknown>)[column]

/** Half a surrogate pair has no UTF-8: for one of them the server refuses the whole batch. */
const toJson = (rows: readonly TableRow[], columns: readonly string[]): string =>
  JSON.stringify(
    rows.map((row) =>
      columns.map((column) => {
        const value = valueIn(row, column)
        return typeof value === 'string' ? value.toWellFormed() : value
      }),
    ),
  )
