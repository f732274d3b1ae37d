// The texts by which payments are found, a row beside each payment. A migration builds them anew.

import { fold } from '../../domain/fold.ts'
import type { NoteRow, TransactionRow } from '../../domain/rows.ts'
import type { Metadata } from '../../domain/types.ts'
import { type Row, type Statement, statement, WITH_ROWS } from './statement-libsql.ts'

type Named = Pick<TransactionRow, 'reference' | 'description' | 'metadata'>
type Searched = Named & Pick<TransactionRow, 'id'>

const INSERT = `${WITH_ROWS} REPLACE INTO payment_search (n, text) SELECT t.rowid, v ->> 1
  FROM rows CROSS JOIN payment_transactions t WHERE t.id = v ->> 0`

/** The texts by which payments are found, one row beside each that the same save inserts. */
export const insertTexts = (rows: readonly Searched[]): Statement[] =>
  rows.length === 0 ? [] : [statement(INSERT, { rows: textsOf(rows) })]

/** A note is a further line of what its payment is found by; the same line is not needed twice. */
const ADD = `${WITH_ROWS} UPDATE payment_search SET text = text || (v ->> 1)
  FROM rows CROSS JOIN payment_transactions t
  WHERE t.id = v ->> 0 AND n = t.rowid AND instr(text, char(10) || (v ->> 1)) = 0`

export const addTexts = (notes: readonly NoteRow[]): Statement[] =>
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

/**
 * Everything of a payment that is found by any part of it: a line each, the reference first. No
 * folded text has a line break.
 */
export function searchText({ reference, description, metadata }: Named): string {
  const values = Object.values((JSON.parse(metadata ?? '{}') as Metadata | null) ?? {})
  const texts = values.filter((value) => typeof value === 'string' || typeof value === 'number')
  const named = [reference, description ?? '', ...texts.map(String)]
  return `\n${named.map(fold).join('\n')}\n`
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
