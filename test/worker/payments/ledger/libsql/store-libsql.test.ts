import { afterAll, beforeAll } from 'vitest'
import { type LibsqlServer, startLibsql } from '../../../../../tools/harness/database.ts'
import { libsqlStore } from '../../../../../worker/payments/ledger/libsql/store-libsql.ts'
import { libsqlQueries } from '../../../../../worker/payments/queries/queries-libsql.ts'
import { storeContract } from '../../../../contract/store.ts'
import { wipe } from '../../../../support/libsql-server.ts'
import { sqliteDatabase } from '../../../../support/sqlite-database.ts'

let libsql: LibsqlServer
beforeAll(async () => {
  libsql = await startLibsql()
})
afterAll(() => libsql.close())

storeContract('libSQL’s server', async () => {
  await wipe(libsql)
  return { store: libsqlStore(libsql.database), queries: libsqlQueries(libsql.database) }
})

storeContract('SQLite in this thread', async () => {
  const database = sqliteDatabase()
  return { store: libsqlStore(database), queries: libsqlQueries(database) }
})
