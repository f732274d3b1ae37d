// The port to our books: how an edge is asked about the rows of a settlement.

import type { Settlement as Asked, Movement, Settled } from '../api/types.ts'

export type SettledAnswer = Settled['rows'][number]

export interface Books {
  /** 5,000 rows at most, and as many answers, in their order. */
  settle(rows: Asked['rows']): Promise<readonly SettledAnswer[]>
  /** This gateway's, booked in these days; the second is not part of them. */
  movements(after: string, before: string): AsyncIterable<Movement>
  /** Has the gateway asked about a payment. */
  check?(transactionId: string): Promise<void>
}

export const ROWS_AT_ONCE = 5_000
