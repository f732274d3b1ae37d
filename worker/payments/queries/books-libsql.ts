// The books on libSQL: what moved, its sums, and what a settlement's rows are compared with.

import type { MovementRow, RefundRow, TransactionRow } from '../domain/rows.ts'
import { type KnownPayment, SETTLED_KINDS } from '../domain/settlement.ts'
import type { Listed, Movement, SettledRow } from '../domain/types.ts'
import { statement } from '../ledger/libsql/statement-libsql.ts'
import { listed, type RunQuery, rowsOf } from './query-libsql.ts'
import { type BookedRow, toMovement } from './shown.ts'

/** By the time of booking, in ms: from `after` on, and before `before`. */
export interface BookedIn {
  after: number
  before: number
  gateway?: string | undefined
}

/** All of one kind, one gateway and one currency. */
export type SummedRow = Pick<MovementRow, 'gateway' | 'currency' | 'kind' | 'amount'> & {
  count: number
}

export const movementQueries = (run: RunQuery) => ({
  /** Oldest first, after the one with the id `cursor`. */
  movements: (range: BookedIn, limit: number, cursor?: string): Promise<Listed<Movement>[]> =>
    run({
      statements: [statement(pageOf(range, cursor), { ...range, cursor, limit })],
      read: ([rows]) => rowsOf<BookedRow>(rows).map(listed(toMovement)),
    }),
  /** `spans`: beginnings and ends, in ms. `span`: its place among them. */
  movementSums: (spans: readonly (readonly [number, number])[], gateway?: string) =>
    run({
      statements: [statement(sumsOf(gateway), { spans: JSON.stringify(spans), gateway })],
      read: ([rows]) => rowsOf<SummedRow & { span: number }>(rows),
    }),
})

const ofGateway = (gateway: string | undefined): string =>
  gateway === undefined ? '' : 'AND m.gateway = :gateway'

const pageOf = ({ gateway }: BookedIn, cursor: string | undefined): string =>
  `SELECT m.*, t.reference, t.gateway_transaction_id, r.gateway_refund_id
    FROM payment_movements m INDEXED BY payment_movements_by_time
    JOIN payment_transactions t ON t.id = m.transaction_id
    LEFT JOIN payment_refunds r ON r.id = m.refund_id
    WHERE ${cursor === undefined ? 'm.booked_at >= :after' : AFTER_CURSOR}
      AND m.booked_at < :before ${ofGateway(gateway)}
    ORDER BY m.booked_at, m.id LIMIT :limit`

const AFTER_CURSOR =
  '(m.booked_at, m.id) > (SELECT booked_at, id FROM payment_movements WHERE id = :cursor)'

const sumsOf = (gateway: string | undefined): string =>
  `SELECT s.key AS span, m.gateway, m.currency, m.kind, count(*) AS count, sum(m.amount) AS amount
    FROM json_each(:spans) s CROSS JOIN payment_movements m INDEXED BY payment_movements_by_time
    WHERE m.booked_at >= s.value ->> 0 AND m.booked_at < s.value ->> 1 ${ofGateway(gateway)}
    GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4`

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
      statements: [SETTLED_TRANSACTIONS_SQL, SETTLED_REFUNDS_SQL, SETTLED_MOVES_SQL].map((sql) =>
        statement(sql, args),
      ),
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
const SETTLED_IDS_SQL = `SELECT t.id FROM json_each(:ids) j CROSS JOIN payment_transactions t
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
const SETTLED_TRANSACTIONS_SQL = `SELECT id, gateway, reference, attempt, gateway_transaction_id,
    external_reference_id, status, amount, currency, refunded_amount, paid_at, paid_amount,
    paid_currency
  FROM payment_transactions WHERE id IN (${SETTLED_IDS_SQL})`

const SETTLED_REFUNDS_SQL = `SELECT id, transaction_id, amount, status, gateway_refund_id
  FROM payment_refunds WHERE transaction_id IN (${SETTLED_IDS_SQL}) ORDER BY rowid`

/** Disputes are in no settlement. */
const SETTLED_MOVES_SQL = `SELECT m.id, m.kind, m.transaction_id, m.refund_id, m.amount, m.currency
  FROM (${SETTLED_IDS_SQL}) i CROSS JOIN payment_movements m ON m.transaction_id = i.id
  WHERE m.kind IN (${SETTLED_KINDS.map((kind) => `'${kind}'`).join()}) ORDER BY m.id`
