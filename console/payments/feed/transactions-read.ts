// Reads the transactions that match the filters, newest first, page by page.

import { signal } from '@preact/signals'
import type { Transaction } from '../../../worker/payments/domain/transaction.ts'
import type { Listed } from '../../../worker/payments/queries/queries.ts'
import { type ConditionalRead, conditionalRead } from '../../data/http.ts'
import { merge } from '../../data/merge.ts'
import { type Filters, pagePath } from './filters.ts'
import { MOST_ROWS } from './reads.ts'

interface Page {
  transactions: Listed<Transaction>[]
  cursor?: string
}

export interface TransactionsShown {
  rows: ReadonlyMap<string, Listed<Transaction>>
  hasMore: boolean
  /** How often a row has been seen to change. */
  changes: ReadonlyMap<string, number>
}

/** Whoever wants more reads on in the longest pages that there are. */
const FIRST_PAGE = 50

export class TransactionsRead {
  /** Undefined until they have been read once for these filters. */
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

  /** True: something else is looked at from now on. */
  look(filters: Filters): boolean {
    const key = JSON.stringify(filters)
    if (key === this.#key) return false
    this.#key = key
    this.#filters = filters
    this.#pages = 1
    this.isLoadingMore.value = false
    return true
  }

  wantMore(): void {
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
      const path = pagePath(this.#filters, pages === 1 ? FIRST_PAGE : MOST_ROWS, cursor)
      const page = await this.#reads[at]?.(path, signal)
      // What was typed since counts; another round follows.
      if (!page || key !== this.#key) return
      fresh.push(...page.body.transactions)
      isNew ||= page.isNew
      cursor = page.body.cursor
    }
    if (isNew || this.#shownKey !== key) this.#show(key, fresh, cursor !== undefined)
    if (pages === this.#pages) this.isLoadingMore.value = false
  }

  /** Of which filters `shown` is. */
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
 * `changed` are ids that are new or differ, `before` what was shown. Ids rise with time: one that
 * is new and older than what was shown has only now been asked for.
 */
export function arrivals(before: ReadonlyMap<string, unknown>, changed: readonly string[]) {
  const newest = [...before.keys()].reduce((most, id) => (id > most ? id : most), '')
  return changed.filter((id) => before.has(id) || id > newest)
}
