// The payments that a settlement's rows may be about, on libSQL.

import type { RefundRow, TransactionRow } from '../domain/rows.ts'
import type { KnownPayment, SettledRow } from '../domain/settlement.ts'
import { statement } from '../ledger/libsql/statement-libsql.ts'
import { type RunQuery, rowsOf } from './query-libsql.ts'

export const settlementQueries = (run: RunQuery) => ({
  /** All payments of this gateway that have a name of these rows. */
  settledPayments: (gateway: string, rows: readonly SettledRow[]): Promise<KnownPayment[]> => {
    const names = (field: 'id' | 'ours' | 'reference') =>
      JSON.stringify([...new Set(rows.flatMap((row) => row[field] ?? []))])
    const args = {
      gateway,
      ids: names('id'),
      ours: names('ours'),
      references: names('reference'),
    }
    return run({
      statements: [statement(TRANSACTIONS, args), statement(REFUNDS, args)],
      read([transactions, refunds]) {
        const byPayment = Map.groupBy(rowsOf<RefundRow>(refunds), (row) => row.transaction_id)
        return rowsOf<TransactionRow>(transactions).map((transaction) => ({
          transaction,
          refunds: byPayment.get(transaction.id) ?? [],
        }))
      },
    })
  },
})

/** Each by its own index. */
const IDS = `SELECT t.id FROM json_each(:ids) j CROSS JOIN payment_transactions t
    ON t.gateway = :gateway AND t.gateway_transaction_id = j.value
  UNION SELECT t.id FROM json_each(:ours) j CROSS JOIN payment_transactions t
    ON t.id = j.value AND t.gateway = :gateway
  UNION SELECT t.id FROM json_each(:ours) j CROSS JOIN payment_transactions t
    ON t.gateway = :gateway AND t.external_reference_id = j.value
  UNION SELECT t.id FROM json_each(:references) j CROSS JOIN payment_transactions t
    ON t.reference = j.value AND t.gateway = :gateway`

/** Without the requests and answers, which may be long. */
const TRANSACTIONS = `SELECT id, gateway, reference, attempt, gateway_transaction_id,
    external_reference_id, status, amount, currency, refunded_amount, paid_at, paid_amount,
    paid_currency
  FROM payment_transactions WHERE id IN (${IDS})`

const REFUNDS = `SELECT id, transaction_id, amount, status, gateway_refund_id
  FROM payment_refunds WHERE transaction_id IN (${IDS}) ORDER BY rowid`
