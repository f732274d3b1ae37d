// Sets the filters. The address keeps them, so that a link or a reload shows the same.

import { replace, route } from '../router.ts'
import type { Filters } from './filters.ts'

export const SEARCH_ID = 'board-search'

export function filterBy(some: Partial<Filters>): void {
  const { query, ...rest } = route.peek()
  const entries = Object.entries({ ...query, ...some }).filter(([, value]) => value !== '')
  replace({ ...rest, query: Object.fromEntries(entries) })
}

/** The button that asked for it may be gone then: the focus goes to where one searches. */
export function clearFilters(): void {
  replace({ ...route.peek(), query: {} })
  document.getElementById(SEARCH_ID)?.focus()
}
