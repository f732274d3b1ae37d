// The ledger over SQLite in memory: the product's own code and SQL, without a server.

import { createLedger, type LedgerDeps } from '../../worker/payments/ledger/create-ledger.ts'
import { libsqlStore } from '../../worker/payments/ledger/libsql/store-libsql.ts'
import { libsqlQueries } from '../../worker/payments/queries/queries-libsql.ts'
import { readable } from './readable-queries.ts'
import { sqliteDatabase } from './sqlite-database.ts'

export function sqliteLedger(deps: Omit<LedgerDeps, 'store'>) {
  const database = sqliteDatabase()
  const ledger = createLedger({ ...deps, store: libsqlStore(database) })
  return { ledger, queries: readable(libsqlQueries(database)) }
}
