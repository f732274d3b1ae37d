// Reads the transactions that match the filters, newest first, page by page.

import { signal } from '@preact/signals'
import type { PaymentStatus, TransactionsPage } from '../../libraries/api/types.ts'
import { merge, type RepeatedRead, repeatedRead } from '../data/http.ts'
import { isDay } from '../ui/format.ts'
import { STATUSES } from './format.ts'

export interface Filters {
  status?: PaymentStatus
  gateway?: string
  /** Only payments with an open issue. */
  needs?: 'person'
  /** A part of what the shop named, or the beginning or end of an id. */
  q?: string
  currency?: string
  /** When it was made: from a time on, and before one. */
  after?: string
  before?: string
  /** The exact reference. Used for the return from a payment page. */
  reference?: string
}

/** The URL may hold unknown names or values: they are ignored. Days are those of this machine. */
export function filtersOf(query: Readonly<Record<string, string>>): Filters {
  const { status = '', gateway, q, reference, currency = '', needs } = query
  const isCurrency = /^[A-Z]{3}$/.test(currency)
  const after = midnightOf(query.from)
  const before = midnightOf(query.to, 1)
  return {
    ...(Object.hasOwn(STATUSES, status) && { status: status as PaymentStatus }),
    ...(gateway && { gateway }),
    ...(needs && { needs: 'person' }),
    ...(q?.trim() && { q: q.trim() }),
    ...(reference && { reference }),
    ...(isCurrency && { currency }),
    ...(after !== undefined && { after }),
    ...(before !== undefined && { before }),
  }
}

/** At its beginning, or so many days later. */
function midnightOf(day: string | undefined, later = 0): string | undefined {
  if (!isDay(day)) return undefined
  const at = new Date(`${day}T00:00`)
  at.setDate(at.getDate() + later)
  return at.toISOString()
}

export const isFiltering = (filters: Filters): boolean => Object.keys(filters).length > 0

type Row = TransactionsPage['transactions'][number]

export interface TransactionsShown {
  rows: ReadonlyMap<string, Row>
  hasMore: boolean
  /** How often a row has changed while it was shown. */
  changes: ReadonlyMap<string, number>
}

/** Rounds of the poller, one in 5 s. */
const SEARCH_ROUNDS = 6
/** After "Load more", pages have the maximum size. */
const FIRST_PAGE = 50
/** The maximum page size of the edge. */
export const MAX_ROWS = 200

export class TransactionsRead {
  /** Undefined until the first read. */
  readonly shown = signal<TransactionsShown | undefined>(undefined)
  readonly isLoadingMore = signal(false)
  #reads: RepeatedRead<TransactionsPage>[] = []
  #pages: readonly TransactionsPage[] = []
  #wanted = 1
  #filters: Filters = {}
  #key = '{}'
  /** Since the filters were shown. */
  #round = 0
  /** The filters of `shown`. */
  #shownKey: string | undefined

  /** Returns whether the filters changed. */
  setFilters(filters: Filters): boolean {
    const key = JSON.stringify(filters)
    if (key === this.#key) return false
    this.#key = key
    this.#filters = filters
    this.#wanted = 1
    this.isLoadingMore.value = false
    return true
  }

  loadMore(): void {
    this.#wanted++
    this.isLoadingMore.value = true
  }

  async refresh(signal: AbortSignal): Promise<void> {
    const key = this.#key
    if (!this.#isDue(key)) return
    const wanted = this.#wanted
    const pages: TransactionsPage[] = []
    do {
      const read = this.#reads[pages.length] ?? repeatedRead<TransactionsPage>()
      this.#reads[pages.length] = read
      const limit = wanted === 1 ? FIRST_PAGE : MAX_ROWS
      pages.push(await read(pathOf(this.#filters, limit, pages.at(-1)?.cursor), signal))
      // The filters changed during this read. Another round follows.
      if (key !== this.#key) return
    } while (pages.length < wanted && pages.at(-1)?.cursor !== undefined)
    const isSame = pages.every((page, at) => page === this.#pages[at])
    if (!isSame || pages.length !== this.#pages.length || key !== this.#shownKey) this.#show(pages)
    if (wanted === this.#wanted) this.isLoadingMore.value = false
  }

  /** A search may read the texts of all payments: what it has shown is not read each time. */
  #isDue(key: string): boolean {
    const isShown = key === this.#shownKey && !this.isLoadingMore.peek()
    this.#round = isShown ? this.#round + 1 : 0
    return this.#filters.q === undefined || this.#round % SEARCH_ROUNDS === 0
  }

  #show(pages: readonly TransactionsPage[]): void {
    const known = this.#shownKey === this.#key ? this.shown.peek() : undefined
    const fresh = pages.flatMap(({ transactions }) => transactions)
    const { items, changed } = merge(known?.rows, fresh)
    const changes = new Map(known?.changes)
    for (const id of known ? arrivals(known.rows, changed) : []) {
      changes.set(id, (changes.get(id) ?? 0) + 1)
    }
    this.#pages = pages
    this.#shownKey = this.#key
    this.shown.value = { rows: items, hasMore: pages.at(-1)?.cursor !== undefined, changes }
  }
}

/** The path of one page of transactions. */
export const pathOf = (filters: Filters, limit: number, cursor?: string): string =>
  path({ ...filters, limit, ...(cursor !== undefined && { cursor }) })

/** The path of all of them, as a file. */
export const filePathOf = (filters: Filters): string => path({ ...filters, format: 'csv' })

function path(parameters: object): string {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(parameters)) query.set(name, String(value))
  return `/api/payments/transactions?${query}`
}

/**
 * The changed rows that should flash: not those that were only loaded later, with "Load more".
 * `changed` are the ids that are new or differ; `before` is what was shown. Ids rise with time, so
 * a new row with an older id than the newest shown one was loaded later.
 */
function arrivals(before: ReadonlyMap<string, unknown>, changed: readonly string[]) {
  const newest = [...before.keys()].reduce((max, id) => (id > max ? id : max), '')
  return changed.filter((id) => before.has(id) || id > newest)
}
