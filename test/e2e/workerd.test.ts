// workerd by itself, over HTTP: what the tests inside of it cannot show.

import { setTimeout as sleep } from 'node:timers/promises'
import { EventSource } from 'eventsource'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { EdgeHttp } from '../../sidecar/publish/edge-http.ts'
import { boardContract } from '../contract/board.ts'
import { publishedRepo, type Repo, taskRecord, token } from '../support/edge.ts'
import { EventStream } from '../support/event-stream.ts'
import { upload } from '../support/http.ts'
import { type EdgeProcess, startEdge } from '../support/start-edge.ts'

let edge: EdgeProcess
beforeAll(async () => {
  edge = await startEdge('workerd')
})
afterAll(() => edge.close())

boardContract('workerd, over HTTP', { edge: () => edge, sendsConnection: false })

describe('a body that is too long', () => {
  it.each([
    ['a sign-in', '/api/session', 32],
    ['a publishing message', '/api/sync?path=p', 160],
  ])(
    'of %s is refused to a client that sends all of it before it reads',
    async (_, path, pieces) => {
      const bearer = await token({ repos: ['p'], scope: 'board:write' })
      const head = [`Authorization: Bearer ${bearer}`, 'Content-Type: application/json']
      const answer = await upload(`${edge.origin}${path}`, { head, pauseMs: 1, pieces })
      expect(answer).toBe('HTTP/1.1 413 Payload Too Large')
    },
  )
})

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

it('a sidecar whose socket breaks off is told as offline before its last ping is too old', async () => {
  const repo = await publishedRepo(edge, [taskRecord('A-1')])
  const stream = await (await repo.stream()).joined()
  const bearer = await token({ repos: [repo.path] })
  const url = new URL(edge.origin)
  const sidecar = new EdgeHttp({ url, repo: repo.path, token: async () => bearer })
  expect(await sidecar.probe()).toMatchObject({ ok: true })
  const pong = Promise.withResolvers<string>()
  const socket = sidecar.attach?.(repo.run, {
    open: () => socket?.send('ping'),
    text: pong.resolve,
    closed: () => pong.reject(new Error('it was closed')),
  })
  expect(await pong.promise).toBe('pong')
  const status = () => repo.json('/status')
  expect(await status()).toMatchObject({ sidecar: { state: 'running' } })
  socket?.close()
  // Nothing is waited for so long as the 55 s after which a sidecar counts as offline without that.
  await stream.until(({ messages }) => messages.length > 0)
  expect(stream.messages).toEqual([{ type: 'tasks-changed' }])
  expect(await status()).toMatchObject({ sidecar: { state: 'offline' } })
  await stream.close()
  sidecar.close()
})

// Both wait for a quarter of a minute.
describe.concurrent('after some time', () => {
  it('the eventsource package sees the messages and nothing else of comments, pings and bare ids', async ({
    expect,
  }) => {
    const repo = await publishedRepo(edge, [taskRecord('A-1')])
    const { source, events } = await listen(repo)
    // Opened after the source, this one has its first ping after it too.
    const beside = await repo.stream()
    await beside.until(({ blocks }) => blocks.some(({ comment }) => comment === 'ping'))
    await beside.close()
    expect(events).toEqual([])
    const { seq } = await repo.changes({ upserts: [taskRecord('A-2')] })
    await expect.poll(() => events.length).toBe(1)
    expect(events).toEqual([
      { type: 'message', data: { type: 'task-changed', id: 'A-2' }, id: seq },
    ])
    source.close()
  })

  it('an object with 100 streams, opened at once, sleeps, and wakes for all of them', async ({
    expect,
  }) => {
    const repo = await publishedRepo(edge, [taskRecord('A-1')])
    const streams = await Promise.all(
      Array.from({ length: 100 }, async () => (await repo.stream()).joined()),
    )
    // The runtime lets an idle object go after 10 s, later where the machine is busy. Whoever looks
    // whether it sleeps wakes it.
    const hasSlept = async (ms: number) => {
      const from = Date.now()
      await sleep(ms)
      await repo.changes({ upserts: [taskRecord(`B-${ms}`)] })
      const { awakeSince } = await repo.json<{ awakeSince: string }>('/status')
      return Date.parse(awakeSince) > from
    }
    const sent = (await hasSlept(13_000)) ? 1 : (await hasSlept(25_000)) ? 2 : undefined
    expect(sent, 'it never slept').toBeDefined()
    for (const stream of streams) await stream.until((s) => s.messages.length === sent)
    await Promise.all(streams.map((stream) => stream.close()))
  })
})

it('streams share a socket, and leader after leader may go without a lost or doubled message', async () => {
  const repo = await publishedRepo(edge, [taskRecord('A-1')])
  const aborts = Array.from({ length: 60 }, () => new AbortController())
  const streams = await Promise.all(
    aborts.map(async ({ signal }) =>
      new EventStream(await repo.request('/events', { signal })).joined(),
    ),
  )
  const sent: unknown[] = []
  // A message is on its way whenever one goes; whoever led goes first.
  for (let n = 0; n < 40; n++) {
    const published = repo.changes({ upserts: [taskRecord(`B-${n}`)] })
    aborts[n]?.abort()
    await published
    sent.push({ type: 'task-changed', id: `B-${n}` })
  }
  for (const stream of streams.slice(40)) {
    await stream.until(({ messages }) => messages.length >= sent.length)
    expect(stream.messages).toEqual(sent)
  }
  const streamsOf = async () => (await repo.json<{ streams: number }>('/status')).streams
  // Told in round numbers.
  await expect.poll(streamsOf).toBeLessThanOrEqual(22)
  for (const abort of aborts.slice(40)) abort.abort()
})
