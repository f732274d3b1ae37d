import { afterAll, beforeAll } from 'vitest'
import { createLibsqlLedger } from '../../../../worker/payments/ledger/ledger-libsql.ts'
import { libsqlRecords } from '../../../../worker/payments/ledger/records-libsql.ts'
import { hostClock } from '../../../../worker/shared/clock.ts'
import { ledgerContract } from '../../../contract/ledger.ts'
import { type LibsqlServer, startLibsql } from '../../../support/libsql.ts'

let libsql: LibsqlServer
beforeAll(async () => {
  libsql = await startLibsql()
}, 40_000)
afterAll(() => libsql.stop())

ledgerContract('libSQL', async ({ desk, audience }) => {
  await libsql.wipe()
  const { database } = libsql
  return {
    ledger: createLibsqlLedger({
      database,
      desk,
      audience,
      clock: hostClock,
      log: () => undefined,
    }),
    records: libsqlRecords(database),
    close: async () => undefined,
  }
})
