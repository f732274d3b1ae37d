// How an embedded database is called: what its thread is sent and answers, and how that is run.

import type { Begin, Sqlite } from '../../../shared/sqlite-libsql.ts'
import { bind, type Row, type Statement, toRows } from './statement-libsql.ts'

/** Without statements: close the database, and end. */
export interface Call {
  id: number
  begin: Begin
  statements: readonly Statement[] | undefined
}

/** `code`: of an error of the database. Any other is a defect, or a value that it cannot take. */
export type Reply = { id: number } & ({ results: Row[][] } | { error: ThrownError })

export interface ThrownError {
  name: string
  message: string
  code: string | undefined
}

/** The id of the first reply, which says whether the file could be opened. */
export const OPENED = 0

/** The statements as one transaction of a database in this process; the rows of each. */
export function runIn(sqlite: Sqlite, statements: readonly Statement[], begin: Begin): Row[][] {
  const bound = statements.map(bind)
  const run = () => bound.map(({ sql, args }) => toRows(sqlite.all<object>(sql, args)))
  return sqlite.transaction(run, begin)
}
