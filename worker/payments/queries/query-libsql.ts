// A query of libSQL: statements that are read together, and a function that reads their rows.

import { type Database, reachable } from '../ledger/libsql/database-libsql.ts'
import { schemaMismatch } from '../ledger/libsql/schema-version-libsql.ts'
import type { Row, Statement } from '../ledger/libsql/statement-libsql.ts'

export interface Query<Result> {
  statements: readonly Statement[]
  /** `results`: the rows of each statement. */
  read(results: readonly (readonly Row[])[]): Result
}

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
export const AUDIT = `SELECT a.*, t.gateway, t.reference, t.currency
  FROM payment_audit a LEFT JOIN payment_transactions t ON t.id = a.transaction_id`
