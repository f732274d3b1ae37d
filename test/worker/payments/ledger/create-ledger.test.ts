// The contract of the ledger over SQLite in this process: without faults, and with a second
// writer, which no caller may notice.

import { createLedger } from '../../../../worker/payments/ledger/create-ledger.ts'
import type { Database } from '../../../../worker/payments/ledger/libsql/http-libsql.ts'
import { statement } from '../../../../worker/payments/ledger/libsql/statement-libsql.ts'
import { libsqlStore } from '../../../../worker/payments/ledger/libsql/store-libsql.ts'
import { libsqlQueries } from '../../../../worker/payments/queries/queries-libsql.ts'
import { type Clock, hostClock } from '../../../../worker/shared/clock.ts'
import { ledgerContract } from '../../../contract/ledger.ts'
import { TABLES } from '../../../support/libsql.ts'
import { sqliteDatabase } from '../../../support/sqlite-database.ts'

/** A batch is sent again without a pause. */
const impatient: Clock = {
  ...hostClock,
  after: (ms, call) => hostClock.after(ms <= 2_000 ? 0 : ms, call),
}

function contractOver(name: string, over: (database: Database) => Database): void {
  const database = sqliteDatabase()
  ledgerContract(name, async (options) => {
    for (const table of TABLES) database.exec(`DELETE FROM ${table}`)
    const log: typeof options.log = (level, event, fields) => {
      if (event !== 'payments.ledger.retry') options.log(level, event, fields)
    }
    const store = libsqlStore(over(database))
    const ledger = createLedger({ ...options, log, clock: impatient, store })
    const queries = libsqlQueries(database)
    return { ledger, outbox: ledger, queries, close: async () => undefined }
  })
}

contractOver('SQLite in memory', (database) => database)

contractOver('SQLite, where each save is refused once for another writer’s', (database) => {
  let refuses = true
  return {
    ...database,
    async write(statements, signal) {
      if (refuses) {
        await database.write([statement('UPDATE payment_ledger SET batch = batch + 1')], signal)
      }
      refuses = !refuses
      return await database.write(statements, signal)
    },
  }
})
