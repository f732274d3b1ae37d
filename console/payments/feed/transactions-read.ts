// Reads the transactions that match the filters, newest first, page by page.

import { signal } from '@preact/signals'
import type { Transaction } from '../../../api/types.ts'
import { type ConditionalRead, conditionalRead } from '../../data/http.ts'
import { merge } from '../../data/merge.ts'
import { type Filters, pagePath } from './filters.ts'
import { MAX_ROWS } from './reads.ts'
import type { Listed } from './story.ts'

interface Page {
  transactions: Listed<Transaction>[]
  cursor?: string
}

export interface TransactionsShown {
  rows: ReadonlyMap<string, Listed<Transaction>>
  hasMore: boolean
  /** How often a row has changed while it was shown. */
  changes: ReadonlyMap<string, number>
}

/** After "Load more", pages have the maximum size. */
const FIRST_PAGE = 50

export class TransactionsRead {
  /** Undefined until the first read. */
  readonly shown = signal<TransactionsShown | undefined>(undefined)
  readonly isLoadingMore = signal(false)
  readonly #send: typeof fetch
  #reads: ConditionalRead<Page>[] = []
  #filters: Filters = {}
  #key = '{}'
  #pages = 1

  constructor(send: typeof fetch) {
    this.#send = send
  }

  /** Returns whether the filters changed. */
  setFilters(filters: Filters): boolean {
    const key = JSON.stringify(filters)
    if (key === this.#key) return false
    this.#key = key
    this.#filters = filters
    this.#pages = 1
    this.isLoadingMore.value = false
    return true
  }

  loadMore(): void {
    this.#pages++
    this.isLoadingMore.value = true
  }

  async refresh(signal: AbortSignal): Promise<void> {
    const key = this.#key
    const pages = this.#pages
    const fresh: Listed<Transaction>[] = []
    let cursor: string | undefined
    let isNew = false
    for (let at = 0; at < pages && (at === 0 || cursor !== undefined); at++) {
      this.#reads[at] ??= conditionalRead(this.#send)
      const path = pagePath(this.#filters, pages === 1 ? FIRST_PAGE : MAX_ROWS, cursor)
      const page = await this.#reads[at]?.(path, signal)
      // The filters changed during this read. Another round follows.
      if (!page || key !== this.#key) return
      fresh.push(...page.body.transactions)
      isNew ||= page.isNew
      cursor = page.body.cursor
    }
    if (isNew || this.#shownKey !== key) this.#show(key, fresh, cursor !== undefined)
    if (pages === this.#pages) this.isLoadingMore.value = false
  }

  /** The filters of `shown`. */
  #shownKey: string | undefined

  #show(key: string, fresh: readonly Listed<Transaction>[], hasMore: boolean): void {
    const known = this.#shownKey === key ? this.shown.peek() : undefined
    const before = known?.rows ?? new Map<string, Listed<Transaction>>()
    const { items, changed } = merge(before, fresh)
    const changes = new Map(known?.changes)
    if (known)
      for (const id of arrivals(before, changed)) changes.set(id, (changes.get(id) ?? 0) + 1)
    this.#shownKey = key
    this.shown.value = { rows: items, hasMore, changes }
  }
}

/**
 * The changed rows that should flash: not those that were only loaded later, with "Load more".
 * `changed` are the ids that are new or differ; `before` is what was shown. Ids rise with time, so
 * a new row with an older id than the newest shown one was loaded later.
 */
export function arrivals(before: ReadonlyMap<string, unknown>, changed: readonly string[]) {
  const newest = [...before.keys()].reduce((max, id) => (id > max ? id : max), '')
  return changed.filter((id) => before.has(id) || id > newest)
}
