// The lines of docs/client.md that make a ticket after a ticket, as they stand there.

import { readFileSync } from 'node:fs'
import { EventSource } from 'eventsource'
import { expect, it, onTestFinished } from 'vitest'
import { FakeClock } from '../../libraries/testing/fake-clock.ts'
import { publishedRepo, taskRecord, token } from '../support/edge.ts'
import { processEdge } from '../support/in-process-edge.ts'

const DAY_MS = 86_400_000

it('makes another ticket when the last one has ended, and goes on after the last message', async () => {
  const clock = new FakeClock()
  const edge = processEdge({ clock, limits: { retryMs: 1, ageMs: 10 * DAY_MS } })
  const exp = Math.floor((clock.now() + 30 * DAY_MS) / 1_000)
  const repo = await publishedRepo(edge, [])
  const headers = { Authorization: `Bearer ${await token({ repos: [repo.path], exp })}` }
  const asked: string[] = []
  const fetchHere = (url: string | URL, init?: RequestInit) => {
    const { pathname, search } = new URL(url)
    asked.push(pathname)
    return edge.fetch(pathname + search, init)
  }
  const sources: EventSource[] = []
  class EventSourceHere extends EventSource {
    constructor(url: string) {
      super(url, { fetch: fetchHere as never })
      sources.push(this)
    }
  }
  onTestFinished(() => {
    for (const source of sources) source.close()
  })
  const messages: unknown[] = []
  const names = ['edge', 'headers', 'fetch', 'EventSource', 'refetch', 'setTimeout']
  const lines = /```js\n(let last[\s\S]*?)```/.exec(readFileSync('docs/client.md', 'utf8'))?.[1]
  const watch = new Function(...names, `${lines}\nreturn watch`)(
    edge.origin,
    headers,
    fetchHere,
    EventSourceHere,
    (message: unknown) => messages.push(message),
    (again: () => unknown) => again(),
  ) as () => Promise<void>

  await watch()
  await expect.poll(() => sources[0]?.readyState).toBe(EventSource.OPEN)
  await repo.changes({ upserts: [taskRecord('A-1')] })
  await expect.poll(() => messages).toEqual([{ type: 'task-changed', id: 'A-1' }])
  await clock.advance(DAY_MS)
  await expect.poll(() => sources.length).toBe(2)
  expect(asked.filter((path) => path === '/api/tickets')).toHaveLength(2)
  await expect.poll(() => sources[1]?.readyState).toBe(EventSource.OPEN)
  await repo.changes({ upserts: [taskRecord('A-2')] })
  await expect.poll(() => messages.at(-1)).toEqual({ type: 'task-changed', id: 'A-2' })
  expect(messages).toHaveLength(2)
})
