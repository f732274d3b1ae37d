// The texts by which payments are found, on libSQL: one row beside each payment.

import type { TransactionRow } from '../../domain/rows.ts'
import { searchText } from '../../domain/search.ts'
import { type Row, type Statement, statement, WITH_ROWS } from './statement-libsql.ts'

type Searched = Pick<TransactionRow, 'id' | 'reference' | 'description' | 'metadata'>

const INSERT = `${WITH_ROWS} REPLACE INTO payment_search (n, text) SELECT t.rowid, v ->> 1
  FROM rows CROSS JOIN payment_transactions t WHERE t.id = v ->> 0`

/** The texts of payments that the same transaction inserts. */
export const insertTexts = (rows: readonly Searched[]): Statement[] =>
  rows.length === 0 ? [] : [statement(INSERT, { rows: textsOf(rows) })]

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
