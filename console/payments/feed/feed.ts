// The data of the payments view, kept up to date: the reads, the poller that repeats them, and
// events of the page. Only this file uses the browser's clock.

import { signal } from '@preact/signals'
import { hostClock } from '../../../client/clock.ts'
import type { Route } from '../../address.ts'
import { ApiProblem } from '../../data/http.ts'
import { type Freshness, Poller } from '../../data/poller.ts'
import { expire } from '../../data/session.ts'
import { filtersOf } from './filters.ts'
import { overviewReads, StoryRead } from './reads.ts'
import { TransactionsRead } from './transactions-read.ts'

export type Feed = ReturnType<typeof openFeed>

export function openFeed() {
  const send: typeof fetch = (...args) => fetch(...args)
  const transactions = new TransactionsRead(send)
  const story = new StoryRead(send)
  const overview = overviewReads(send)
  const freshness = signal<Freshness>({ name: 'loading' })

  const reads = [story, transactions, ...Object.values(overview)]
  const poller = new Poller({
    clock: hostClock,
    isVisible: () => !document.hidden,
    async round(aborted) {
      const results = await Promise.allSettled(reads.map((read) => read.refresh(aborted)))
      const failed = results.find((result) => result.status === 'rejected')
      if (failed) throw failed.reason
    },
    onFreshness(current) {
      freshness.value = current
      const problem = current.name === 'unreachable' ? current.problem : undefined
      if (problem instanceof ApiProblem && problem.code === 'unauthorized') expire(problem)
    },
  })
  const wake = () => poller.wake()
  document.addEventListener('visibilitychange', wake)
  addEventListener('online', wake)

  return {
    transactions,
    story: story.shown,
    alerts: overview.alerts.rows,
    parked: overview.parked.rows,
    gateways: overview.gateways.value,
    rates: overview.rates.value,
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
    close(): void {
      poller.stop()
      document.removeEventListener('visibilitychange', wake)
      removeEventListener('online', wake)
    },
  }
}
