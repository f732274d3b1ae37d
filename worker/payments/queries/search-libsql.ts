// Finds payments by the beginning of an id or a reference. Each has an index with equal beginnings
// side by side, so only matching rows are read, among any number of payments.

import type { Listed } from '../domain/listed.ts'
import type { PaymentStatus } from '../domain/status.ts'
import type { Transaction } from '../domain/transaction.ts'
import { statement } from '../ledger/libsql/statement-libsql.ts'
import { listed, toTransaction } from '../ledger/read-rows.ts'
import type { Page, TransactionFilter } from './queries.ts'
import type { Query } from './run-query-libsql.ts'

/** Sorts after every other character, so that nothing needs to be escaped. */
const LAST = '\u{10FFFF}'

// The gateways of all payments, one index lookup each: the index of the gateways' ids begins with
// the gateway, and an old gateway may not be in the configuration any more.
const GATEWAYS = `gateways(gateway) AS (
  SELECT min(gateway) FROM payment_transactions
  UNION ALL SELECT (SELECT min(t.gateway) FROM payment_transactions t WHERE t.gateway > g.gateway)
    FROM gateways g WHERE g.gateway IS NOT NULL)`
const OF_GATEWAYS = 'gateways g CROSS JOIN payment_transactions t ON t.gateway = g.gateway'

/**
 * The index by status does not contain Paid. A query uses it only if it has the same condition.
 */
export const notPaidCondition = (status: PaymentStatus | undefined, column = 'status'): string =>
  status === undefined || status === 'Paid' ? '' : `AND ${column} <> 'Paid'`

/** Newest first. */
export function searchQuery(
  startsWith: string,
  { status, gateway, reference }: TransactionFilter,
  { before, limit }: Page,
): Query<Listed<Transaction>[]> {
  const more = [
    status === undefined ? '' : `AND t.status = :status ${notPaidCondition(status, 't.status')}`,
    gateway === undefined ? '' : 'AND t.gateway = :gateway',
    reference === undefined ? '' : 'AND t.reference = :reference',
    before === undefined ? '' : 'AND t.id < :before',
  ].join(' ')
  const idsBy = (name: string, from: string) => `SELECT id FROM (SELECT t.id FROM ${from}
    WHERE t.${name} >= :first AND t.${name} < :last ${more} ORDER BY t.id DESC LIMIT :limit)`
  const sql = `WITH RECURSIVE ${GATEWAYS}
    SELECT * FROM payment_transactions WHERE id IN (
      ${idsBy('id', 'payment_transactions t')}
      UNION ${idsBy('reference', 'payment_transactions t')}
      UNION ${idsBy('gateway_transaction_id', OF_GATEWAYS)})
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
