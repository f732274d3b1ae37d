// How the server finds what is asked for: by an index, however many payments there are.

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Statement } from '../../../../worker/payments/ledger/database-libsql.ts'
import { libsqlRecords } from '../../../../worker/payments/ledger/records-libsql.ts'
import type { PaymentStatus } from '../../../../worker/payments/status.ts'
import { type LibsqlServer, startLibsql } from '../../../support/libsql.ts'

describe('a page of payments', () => {
  let libsql: LibsqlServer
  beforeAll(async () => {
    libsql = await startLibsql()
  })
  afterAll(() => libsql.stop())

  async function planOf(status: PaymentStatus): Promise<string> {
    const asked: Statement[] = []
    const { database } = libsql
    const read = (statements: readonly Statement[]) => {
      asked.push(...statements)
      return database.read(statements)
    }
    await libsqlRecords({ ...database, read }).transactions({ status }, { limit: 50 })
    const [page] = asked
    const rows = await libsql.query(`EXPLAIN QUERY PLAN ${page?.sql}`, page?.args)
    return rows.map(({ detail }) => detail).join('; ')
  }

  it.each(['Pending', 'Failed', 'Refunded'] as const)('is read from an index if %s', async (it) => {
    const by = 'USING INDEX payment_transactions_by_status (status=?)'
    expect(await planOf(it)).toBe(`SEARCH payment_transactions ${by}`)
  })

  it('is read from the newest on if Paid, as most are', async () => {
    const by = 'USING INDEX sqlite_autoindex_payment_transactions_1'
    expect(await planOf('Paid')).toBe(`SCAN payment_transactions ${by}`)
  })
})
