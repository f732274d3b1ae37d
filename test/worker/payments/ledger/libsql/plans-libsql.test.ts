// The server's query plans: they use an index, so they do not slow down with more payments.

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type LibsqlServer, startLibsql } from '../../../../../tools/harness/database.ts'
import type { Statement } from '../../../../../worker/payments/ledger/libsql/statement-libsql.ts'
import type { TransactionFilter } from '../../../../../worker/payments/queries/queries-libsql.ts'
import { libsqlQueries } from '../../../../../worker/payments/queries/queries-libsql.ts'

describe('a page of payments', () => {
  let libsql: LibsqlServer
  beforeAll(async () => {
    libsql = await startLibsql()
  })
  afterAll(() => libsql.close())

  async function planOf(filter: TransactionFilter): Promise<string> {
    const asked: Statement[] = []
    const { database } = libsql
    const read = (statements: readonly Statement[]) => {
      asked.push(...statements)
      return database.read(statements)
    }
    await libsqlQueries({ ...database, read }).transactions(filter, { limit: 50 })
    const [page] = asked
    const rows = await libsql.query(`EXPLAIN QUERY PLAN ${page?.sql}`, page?.args)
    return rows.map(({ detail }) => detail).join('; ')
  }

  const byStatus = 'payment_transactions_by_status_not_paid (status=?)'
  const newestFirst =
    'SCAN payment_transactions USING INDEX sqlite_autoindex_payment_transactions_1'

  it.each(['Pending', 'Failed', 'Refunded'] as const)('is read from an index if %s', async (it) => {
    const plan = `SEARCH payment_transactions USING INDEX ${byStatus}`
    expect(await planOf({ status: it })).toBe(plan)
    expect(await planOf({ status: it, gateway: 'redirect' })).toBe(plan)
  })

  it('is read from the newest on if Paid or of one gateway, since most payments are', async () => {
    expect(await planOf({ status: 'Paid' })).toBe(newestFirst)
    expect(await planOf({ gateway: 'redirect' })).toBe(newestFirst)
    expect(await planOf({ status: 'Paid', gateway: 'redirect' })).toBe(newestFirst)
  })

  it('is read by reference, or by the status and the beginning of an id', async () => {
    expect(await planOf({ gateway: 'redirect', reference: 'order-1' })).toContain(
      'payment_transactions_by_reference (reference=? AND gateway=?)',
    )
    expect(await planOf({ startsWith: '0', status: 'Failed' })).toContain(
      'payment_transactions_by_status_not_paid (status=? AND id>? AND id<?)',
    )
  })
})
