// Which transactions are looked at: as the address names them, and as the edge is asked. Pure.

import type { PaymentStatus } from '../../../worker/payments/domain/status.ts'
import { words } from '../../words.ts'

export interface Filters {
  status?: PaymentStatus
  gateway?: string
  /** How a name begins. */
  q?: string
  /** The exact name: the way back from a hosted page. */
  reference?: string
}

/** In the order of a payment's life; the dictionary has a word for each. */
export const STATUSES = Object.keys(words.payments.status) as PaymentStatus[]

/** What no filter knows, an address that was typed may hold; it filters nothing. */
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

/** Where the edge answers one page of them. */
export function pagePath(filters: Filters, limit: number, cursor?: string): string {
  const query = new URLSearchParams({ ...filters, limit: String(limit) })
  if (cursor !== undefined) query.set('cursor', cursor)
  return `/api/payments/transactions?${query}`
}
