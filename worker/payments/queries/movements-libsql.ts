// The queries of the books on libSQL.

import type { MovementRow } from '../domain/rows.ts'
import { type BookedRow, listed, toMovement } from '../domain/shown.ts'
import type { Listed, Movement } from '../domain/types.ts'
import { statement } from '../ledger/libsql/statement-libsql.ts'
import { type RunQuery, rowsOf } from './query-libsql.ts'

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
      statements: [
        statement(pageOf(range, cursor), {
          ...range,
          gateway: range.gateway ?? null,
          cursor: cursor ?? null,
          limit,
        }),
      ],
      read: ([rows]) => rowsOf<BookedRow>(rows).map(listed(toMovement)),
    }),
  /** `spans`: beginnings and ends, in ms. `span`: its place among them. */
  movementSums: (spans: readonly (readonly [number, number])[], gateway?: string) =>
    run({
      statements: [
        statement(sumsOf(gateway), { spans: JSON.stringify(spans), gateway: gateway ?? null }),
      ],
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
