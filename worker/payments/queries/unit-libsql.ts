// A question to libSQL: statements that are read together, and what their rows mean.

import type { Database, Row, Statement } from '../ledger/libsql/database-libsql.ts'
import { reachable } from '../ledger/libsql/request-libsql.ts'
import { schemaMismatch } from '../ledger/libsql/schema-version-libsql.ts'

export interface Unit<Answer> {
  statements: readonly Statement[]
  /** `results`: the rows of each statement. */
  read(results: readonly (readonly Row[])[]): Answer
}

/** Reads beside whatever is being written. Rejects with LedgerUnavailable or SchemaMismatch. */
export const unitReader =
  (database: Database) =>
  async <Answer>({ statements, read }: Unit<Answer>): Promise<Answer> => {
    const rows = await reachable(database.read(statements)).catch(async (error: unknown) => {
      const isLacking = /no such (table|column)/.test(String(error))
      throw (isLacking && (await schemaMismatch(database, error))) || error
    })
    return read(rows)
  }
