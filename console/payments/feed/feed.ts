// What the payments view shows, kept current: the reads, the poller that repeats them, the page's
// own events. The one place here that knows the browser's clock.

import { signal } from '@preact/signals'
import { hostClock } from '../../../client/clock.ts'
import type { Route } from '../../address.ts'
import { ApiProblem } from '../../data/http.ts'
import { Poller } from '../../data/poller.ts'
import { expire } from '../../data/session.ts'
import { filtersOf } from './filters.ts'
import type { Freshness } from './freshness.ts'
import { StoryRead, surroundings } from './reads.ts'
import { TransactionsRead } from './transactions-read.ts'

export type Feed = ReturnType<typeof openFeed>

export function openFeed() {
  const send: typeof fetch = (...given) => fetch(...given)
  const transactions = new TransactionsRead(send)
  const story = new StoryRead(send)
  const around = surroundings(send)
  const freshness = signal<Freshness>({ name: 'first' })

  const reads = [story, transactions, ...Object.values(around)]
  const poller = new Poller({
    clock: hostClock,
    isSeen: () => !document.hidden,
    async round(aborted) {
      const ended = await Promise.allSettled(reads.map((read) => read.refresh(aborted)))
      const failed = ended.find((end) => end.status === 'rejected')
      if (failed) throw failed.reason
    },
    on(now) {
      freshness.value = now
      const problem = now.name === 'unreached' ? now.problem : undefined
      if (problem instanceof ApiProblem && problem.code === 'unauthorized') expire(problem)
    },
  })
  const wake = () => poller.wake()
  document.addEventListener('visibilitychange', wake)
  addEventListener('online', wake)

  return {
    transactions,
    story: story.shown,
    alerts: around.alerts.rows,
    parked: around.parked.rows,
    gateways: around.gateways.value,
    rates: around.rates.value,
    freshness,
    /** What the address names is looked at from now on. */
    look({ id, query }: Route): void {
      const isOther = transactions.look(filtersOf(query))
      const isOpened = id !== undefined && id !== story.shown.peek()?.id
      story.open(id)
      if (isOther || isOpened || freshness.peek().name === 'first') poller.ask()
    },
    loadMore(): void {
      transactions.wantMore()
      poller.ask()
    },
    /** Something was done: see what came of it. */
    ask: () => poller.ask(),
    close(): void {
      poller.stop()
      document.removeEventListener('visibilitychange', wake)
      removeEventListener('online', wake)
    },
  }
}
