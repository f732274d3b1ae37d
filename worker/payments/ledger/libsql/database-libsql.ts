// libSQL over HTTP: statements as one transaction in one request.

import { createClient } from '@libsql/client/web'
import {
  type BoundStatement,
  type Connection,
  ConnectionGone,
  openConnection,
  type Place,
  type TransactionMode,
} from './connection-libsql.ts'
import { fetchUntil } from './request-libsql.ts'
import { bind, type Row, type Statement, toRows } from './statement-libsql.ts'

export interface Database {
  /** Runs the statements as one transaction; the rows of each. */
  write(statements: readonly Statement[], signal: AbortSignal): Promise<Row[][]>
  /**
   * The same for statements that only read, by the connection of the writes: opening one costs the
   * server more than a small load does.
   */
  load(statements: readonly Statement[], signal: AbortSignal): Promise<Row[][]>
  /** Only reads, also while there is a write. */
  read(statements: readonly Statement[]): Promise<Row[][]>
}

/** Reads wait for no writer, so one that takes this long has lost its answer. */
const READ_DEADLINE_MS = 6_000

/** The server closes a connection after 10 s without use, and a call takes some time. */
const KEPT_FOR_MS = 5_000

/** `now` in ms. */
export function libsqlDatabase(place: Place, now: () => number): Database {
  let kept: { connection: Connection; usedAt: number } | undefined

  /** It is used by one write at a time: another write gets another connection. */
  function take(): Connection | undefined {
    const taken = kept
    kept = undefined
    return taken && now() - taken.usedAt < KEPT_FOR_MS ? taken.connection : undefined
  }

  async function runBy(
    connection: Connection,
    statements: readonly BoundStatement[],
    mode: TransactionMode,
    signal: AbortSignal,
  ): Promise<Row[][]> {
    try {
      const results = await connection.run(statements, mode, signal)
      return results.map(({ rows }) => toRows(rows))
    } finally {
      if (!connection.isClosed) kept = { connection, usedAt: now() }
    }
  }

  async function run(
    statements: readonly Statement[],
    mode: TransactionMode,
    signal: AbortSignal,
  ): Promise<Row[][]> {
    const bound = statements.map(bind)
    const connection = take()
    try {
      if (connection) return await runBy(connection, bound, mode, signal)
    } catch (error) {
      if (!(error instanceof ConnectionGone)) throw error
    }
    return await runBy(openConnection(place), bound, mode, signal)
  }

  return {
    write: (statements, signal) => run(statements, 'write', signal),
    load: (statements, signal) => run(statements, 'read', signal),
    // Each has its own connection: in a Worker no request may use what another has opened.
    async read(statements) {
      const deadline = AbortSignal.timeout(READ_DEADLINE_MS)
      const client = createClient({ ...place, fetch: fetchUntil(deadline), intMode: 'bigint' })
      const results = await client.batch(statements.map(bind), 'read')
      return results.map(({ rows }) => toRows(rows))
    },
  }
}
