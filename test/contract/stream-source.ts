// The contract of every stream source, over a real edge.

import { EventSource } from 'eventsource'
import { afterEach, describe, expect, it } from 'vitest'
import { Edge as ClientEdge } from '../../libraries/client/requests.ts'
import type { OpenStream, StreamSource } from '../../libraries/client/stream.ts'
import { eventSourceStreams } from '../../libraries/client/stream-event-source.ts'
import { type Clock, hostClock } from '../../worker/shared/clock.ts'
import {
  type Edge,
  publishedRepo,
  type Repo,
  sessionRecord,
  taskRecord,
  token,
} from '../support/edge.ts'
import { processEdge } from '../support/in-process-edge.ts'

export type MakeSource = (
  edge: ClientEdge,
  clock: Clock,
  fetch: typeof globalThis.fetch,
) => StreamSource

/** The EventSource class of the package `eventsource`, with the `fetch` of a test. */
export const eventSourcesOver: MakeSource = (edge, clock, fetch) => {
  class Source extends EventSource {
    constructor(url: string) {
      super(url, { fetch: (input, init) => fetch(String(input), init as RequestInit) })
    }
  }
  return eventSourceStreams(edge, Source, clock)
}

export function streamSourceContract(name: string, make: MakeSource, edge: () => Edge): void {
  describe(`an event stream by ${name}`, () => {
    const open = new Set<OpenStream>()
    afterEach(() => {
      for (const stream of open) stream.close()
      open.clear()
    })

    function sourceFor(repo: Repo, getToken: () => Promise<string>, over = edge()) {
      const fetchIt = ((input: string, init?: RequestInit) =>
        over.fetch(String(input).slice(over.origin.length), init)) as typeof fetch
      const { origin: url } = over
      const client = { url, path: repo.path, token: getToken, fetch: fetchIt, clock: hostClock }
      return make(new ClientEdge(client), hostClock, fetchIt)
    }

    function listen(source: StreamSource, lastEventId?: string) {
      const events: unknown[] = []
      let position: string | undefined
      const stream = source.open(lastEventId, {
        opened: () => events.push('opened'),
        alive: () => undefined,
        retry: () => undefined,
        message: (data, id) => events.push([JSON.parse(data), id]),
        position: (id) => {
          position = id
        },
        ended: (end) => events.push('refused' in end ? end.refused.code : end.reason),
      })
      open.add(stream)
      return { events, stream, position: () => position }
    }

    const reads = (repo: Repo) => token({ repos: [repo.path], scope: 'board:read' })
    const changed = (id: string, seq: string) => [{ type: 'task-changed', id }, seq]

    it('brings each change with its id, and resumes after an id', async () => {
      const repo = await publishedRepo(edge(), [taskRecord('A-1')])
      const source = sourceFor(repo, () => reads(repo))
      const first = listen(source)
      await expect.poll(() => first.events).toEqual(['opened'])
      const one = await repo.changes({ upserts: [taskRecord('A-2')] })
      await expect.poll(() => first.events).toEqual(['opened', changed('A-2', one.seq)])
      expect(first.position()).toBe(one.seq)
      first.stream.close()
      const two = await repo.changes({ upserts: [taskRecord('A-3')] })
      const three = await repo.changes({ upserts: [taskRecord('A-4')] })
      const second = listen(source, one.seq)
      await expect.poll(() => second.events).toHaveLength(3)
      expect(second.events).toContainEqual(changed('A-3', two.seq))
      expect(second.events).toContainEqual(changed('A-4', three.seq))
      expect(first.events).toHaveLength(2)
    })

    it('has no id for a message without one, so that a break after it loses nothing', async () => {
      const repo = await publishedRepo(edge(), [taskRecord('A-1')])
      await repo.changes({ upserts: [sessionRecord('ses_1')] })
      const { events } = listen(
        sourceFor(repo, () => reads(repo)),
        'anotherepoch-7',
      )
      await expect.poll(() => events.filter((one) => Array.isArray(one))).toHaveLength(2)
      const [tasks, sessions] = events.filter((one) => Array.isArray(one))
      expect(tasks).toEqual([{ type: 'tasks-changed' }, undefined])
      expect(sessions).toMatchObject([{ type: 'session-changed' }, expect.any(String)])
    })

    it('is refused for an invalid token, and for a token of another repository', async () => {
      const repo = await publishedRepo(edge())
      const invalid = listen(sourceFor(repo, async () => 'nonsense'))
      await expect.poll(() => invalid.events).toEqual(['unauthorized'])
      const foreign = listen(sourceFor(repo, () => token({ repos: ['another'] })))
      await expect.poll(() => foreign.events).toEqual(['forbidden'])
    })

    it('uses another token after a refusal', async () => {
      const repo = await publishedRepo(edge())
      const tokens = ['nonsense', await reads(repo)]
      const { events } = listen(sourceFor(repo, async () => tokens.shift() ?? ''))
      await expect.poll(() => events).toEqual(['opened'])
      expect(tokens).toEqual([])
    })

    it('distinguishes a stream that the edge ended from an edge that is unreachable', async () => {
      const short = processEdge({ limits: { ageMs: 200 } })
      const repo = await publishedRepo(short)
      const { events } = listen(sourceFor(repo, () => reads(repo), short))
      await expect.poll(() => events).toEqual(['opened', 'ended'])
      const nobody = { ...short, fetch: () => Promise.reject(new TypeError('nobody there')) }
      const lost = listen(sourceFor(repo, () => reads(repo), nobody))
      await expect.poll(() => lost.events).toEqual(['unreachable'])
    })

    it('ends with `failing` when the edge answers with a server error', async () => {
      const broken = { ...edge(), fetch: async () => new Response('oops', { status: 502 }) }
      const repo = await publishedRepo(edge())
      const { events } = listen(sourceFor(repo, () => reads(repo), broken))
      await expect.poll(() => events).toEqual(['failing'])
    })

    it('calls no event after close(), even during the dial', async () => {
      const repo = await publishedRepo(edge())
      const source = sourceFor(repo, () => reads(repo))
      const dialling = listen(source)
      dialling.stream.close()
      const opened = listen(source)
      await expect.poll(() => opened.events).toEqual(['opened'])
      opened.stream.close()
      await repo.changes({ upserts: [taskRecord('A-2')] })
      await expect
        .poll(async () => (await repo.json<{ streams: number }>('/status')).streams)
        .toBe(0)
      expect(dialling.events).toEqual([])
      expect(opened.events).toEqual(['opened'])
    })
  })
}
