// A question to libSQL: statements that are read together, and what their rows mean.

import type { Database, Row, Statement } from '../ledger/libsql/database-libsql.ts'
import { reachable } from '../ledger/libsql/request-libsql.ts'

export interface Unit<Answer> {
  statements: readonly Statement[]
  /** `results`: the rows of each statement. */
  read(results: readonly (readonly Row[])[]): Answer
}

/** Reads beside whatever is being written. Rejects with LedgerUnavailable. */
export const unitReader =
  (database: Database) =>
  async <Answer>({ statements, read }: Unit<Answer>): Promise<Answer> =>
    read(await reachable(database.read(statements)))
