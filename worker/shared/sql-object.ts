// SQLite of a Durable Object, by its own storage.

import type { Sql, SqlValue } from './sql.ts'

export function objectSql(storage: DurableObjectStorage): Sql {
  return {
    all: <Row extends Record<string, SqlValue>>(query: string, ...values: SqlValue[]) =>
      storage.sql.exec<Row>(query, ...values).toArray(),
    transaction: (run) => storage.transactionSync(run),
  }
}
