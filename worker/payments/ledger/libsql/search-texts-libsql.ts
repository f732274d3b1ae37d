// The texts by which payments are found, a row beside each payment. A migration builds them anew.

import { fold } from '../../domain/fold.ts'
import type { NoteRow, TransactionRow } from '../../domain/rows.ts'
import type { Metadata } from '../../domain/types.ts'
import { type Row, type Statement, statement } from './statement-libsql.ts'

type Named = Pick<TransactionRow, 'reference' | 'description' | 'metadata'>
type Searched = Named & Pick<TransactionRow, 'id'>

/** As JSON: the id and the text of each. A row that cannot be read is found by its reference. */
export const textsOf = (rows: readonly Searched[]): string =>
  JSON.stringify(rows.map((row) => [row.id, textOf(row)]))

/** As JSON: a further line of the text of its payment. */
export const textsOfNote = ({ transaction_id, text }: NoteRow): string =>
  JSON.stringify([[transaction_id, `${fold(text)}\n`]])

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
