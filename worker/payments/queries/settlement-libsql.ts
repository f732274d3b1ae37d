// The payments that a settlement's rows may be about, on libSQL.

import type { MovementRow, RefundRow, TransactionRow } from '../domain/rows.ts'
import { type KnownPayment, SETTLED_KINDS, type SettledRow } from '../domain/settled-movements.ts'
import { statement } from '../ledger/libsql/statement-libsql.ts'
import { type RunQuery, rowsOf } from './query-libsql.ts'

export const settlementQueries = (run: RunQuery) => ({
  /** All payments of this gateway that have a name of these rows. */
  settledPayments: (gateway: string, rows: readonly SettledRow[]): Promise<KnownPayment[]> => {
    const names = (...fields: ('id' | 'ours' | 'reference' | 'refund')[]) => {
      const given = rows.flatMap((row) => fields.flatMap((field) => row[field] ?? []))
      return JSON.stringify([...new Set(given)])
    }
    const args = {
      gateway,
      ids: names('id'),
      ours: names('ours'),
      references: names('reference'),
      refunds: names('refund', 'id'),
    }
    return run({
      statements: [TRANSACTIONS, REFUNDS, MOVEMENTS].map((sql) => statement(sql, args)),
      read([transactions, refunds, movements]) {
        const refundsOf = Map.groupBy(rowsOf<RefundRow>(refunds), (row) => row.transaction_id)
        const movedOf = Map.groupBy(rowsOf<MovementRow>(movements), (row) => row.transaction_id)
        return rowsOf<TransactionRow>(transactions).map((transaction) => ({
          transaction,
          refunds: refundsOf.get(transaction.id) ?? [],
          movements: movedOf.get(transaction.id) ?? [],
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
    ON t.reference = j.value AND t.gateway = :gateway
  UNION SELECT t.id FROM json_each(:refunds) j
    CROSS JOIN payment_refunds r ON r.gateway_refund_id = j.value
    CROSS JOIN payment_transactions t ON t.id = r.transaction_id AND t.gateway = :gateway`

/** Without the requests and answers, which may be long. */
const TRANSACTIONS = `SELECT id, gateway, reference, attempt, gateway_transaction_id,
    external_reference_id, status, amount, currency, refunded_amount, paid_at, paid_amount,
    paid_currency
  FROM payment_transactions WHERE id IN (${IDS})`

const REFUNDS = `SELECT id, transaction_id, amount, status, gateway_refund_id
  FROM payment_refunds WHERE transaction_id IN (${IDS}) ORDER BY rowid`

/** Disputes are in no settlement. */
const MOVEMENTS = `SELECT m.id, m.kind, m.transaction_id, m.refund_id, m.amount, m.currency
  FROM (${IDS}) i CROSS JOIN payment_movements m ON m.transaction_id = i.id
  WHERE m.kind IN (${SETTLED_KINDS.map((kind) => `'${kind}'`).join()}) ORDER BY m.id`
