// The engines that the queries run on.

import { afterAll, beforeAll } from 'vitest'
import { type LibsqlServer, startLibsql } from '../../../../tools/harness/database.ts'
import type { Database } from '../../../../worker/payments/ledger/libsql/database-libsql.ts'
import { wipe } from '../../../support/libsql-server.ts'
import { sqliteDatabase } from '../../../support/sqlite-database.ts'

/** By the engine's name: makes an empty database on it. For a file's `describe.each`. */
export function emptyDatabases(): [string, () => Promise<Database>][] {
  let libsql: LibsqlServer
  beforeAll(async () => {
    libsql = await startLibsql()
  })
  afterAll(() => libsql.close())
  return [
    ['in this process', async () => sqliteDatabase()],
    [
      'on libSQL’s server',
      async () => {
        await wipe(libsql)
        return libsql.database
      },
    ],
  ]
}
