// The port of an embedded, synchronous SQLite: a Durable Object’s storage (durable-object.ts) or
// node:sqlite (sql-node.ts).

export type SqlValue = string | number | null

export interface Sql {
  /** Runs one statement and returns its rows. */
  all<Row extends Record<string, SqlValue>>(query: string, ...values: SqlValue[]): Row[]
  /** All of it or, when `run` throws, nothing. `run` must not await: the turn is the lock. */
  transaction<T>(run: () => T): T
}
