// What is the same of each Durable Object: its SQLite, and the way to it.

import type { Sql, SqlValue } from './sql.ts'

/** Of the platform's `DurableObjectStorage`: Node has none of its types. */
interface Storage {
  sql: {
    exec<Row extends Record<string, SqlValue>>(
      query: string,
      ...values: SqlValue[]
    ): { toArray(): Row[] }
  }
  transactionSync<Result>(run: () => Result): Result
}

export function objectSql(storage: Storage): Sql {
  return {
    all: <Row extends Record<string, SqlValue>>(query: string, ...values: SqlValue[]) =>
      storage.sql.exec<Row>(query, ...values).toArray(),
    transaction: (run) => storage.transactionSync(run),
  }
}

interface Namespace<Stub> {
  getByName(name: string, options?: { locationHint?: string }): Stub
}

/** A stub breaks for good when its object is reset: each call, or each try of one, gets its own. */
export const freshStub =
  <Stub>(namespace: Namespace<Stub>, ...of: Parameters<Namespace<Stub>['getByName']>) =>
  (): Stub =>
    namespace.getByName(...of)
