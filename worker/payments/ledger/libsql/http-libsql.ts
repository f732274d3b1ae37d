// libSQL over HTTP: statements as one transaction in one request.

import { createClient } from '@libsql/client/web'
import {
  type Connection,
  ConnectionGone,
  type DatabaseAddress,
  fetchUntil,
  openConnection,
  type TransactionMode,
} from './connection-libsql.ts'
import type { Database } from './database-libsql.ts'
import { type BoundStatement, bind, type Row, type Statement, toRows } from './statement-libsql.ts'

/** Reads wait for no writer, so one that takes this long has lost its answer. */
const READ_DEADLINE_MS = 6_000

/** The server closes a connection after 10 s without use, and a call takes some time. */
const KEPT_FOR_MS = 5_000

/** `now` in ms. */
export function libsqlDatabase(address: DatabaseAddress, now: () => number): Database {
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
    return await runBy(openConnection(address), bound, mode, signal)
  }

  return {
    write: (statements, signal) => run(statements, 'write', signal),
    load: (statements, signal) => run(statements, 'read', signal),
    // Each has its own connection: in a Worker no request may use what another has opened.
    async read(statements) {
      const deadline = AbortSignal.timeout(READ_DEADLINE_MS)
      const client = createClient({ ...address, fetch: fetchUntil(deadline), intMode: 'bigint' })
      const results = await client.batch(statements.map(bind), 'read')
      return results.map(({ rows }) => toRows(rows))
    },
  }
}
