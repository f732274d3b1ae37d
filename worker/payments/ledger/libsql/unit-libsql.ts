// A unit of work on libSQL: statements that belong together, and what their rows mean.

import type { PendingEvent } from '../../domain/events.ts'
import { LedgerUnavailable } from '../ledger.ts'
import type { Database, Row, Statement } from './database-libsql.ts'
import { isTransient } from './request-libsql.ts'

export interface Unit<Answer> {
  statements: readonly Statement[]
  /** `results`: the rows of each statement. */
  read(results: readonly (readonly Row[])[]): Answer
  /** The events that it caused, to be dispatched once it is committed. */
  pending?(results: readonly (readonly Row[])[]): PendingEvent[]
}

export type Run = <Answer>(unit: Unit<Answer>) => Promise<Answer>

/** Reads at once, beside whatever is being written. Rejects with LedgerUnavailable. */
export const unitReader =
  (database: Database): Run =>
  async ({ statements, read }) => {
    try {
      return read(await database.read(statements))
    } catch (cause) {
      if (!isTransient(cause)) throw cause
      throw new LedgerUnavailable('the database did not answer', { cause })
    }
  }
