// How changed rows are saved: one INSERT a table, and one UPDATE for each set of columns that
// changed together. It names only those: every index over a named column is written again, also
// with the same value. And a value that this code cannot read stays as it is.

import type { WorkingSet } from '../../acts/act.ts'
import {
  type NoteRow,
  TABLE_NAMES,
  TABLES,
  type TableName,
  type TableRow,
  type TransactionRow,
} from '../../domain/rows.ts'
import { fold, searchText } from '../../domain/search.ts'
import { pauseAs } from './ledger-row-libsql.ts'
import { insertRows, type Row, type Statement, statement, WITH_ROWS } from './statement-libsql.ts'

/**
 * In the order in which rows refer to each other; empty where nothing changed. Updates come first:
 * a new row may take over a name that must be unique, from a row that gives it up.
 */
export const saveOf = (rows: WorkingSet): Statement[] => [
  ...(rows.isPauseChanged ? [pauseAs(rows.pause)] : []),
  ...TABLE_NAMES.flatMap((name) => {
    const { inserted, updated } = rows.changesOf(name)
    return [...updatesOf(name, updated), ...insertOf(name, inserted)]
  }),
  ...insertTexts(rows.changesOf('transactions').inserted),
  ...addTexts(rows.changesOf('notes').inserted),
]

function insertOf(name: TableName, rows: readonly TableRow[]): Statement[] {
  if (rows.length === 0) return []
  const { name: table, names: columns }: { name: string; names: readonly string[] } = TABLES[name]
  // A call that is repeated has asked once.
  const isOnce = name === 'audit' || name === 'notes'
  const again = isOnce ? ' ON CONFLICT (id) DO NOTHING' : ''
  return [statement(insertRows(table, columns) + again, { rows: toJson(rows, columns) })]
}

function updatesOf(
  name: TableName,
  updated: readonly { before: TableRow; after: TableRow }[],
): Statement[] {
  const together = new Map<string, TableRow[]>()
  for (const { before, after } of updated) {
    const changed = TABLES[name].names.filter(
      (column) => valueIn(before, column) !== valueIn(after, column),
    )
    if (changed.length === 0) continue
    const key = changed.join()
    together.set(key, [...(together.get(key) ?? []), after])
  }
  return [...together].map(([key, rows]) => {
    const columns = key.split(',')
    const values = columns.map((column, at) => `${column} = v ->> ${at + 1}`)
    const sql = `${WITH_ROWS} UPDATE ${TABLES[name].name} SET ${values.join(', ')}
      FROM rows WHERE id = v ->> 0`
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
        if (typeof value === 'string') return value.toWellFormed()
        // A save that cannot be stored is refused whole, and what causes that then fails alone.
        if (typeof value === 'number' && !Number.isSafeInteger(value)) {
          throw new RangeError(`${column} is ${value}, which is not a whole number`)
        }
        return value
      }),
    ),
  )

type Searched = Pick<TransactionRow, 'id' | 'reference' | 'description' | 'metadata'>

const INSERT = `${WITH_ROWS} REPLACE INTO payment_search (n, text) SELECT t.rowid, v ->> 1
  FROM rows CROSS JOIN payment_transactions t WHERE t.id = v ->> 0`

/** The texts by which payments are found, one row beside each that the same save inserts. */
const insertTexts = (rows: readonly Searched[]): Statement[] =>
  rows.length === 0 ? [] : [statement(INSERT, { rows: textsOf(rows) })]

/** A note is a further line of what its payment is found by; the same line is not needed twice. */
const ADD = `${WITH_ROWS} UPDATE payment_search SET text = text || (v ->> 1)
  FROM rows CROSS JOIN payment_transactions t
  WHERE t.id = v ->> 0 AND n = t.rowid AND instr(text, char(10) || (v ->> 1)) = 0`

const addTexts = (notes: readonly NoteRow[]): Statement[] =>
  notes.map((note) => {
    const lines = JSON.stringify([[note.transaction_id, `${fold(note.text)}\n`]])
    return statement(ADD, { rows: lines })
  })

/** As JSON: the id and the text of each. A row that cannot be read is found by its reference. */
const textsOf = (rows: readonly Searched[]): string =>
  JSON.stringify(rows.map((row) => [row.id, textOf(row)]))

function textOf(row: Searched): string {
  try {
    return searchText(row)
  } catch {
    return searchText({ ...row, metadata: null })
  }
}

/** For a step of a migration that has `:texts`: those of the payments between two ids. */
export async function textsBetween(
  read: (statements: readonly Statement[]) => Promise<Row[][]>,
  ids: { after: string; upto: string },
): Promise<string> {
  const sql = `SELECT id, reference, description, metadata FROM payment_transactions
    WHERE id > :after AND id <= :upto ORDER BY id`
  const [rows = []] = await read([statement(sql, ids)])
  return textsOf(rows as unknown as Searched[])
}
