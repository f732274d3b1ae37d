import { afterAll, beforeAll } from 'vitest'
import type { Database } from '../../../../../worker/payments/ledger/libsql/database-libsql.ts'
import { createLibsqlLedger } from '../../../../../worker/payments/ledger/libsql/ledger-libsql.ts'
import { libsqlRecords } from '../../../../../worker/payments/queries/queries-libsql.ts'
import { ledgerContract } from '../../../../contract/ledger.ts'
import { type LibsqlServer, startLibsql } from '../../../../support/libsql.ts'

let libsql: LibsqlServer
beforeAll(async () => {
  libsql = await startLibsql()
})
afterAll(() => libsql.stop())

function contractOver(name: string, over: (database: Database) => Database): void {
  ledgerContract(name, async (options) => {
    await libsql.wipe()
    const database = over(libsql.database)
    const ledger = createLibsqlLedger({ ...options, database })
    return {
      ledger,
      outbox: ledger,
      records: libsqlRecords(database),
      close: async () => undefined,
    }
  })
}

contractOver('libSQL', (database) => database)

// As when every answer of the database is lost: the ledger behaves as if it had come. Alone what
// hands out at most so many would hand out others the second time, so that goes once.
contractOver('libSQL, each batch sent twice', ({ read, write }) => ({
  read,
  async write(statements, signal) {
    const handsOut = statements.some(({ args }) => 'limit' in args)
    if (!handsOut) await write(statements, signal)
    return write(statements, signal)
  },
}))
