// workerd by itself, over HTTP: what the tests inside of it cannot show.

import { EventSource } from 'eventsource'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { boardContract } from '../contract/board.ts'
import { publishedRepo, type Repo, taskRecord, token } from '../support/edge.ts'
import { type EdgeProcess, startEdge } from '../support/edge-process.ts'

let edge: EdgeProcess
beforeAll(async () => {
  edge = await startEdge('workerd')
})
afterAll(() => edge.close())

boardContract('workerd, over HTTP', { edge: () => edge, sendsConnection: false })

async function listen(repo: Repo) {
  const bearer = await token({ repos: [repo.path] })
  const source = new EventSource(`${edge.origin}/api/events`, {
    fetch: (url, init) =>
      fetch(url, { ...init, headers: { ...init.headers, Authorization: `Bearer ${bearer}` } }),
  })
  const events: { type: string; data: unknown; id: string }[] = []
  source.onmessage = (event) =>
    events.push({ type: event.type, data: JSON.parse(event.data), id: event.lastEventId })
  await new Promise((resolve) => source.addEventListener('open', resolve, { once: true }))
  return { source, events }
}

describe('the eventsource package', () => {
  it('sees the messages and nothing else of comments, pings, retries and bare ids', async () => {
    const repo = await publishedRepo(edge, [taskRecord('A-1')])
    const { source, events } = await listen(repo)
    // Long enough for one ping.
    await new Promise((resolve) => setTimeout(resolve, 16_000))
    expect(events).toEqual([])
    const { seq } = await repo.changes({ upserts: [taskRecord('A-2')] })
    await expect.poll(() => events.length).toBe(1)
    expect(events).toEqual([
      { type: 'message', data: { type: 'task-changed', id: 'A-2' }, id: seq },
    ])
    source.close()
  })
})

it('an object with 100 streams, opened at once, sleeps, and wakes for all of them', async () => {
  const repo = await publishedRepo(edge, [taskRecord('A-1')])
  const streams = await Promise.all(
    Array.from({ length: 100 }, async () => (await repo.stream()).joined()),
  )
  const slept = Date.now()
  // The runtime lets an idle object go after 10 s.
  await new Promise((resolve) => setTimeout(resolve, 13_000))
  await repo.changes({ upserts: [taskRecord('A-2')] })
  for (const stream of streams) await stream.until((s) => s.messages.length === 1)
  const { awakeSince } = await repo.json<{ awakeSince: string }>('/status')
  expect(Date.parse(awakeSince)).toBeGreaterThan(slept)
  await Promise.all(streams.map((stream) => stream.close()))
})
