// The port of a database of libSQL, over HTTP (http-libsql.ts) or in this process
// (embedded-libsql.ts), and which of its failures are worth another try.

import { LibsqlError } from '@libsql/client/web'
import { LedgerUnavailable } from '../failures.ts'
import type { Row, Statement } from './statement-libsql.ts'

export interface Database {
  /** Runs the statements as one transaction; the rows of each. */
  write(statements: readonly Statement[], signal: AbortSignal): Promise<Row[][]>
  /**
   * For statements that only read, by the connection of the writes: opening one costs the server
   * more than a small load does.
   */
  load(statements: readonly Statement[], signal: AbortSignal): Promise<Row[][]>
  /** Only reads, also while there is a write. */
  read(statements: readonly Statement[]): Promise<Row[][]>
}

/** There was no answer, or none of a database: whether anything was written is unknown. */
export class DatabaseUnreachable extends Error {
  override readonly name = 'DatabaseUnreachable'
  readonly code = 'database_unreachable'
}

/**
 * Errors that the same statements need not meet again. Over HTTP there is no extended code, and an
 * error of the disk is the server's, not the payload's.
 */
export function isTransient(error: unknown): boolean {
  // No JSON comes from something in between, which answers while the server does not.
  if (error instanceof DatabaseUnreachable || error instanceof SyntaxError) return true
  if (!(error instanceof LibsqlError)) return false
  return (
    /^(SQLITE_(BUSY|LOCKED|IOERR|FULL|CANTOPEN|PROTOCOL)|TRANSACTION_|STREAM_|HRANA_)/.test(
      error.code,
    ) || /database (table )?is locked/.test(error.message)
  )
}

/** Rejects with LedgerUnavailable where the database was out of reach. */
export async function reachable<Answer>(work: Promise<Answer>): Promise<Answer> {
  try {
    return await work
  } catch (cause) {
    if (!isTransient(cause)) throw cause
    throw new LedgerUnavailable('the database did not answer', { cause })
  }
}
