// The data of the payments view, kept up to date: the reads, the poller that repeats them, and
// events of the page. Their results are signals.

import { signal } from '@preact/signals'
import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import type {
  Alert,
  FailingEndpoints,
  Gateways,
  TransactionStory,
  Unreadable,
  WebhookEvent,
  WebhookRates,
} from '../../libraries/api/types.ts'
import type { Route } from '../address.ts'
import { ApiProblem, merge, repeatedRead } from '../data/http.ts'
import { openPagePoller } from '../data/page-poller.ts'
import type { Freshness } from '../data/poller.ts'
import { type Story, storyOf } from './story.ts'
import { filtersOf, MAX_ROWS, TransactionsRead } from './transactions-read.ts'

export type Feed = ReturnType<typeof openFeed>

export const FeedContext = createContext<Feed | undefined>(undefined)

/** The feed of the payments view, which all components below it share. */
export function useFeed(): Feed {
  const feed = useContext(FeedContext)
  if (!feed) throw new Error('there is no FeedContext')
  return feed
}

export function openFeed() {
  const transactions = new TransactionsRead()
  const story = storyRead()
  const alerts = listRead<Alert | Unreadable>(`/alerts?limit=${MAX_ROWS}`, 'alerts')
  const parked = listRead<WebhookEvent | Unreadable>(
    `/webhook-events?outcome=parked&limit=${MAX_ROWS}`,
    'webhookEvents',
  )
  const gateways = valueRead<Gateways>('/gateways')
  const rates = valueRead<WebhookRates>('/webhook-rates?minutes=60')
  const failing = valueRead<FailingEndpoints>('/failing-endpoints')
  const freshness = signal<Freshness>({ name: 'loading' })

  const reads = [story, transactions, alerts, parked, gateways, rates, failing]
  const poller = openPagePoller({
    async round(aborted) {
      const results = await Promise.allSettled(reads.map((read) => read.refresh(aborted)))
      const failed = results.find((result) => result.status === 'rejected')
      if (failed) throw failed.reason
    },
    onFreshness(current) {
      freshness.value = current
    },
  })

  return {
    transactions,
    story: story.shown,
    alerts: alerts.rows,
    parked: parked.rows,
    gateways: gateways.value,
    rates: rates.value,
    /** Endpoints of the shop. */
    failing: failing.value,
    freshness,
    /** Reads what this route shows from now on. */
    show({ id, query }: Route): void {
      const isFiltered = transactions.setFilters(filtersOf(query))
      const isOpened = id !== undefined && id !== story.shown.peek()?.id
      story.open(id)
      if (isFiltered || isOpened || freshness.peek().name === 'loading') poller.refresh()
    },
    loadMore(): void {
      transactions.loadMore()
      poller.refresh()
    },
    /** Call this after an action of the user, to read its result. */
    refresh: () => poller.refresh(),
    close: () => poller.close(),
  }
}

const API = '/api/payments'

function valueRead<Body>(path: string) {
  const value = signal<Body | undefined>(undefined)
  const read = repeatedRead<Body>()
  return {
    value,
    async refresh(aborted: AbortSignal) {
      value.value = await read(API + path, aborted)
    },
  }
}

/** `name`: the field with the list. Rows that did not change stay the same objects. */
function listRead<Row extends { id: string }>(path: string, name: string) {
  const rows = signal<ReadonlyMap<string, Row> | undefined>(undefined)
  const { value, refresh } = valueRead<Readonly<Record<string, Row[]>>>(path)
  value.subscribe((body) => {
    if (body) rows.value = merge(rows.peek(), body[name] ?? []).items
  })
  return { rows, refresh }
}

type StoryShown =
  | { name: 'loading'; id: string }
  | { name: 'found'; id: string; story: Story }
  | { name: 'unknown'; id: string }

/** The story of the open payment, if one is open. */
function storyRead() {
  const shown = signal<StoryShown | undefined>(undefined)
  const read = repeatedRead<TransactionStory>()
  let known: TransactionStory | undefined
  return {
    shown,
    open(id: string | undefined): void {
      if (shown.peek()?.id === id) return
      known = undefined
      shown.value = id === undefined ? undefined : { name: 'loading', id }
    },
    async refresh(aborted: AbortSignal): Promise<void> {
      const id = shown.peek()?.id
      if (id === undefined) return
      // The user may have opened another payment by then.
      const isOpen = () => shown.peek()?.id === id
      try {
        const answer = await read(`${API}/transactions/${encodeURIComponent(id)}`, aborted)
        if (!isOpen() || answer === known) return
        known = answer
        shown.value = { name: 'found', id, story: storyOf(answer) }
      } catch (problem) {
        const isUnknown = problem instanceof ApiProblem && problem.code === 'unknown_transaction'
        if (!isUnknown) throw problem
        if (isOpen()) shown.value = { name: 'unknown', id }
      }
    },
  }
}
