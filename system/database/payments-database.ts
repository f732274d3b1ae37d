// The database of payments that a start of one process has: which one it is to be, its schema, and
// what is written down of it once it is open.

import { readConfig } from '../../worker/config.ts'
import { isServed } from '../../worker/payments/config/payments-config.ts'
import type { SignalboxFile } from '../../worker/payments/define-config.ts'
import type { Database } from '../../worker/payments/ledger/libsql/database-libsql.ts'
import { fileOf } from '../../worker/payments/ledger/libsql/embedded-libsql.ts'
import { libsqlDatabase } from '../../worker/payments/ledger/libsql/http-libsql.ts'
import { type DataFolder, databaseIn } from '../data/data-folder.ts'
import { StartError } from '../start-error.ts'
import { guardDatabase, type KeptInstallation } from './installation.ts'
import { noteDatabase } from './last-database.ts'
import { prepareSchema } from './migrate.ts'

export interface PaymentsDatabasePlan {
  data: DataFolder
  /** Which database of payments it is to have. */
  kept: KeptInstallation
  /** The edge's: all but its folders. */
  variables: Readonly<Record<string, string>>
  /** signalbox.config.ts */
  file: SignalboxFile
  /** Shows a sentence to the person at the terminal. */
  notice(sentence: string): void
  /** Aborted when the system is to end. */
  signal: AbortSignal
}

/** Throws StartError for a server's database that is another one. A file is opened by the edge. */
export async function openPaymentsDatabase(plan: PaymentsDatabasePlan) {
  const { data, kept, variables, file, notice, signal } = plan
  const { LIBSQL_URL: url = '', LIBSQL_AUTH_TOKEN: authToken } = variables
  let database: Database = libsqlDatabase({ url, ...(authToken && { authToken }) }, Date.now)
  const { payments } = readConfig(variables, file, { embeds: true })
  const realGateways = payments?.realGateways ?? new Set()
  const guard = await guardDatabase({ variables, kept, realGateways, notice })
  // A server that does not answer now is compared by the ledger when it does.
  if (isServed(url)) await guard.refuse(database).catch(passing)
  return {
    database: () => database,
    installation: guard.installation,
    onBegun: guard.onBegun,
    /** For the edge, which has just opened a file. Throws StartError. */
    async schema(embedded: Database): Promise<void> {
      database = embedded
      await guard.refuse(embedded)
      const { isNew } = await prepareSchema(embedded, { notice, signal })
      await guard.adopt(embedded, isNew)
    },
    /** The edge is open. Throws StartError. */
    async opened(): Promise<void> {
      if (isServed(url)) await guard.adopt(database, false).catch(passing)
      // The disk may be full: a backup then goes by what is set.
      if (url !== '') await noteDatabase(data.dir, url).catch(() => undefined)
    },
    /** No further start helps, and an empty one in its place would charge paid orders again. */
    damaged(cause: unknown): StartError {
      const path = fileOf(url)
      const folder = databaseIn(data.dir) === url ? ` --data ${data.dir}` : ''
      const why = `The database of payments, ${path}, is damaged. Move it and ${path}-wal away`
      const how = `bring back a backup: signalbox restore FILE${folder}`
      return new StartError('damaged_database', `${why}, and ${how}.`, { cause })
    },
  }
}

function passing(error: unknown): void {
  if (error instanceof StartError) throw error
}
