// A database of this machine gets the schema of this version before anything else uses it.

import type { Database } from '../../worker/payments/ledger/libsql/database-libsql.ts'
import { hostClock } from '../../worker/shared/clock.ts'
import { StartError } from '../start-error.ts'
import { MigrationError, migrate } from './migrate.ts'
import { readScripts } from './scripts.ts'

export interface Preparing {
  /** Shows a sentence to the person at the terminal. */
  notice?: (sentence: string) => void
  signal?: AbortSignal
}

/**
 * Makes the tables, or brings those of an older version up to schema.sql. `home` holds it, and
 * migrations/. Throws StartError.
 */
export const schemaFrom =
  (home: string, { notice = () => undefined, signal }: Preparing) =>
  async (database: Database): Promise<void> => {
    const scripts = await readScripts(home)
    try {
      await migrate({ database, scripts, notice, clock: hostClock, signal })
    } catch (cause) {
      if (cause instanceof MigrationError) {
        throw new StartError('bad_configuration', cause.message, { cause })
      }
      const why = cause instanceof Error ? cause.message : String(cause)
      throw new StartError('bad_configuration', `The database refused its schema: ${why}.`, {
        cause,
      })
    }
  }
