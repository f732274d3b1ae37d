// The server's query plans: they use an index, so they do not slow down with more payments.

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type LibsqlServer, startLibsql } from '../../../../../tools/harness/database.ts'
import type { Statement } from '../../../../../worker/payments/ledger/libsql/statement-libsql.ts'
import {
  libsqlQueries,
  type PaymentQueries,
} from '../../../../../worker/payments/queries/queries-libsql.ts'
import type { TransactionFilter } from '../../../../../worker/payments/queries/transactions-libsql.ts'

describe('a page of payments', () => {
  let libsql: LibsqlServer
  beforeAll(async () => {
    libsql = await startLibsql()
  })
  afterAll(() => libsql.close())

  const planOf = (filter: TransactionFilter) =>
    planOfAll((queries) => queries.transactions(filter, { limit: 50 }))

  async function planOfAll(ask: (queries: PaymentQueries) => Promise<unknown>): Promise<string> {
    const asked: Statement[] = []
    const { database } = libsql
    const read = (statements: readonly Statement[]) => {
      asked.push(...statements)
      return database.read(statements)
    }
    await ask(libsqlQueries({ ...database, read }))
    const page = asked.at(-1)
    const rows = await libsql.query(`EXPLAIN QUERY PLAN ${page?.sql}`, page?.args)
    return rows.map(({ detail }) => detail).join('; ')
  }

  const byStatus = 'payment_transactions_by_status_not_paid (status=?)'
  const newestFirst = 'SCAN t USING INDEX sqlite_autoindex_payment_transactions_1'

  it.each(['Pending', 'Failed', 'Refunded'] as const)('is read from an index if %s', async (it) => {
    const plan = await planOf({ status: it })
    expect(plan).toContain(`SEARCH t USING COVERING INDEX ${byStatus}`)
    expect(plan).not.toContain('SCAN t')
  })

  it('is read from the newest on if Paid, since most payments are', async () => {
    expect(await planOf({ status: 'Paid' })).toContain(newestFirst)
  })

  it('is read from the index that has few of them: of a gateway, an amount, a time', async () => {
    const index = (name: string) => expect.stringContaining(`payment_transactions_by_${name} (`)
    expect(await planOf({ gateway: 'redirect', status: 'Paid' })).toEqual(index('gateway_id'))
    expect(await planOf({ amount: 1, currency: 'IQD' })).toEqual(index('amount'))
    expect(await planOf({ by: 'paid', after: 0 })).toEqual(index('paid'))
    expect(await planOf({ by: 'updated', before: 1 })).toEqual(index('updated'))
  })

  it('is read by reference, or by the status and the beginning of an id', async () => {
    expect(await planOf({ gateway: 'redirect', reference: 'order-1' })).toContain(
      'payment_transactions_by_reference (reference=? AND gateway=?)',
    )
    expect(await planOf({ q: '0', status: 'Failed' })).toContain(
      'payment_transactions_by_status_not_paid (status=?)',
    )
  })

  it('that a settlement names is looked up by each of its names', async () => {
    const row = { type: 'payment', amount: 1, currency: 'IQD' } as const
    const rows = [{ ...row, id: 'a', ours: 'b', reference: 'c', refund: 'd' }]
    const plan = await planOfAll((queries) => queries.settledPayments('redirect', rows))
    expect(plan).not.toMatch(/SCAN ([tmr]|payment_)/)
    for (const index of ['by_gateway_id', 'by_external_reference', 'by_reference']) {
      expect(plan).toContain(`payment_transactions_${index}`)
    }
    expect(plan).toContain('payment_refunds_by_gateway_id (gateway_refund_id=?)')
    expect(plan).toContain('payment_movements_by_transaction (transaction_id=?)')
  })

  it('that is open at other gateways is found by its order', async () => {
    const order = { gateway: 'redirect', reference: 'order-1' }
    const plan = await planOfAll((queries) => queries.openElsewhere(order, 0))
    expect(plan).toContain('payment_transactions_by_reference (reference=?)')
  })
})
