// What every way to read the event stream must keep, over a real edge.

import { EventSource } from 'eventsource'
import { afterEach, describe, expect, it } from 'vitest'
import { type Clock, hostClock } from '../../client/clock.ts'
import { Credentials } from '../../client/credentials.ts'
import { Edge as ClientEdge } from '../../client/edge.ts'
import type { OpenStream, StreamSource } from '../../client/stream.ts'
import { eventSourceStreams } from '../../client/stream-event-source.ts'
import {
  type Edge,
  publishedRepo,
  type Repo,
  sessionRecord,
  taskRecord,
  token,
} from '../support/edge.ts'
import { processEdge } from '../support/process-edge.ts'

export type MakeSource = (
  edge: ClientEdge,
  clock: Clock,
  fetch: typeof globalThis.fetch,
) => StreamSource

/** EventSource as Node has it, by the `fetch` of a test. */
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

    function sourceFor(repo: Repo, give: () => Promise<string>, over = edge()) {
      const fetchIt = ((input: string, init?: RequestInit) =>
        over.fetch(String(input).slice(over.origin.length), init)) as typeof fetch
      const credentials = new Credentials(give, hostClock)
      const { origin: url } = over
      const client = { url, path: repo.path, credentials, fetch: fetchIt, clock: hostClock }
      return make(new ClientEdge(client), hostClock, fetchIt)
    }

    function listen(source: StreamSource, lastEventId?: string) {
      const heard: unknown[] = []
      let place: string | undefined
      const stream = source.open(lastEventId, {
        opened: () => heard.push('opened'),
        alive: () => undefined,
        retry: () => undefined,
        told: (data, id) => heard.push([JSON.parse(data), id]),
        place: (id) => {
          place = id
        },
        ended: (why) => heard.push('refused' in why ? why.refused.code : why.reason),
      })
      open.add(stream)
      return { heard, stream, place: () => place }
    }

    const reads = (repo: Repo) => token({ repos: [repo.path], scope: 'board:read' })
    const changed = (id: string, seq: string) => [{ type: 'task-changed', id }, seq]

    it('tells each change with its id, and resumes after one', async () => {
      const repo = await publishedRepo(edge(), [taskRecord('A-1')])
      const source = sourceFor(repo, () => reads(repo))
      const first = listen(source)
      await expect.poll(() => first.heard).toEqual(['opened'])
      const one = await repo.changes({ upserts: [taskRecord('A-2')] })
      await expect.poll(() => first.heard).toEqual(['opened', changed('A-2', one.seq)])
      expect(first.place()).toBe(one.seq)
      first.stream.close()
      const two = await repo.changes({ upserts: [taskRecord('A-3')] })
      const three = await repo.changes({ upserts: [taskRecord('A-4')] })
      const second = listen(source, one.seq)
      await expect.poll(() => second.heard).toHaveLength(3)
      expect(second.heard).toContainEqual(changed('A-3', two.seq))
      expect(second.heard).toContainEqual(changed('A-4', three.seq))
      expect(first.heard).toHaveLength(2)
    })

    it('has no id for a message that has none, so that a break after it loses nothing', async () => {
      const repo = await publishedRepo(edge(), [taskRecord('A-1')])
      await repo.changes({ upserts: [sessionRecord('ses_1')] })
      const { heard } = listen(
        sourceFor(repo, () => reads(repo)),
        'anotherepoch-7',
      )
      await expect.poll(() => heard.filter((one) => Array.isArray(one))).toHaveLength(2)
      const [tasks, sessions] = heard.filter((one) => Array.isArray(one))
      expect(tasks).toEqual([{ type: 'tasks-changed' }, undefined])
      expect(sessions).toMatchObject([{ type: 'session-changed' }, expect.any(String)])
    })

    it('is refused for good by a token that is not valid, or for another repository', async () => {
      const repo = await publishedRepo(edge())
      const invalid = listen(sourceFor(repo, async () => 'nonsense'))
      await expect.poll(() => invalid.heard).toEqual(['unauthorized'])
      const foreign = listen(sourceFor(repo, () => token({ repos: ['another'] })))
      await expect.poll(() => foreign.heard).toEqual(['forbidden'])
    })

    it('asks for another token when one is refused, and takes that', async () => {
      const repo = await publishedRepo(edge())
      const tokens = ['nonsense', await reads(repo)]
      const { heard } = listen(sourceFor(repo, async () => tokens.shift() ?? ''))
      await expect.poll(() => heard).toEqual(['opened'])
      expect(tokens).toEqual([])
    })

    it('says when the edge ended it, and that it did not open when nothing answers', async () => {
      const short = processEdge({ limits: { ageMs: 200 } })
      const repo = await publishedRepo(short)
      const { heard } = listen(sourceFor(repo, () => reads(repo), short))
      await expect.poll(() => heard).toEqual(['opened', 'ended'])
      const nobody = { ...short, fetch: () => Promise.reject(new TypeError('nobody there')) }
      const lost = listen(sourceFor(repo, () => reads(repo), nobody))
      await expect.poll(() => lost.heard).toEqual(['unreachable'])
    })

    it('may try again where the edge answers with an error of its own', async () => {
      const broken = { ...edge(), fetch: async () => new Response('oops', { status: 502 }) }
      const repo = await publishedRepo(edge())
      const { heard } = listen(sourceFor(repo, () => reads(repo), broken))
      await expect.poll(() => heard).toEqual(['failing'])
    })

    it('says nothing any more once it is closed, even while it is dialled', async () => {
      const repo = await publishedRepo(edge())
      const source = sourceFor(repo, () => reads(repo))
      const dialling = listen(source)
      dialling.stream.close()
      const opened = listen(source)
      await expect.poll(() => opened.heard).toEqual(['opened'])
      opened.stream.close()
      await repo.changes({ upserts: [taskRecord('A-2')] })
      await expect
        .poll(async () => (await repo.json<{ streams: number }>('/status')).streams)
        .toBe(0)
      expect(dialling.heard).toEqual([])
      expect(opened.heard).toEqual(['opened'])
    })
  })
}
