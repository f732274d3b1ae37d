// What the group commit of libSQL writes: some statements that belong together, and how their
// answer reads.

import type { Clock } from '../../shared/clock.ts'
import type { Log } from '../../shared/log.ts'
import { type Database, isTransient, type Row, type Statement } from './database-libsql.ts'
import { groupCommit } from './group-commit.ts'
import { LedgerUnavailable } from './ledger.ts'

export interface Unit<Answer> {
  statements: readonly Statement[]
  /** `results`: the rows of each statement. */
  read(results: readonly (readonly Row[])[]): Answer
}

export type Run = <Answer>(unit: Unit<Answer>) => Promise<Answer>

/** Writes units together with those of others, each as its own: all of it is stored or none. */
export function unitWriter(deps: { database: Database; clock: Clock; log: Log }): Run {
  const { database, clock, log } = deps
  const commit = groupCommit<readonly Statement[], readonly Row[][]>({
    clock,
    async send(units, signal) {
      const results = await database.write(units.flat(), signal)
      let at = 0
      return units.map(({ length }) => {
        at += length
        return results.slice(at - length, at)
      })
    },
    isTransient,
    retrying: ({ error, failures, waitMs }) =>
      log('warn', 'payments.ledger.retry', { error: String(error), failures, waitMs }),
  })
  return async ({ statements, read }) => read(await commit.submit(statements))
}

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
