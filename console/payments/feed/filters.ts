// The filters of the transactions: from the URL, and in the request to the edge. Pure.

import type { PaymentStatus } from '../../../api/types.ts'
import { paymentWords } from '../words.ts'

export interface Filters {
  status?: PaymentStatus
  gateway?: string
  /** The beginning of a reference or id. */
  q?: string
  /** The exact reference. Used for the return from a payment page. */
  reference?: string
}

/** In the order of the life of a payment. */
export const STATUSES = Object.keys(paymentWords.status) as PaymentStatus[]

/** The URL may hold unknown names or values: they are ignored. */
export function filtersOf(query: Readonly<Record<string, string>>): Filters {
  const status = STATUSES.find((known) => known === query.status)
  const { gateway, q, reference } = query
  return {
    ...(status && { status }),
    ...(gateway && { gateway }),
    ...(q?.trim() && { q: q.trim() }),
    ...(reference && { reference }),
  }
}

export const isFiltering = (filters: Filters): boolean => Object.keys(filters).length > 0

/** The path of one page of transactions. */
export function pagePath(filters: Filters, limit: number, cursor?: string): string {
  const query = new URLSearchParams({ ...filters, limit: String(limit) })
  if (cursor !== undefined) query.set('cursor', cursor)
  return `/api/payments/transactions?${query}`
}
