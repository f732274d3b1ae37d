import { afterAll, beforeAll } from 'vitest'
import { createLedger } from '../../../../../worker/payments/ledger/create-ledger.ts'
import { libsqlStore } from '../../../../../worker/payments/ledger/libsql/store-libsql.ts'
import { libsqlQueries } from '../../../../../worker/payments/queries/queries-libsql.ts'
import { ledgerContract } from '../../../../contract/ledger.ts'
import { type LibsqlServer, startLibsql } from '../../../../support/libsql.ts'

let libsql: LibsqlServer
beforeAll(async () => {
  libsql = await startLibsql()
})
afterAll(() => libsql.stop())

ledgerContract('libSQL', async (options) => {
  await libsql.wipe()
  const { database } = libsql
  const ledger = createLedger({ ...options, store: libsqlStore(database) })
  return { ledger, outbox: ledger, queries: libsqlQueries(database), close: async () => undefined }
})
