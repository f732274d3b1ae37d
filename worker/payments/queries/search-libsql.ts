// Payments by how one of their names begins. Each name has an index, in which what begins alike
// stands together: nothing else is read, however many payments there are.

import type { PaymentStatus } from '../domain/status.ts'
import type { Transaction } from '../domain/transaction.ts'
import { statement } from '../ledger/libsql/database-libsql.ts'
import { listed, toTransaction } from '../ledger/read-rows.ts'
import type { Listed, Page, TransactionFilter } from './queries.ts'
import type { Unit } from './unit-libsql.ts'

/** After every character that a name may hold, so that nothing needs to be escaped. */
const LAST = '\u{10FFFF}'

// The gateways of all payments, each found by one step in an index: theirs begin with the gateway,
// and the configuration may not know an old one any more.
const GATEWAYS = `gateways(gateway) AS (
  SELECT min(gateway) FROM payment_transactions
  UNION ALL SELECT (SELECT min(t.gateway) FROM payment_transactions t WHERE t.gateway > g.gateway)
    FROM gateways g WHERE g.gateway IS NOT NULL)`
const OF_GATEWAYS = 'gateways g CROSS JOIN payment_transactions t ON t.gateway = g.gateway'

/**
 * The index by status leaves out what is paid. Without its own condition in the query it is not
 * used.
 */
export const otherThanPaid = (status: PaymentStatus | undefined, column = 'status'): string =>
  status === undefined || status === 'Paid' ? '' : `AND ${column} <> 'Paid'`

/** Newest first. */
export function searchUnit(
  startsWith: string,
  { status, gateway, reference }: TransactionFilter,
  { before, limit }: Page,
): Unit<Listed<Transaction>[]> {
  const more = [
    status === undefined ? '' : `AND t.status = :status ${otherThanPaid(status, 't.status')}`,
    gateway === undefined ? '' : 'AND t.gateway = :gateway',
    reference === undefined ? '' : 'AND t.reference = :reference',
    before === undefined ? '' : 'AND t.id < :before',
  ].join(' ')
  const found = (name: string, from: string) => `SELECT id FROM (SELECT t.id FROM ${from}
    WHERE t.${name} >= :first AND t.${name} < :last ${more} ORDER BY t.id DESC LIMIT :limit)`
  const sql = `WITH RECURSIVE ${GATEWAYS}
    SELECT * FROM payment_transactions WHERE id IN (
      ${found('id', 'payment_transactions t')}
      UNION ${found('reference', OF_GATEWAYS)}
      UNION ${found('gateway_transaction_id', OF_GATEWAYS)})
    ORDER BY id DESC LIMIT :limit`
  const args = {
    first: startsWith,
    last: `${startsWith}${LAST}`,
    status: status ?? null,
    gateway: gateway ?? null,
    reference: reference ?? null,
    before: before ?? null,
    limit,
  }
  return {
    statements: [statement(sql, args)],
    read: ([rows = []]) => rows.map(listed(toTransaction)),
  }
}
