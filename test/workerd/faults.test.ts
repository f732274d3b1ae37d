// Faults made on purpose, on the runtime itself. The pool of these tests switches off that a promise
// of one request is resolved by another, which streams of one isolate rely on: where several of them
// share a socket here, the test opens them all. test/e2e/workerd.test.ts has the rest.

import {
  env,
  evictDurableObject,
  listDurableObjectIds,
  runInDurableObject,
  SELF,
} from 'cloudflare:test'
import { describe, expect, it } from 'vitest'
import type { DirectoryObject } from '../../worker/board/directory/directory-object.ts'
import { objectRepositories } from '../../worker/board/repository/repositories-object.ts'
import type { RepositoryObject } from '../../worker/board/repository/repository-object.ts'
import { openStream, STREAM_LIMITS } from '../../worker/board/streams/stream.ts'
import {
  objectEndedSessions,
  type SessionsObject,
} from '../../worker/session/ended-sessions-object.ts'
import { hostClock } from '../../worker/shared/clock.ts'
import { boardReport, type Edge, publishedRepo, Repo, taskRecord, token } from '../support/edge.ts'
import { EventStream } from '../support/event-stream.ts'
import { documentedFetch } from '../support/openapi-operations.ts'

const {
  REPOSITORY: namespace,
  SESSIONS: sessions,
  DIRECTORY: directory,
} = env as unknown as {
  REPOSITORY: DurableObjectNamespace<RepositoryObject>
  SESSIONS: DurableObjectNamespace<SessionsObject>
  DIRECTORY: DurableObjectNamespace<DirectoryObject>
}
const origin = 'https://edge.test'
const edge: Edge = { origin, fetch: documentedFetch(origin, (...of) => SELF.fetch(...of)) }
const objectOf = (repo: Repo) => namespace.getByName(repo.path)
const awakeSince = async (repo: Repo) =>
  (await repo.json<{ awakeSince: string }>('/status')).awakeSince

const ROOM = { all: 100, each: 100 }

/** Another isolate than that of `edge`: its streams share a socket of their own. */
const isolate = (room = ROOM) =>
  objectRepositories({
    namespace: namespace as never,
    room,
    clock: hostClock,
    log: () => undefined,
  })

/** A stream opened on the runtime with limits of the test's own. */
function rawStream(
  repo: Repo,
  limits: Partial<typeof STREAM_LIMITS> = {},
  { repositories = isolate(), holder = 'ann', hasEnded = async () => false } = {},
) {
  const abort = new AbortController()
  const ends: unknown[] = []
  const body = openStream({
    repository: repositories.open(repo.path),
    lastEventId: undefined,
    holder,
    expiresAt: Date.now() + 3_600_000,
    hasEnded,
    signal: abort.signal,
    limits: { ...STREAM_LIMITS, ...limits },
    clock: hostClock,
    rare: () => undefined,
    log: (_level, event, fields) => event === 'board.stream_ended' && ends.push(fields.reason),
  })
  return { body, ends, abort }
}

describe('on workerd', () => {
  it('an object that slept is built again, and its streams still get the next message', async () => {
    const repo = await publishedRepo(edge, [taskRecord('A-1')])
    const repositories = isolate()
    const streams = await Promise.all(
      [1, 2].map(() =>
        new EventStream(new Response(rawStream(repo, {}, { repositories }).body)).joined(),
      ),
    )
    const before = await awakeSince(repo)
    await evictDurableObject(objectOf(repo))
    const { seq } = await repo.changes({ upserts: [taskRecord('A-2')] })
    for (const stream of streams) {
      await stream.until((s) => s.messages.length > 0)
      expect(stream.messages).toEqual([{ type: 'task-changed', id: 'A-2' }])
      expect(stream.lastId).toBe(seq)
      await stream.close()
    }
    expect(await awakeSince(repo)).not.toBe(before)
  })

  it('a list of boards, and a report for it, wake and make no repository', async () => {
    const repos = [await publishedRepo(edge, [taskRecord('A-1')]), new Repo(edge)] as const
    await evictDurableObject(objectOf(repos[0]))
    const objects = await listDurableObjectIds(namespace)
    for (const repo of repos) {
      const body = JSON.stringify(boardReport())
      expect((await repo.request('/boards', { method: 'PUT', body })).status).toBe(200)
    }
    const Authorization = `Bearer ${await token({ repos: repos.map(({ path }) => path) })}`
    const listed = await edge.fetch('/api/boards', { headers: { Authorization } })
    expect(await listed.json()).toMatchObject({ boards: [{}, {}] })
    expect(await listDurableObjectIds(namespace)).toEqual(objects)
    for (const repo of repos) {
      await expect(evictDurableObject(objectOf(repo))).rejects.toThrow('not currently running')
    }
  })

  it('the list of boards survives the object that has it', async () => {
    const repo = new Repo(edge)
    const body = JSON.stringify(boardReport({ title: 'Kept' }))
    expect((await repo.request('/boards', { method: 'PUT', body })).status).toBe(200)
    await evictDurableObject(directory.getByName('boards'))
    const Authorization = `Bearer ${await token({ repos: [repo.path] })}`
    const listed = await edge.fetch('/api/boards', { headers: { Authorization } })
    expect(await listed.json()).toMatchObject({ boards: [{ path: repo.path, title: 'Kept' }] })
  })

  it('a socket that dies is redialled, without a lost or doubled message', async () => {
    const repo = await publishedRepo(edge, [taskRecord('A-1')])
    const stream = await (await repo.stream()).joined()
    const ids: string[] = []
    for (let round = 0; round < 3; round++) {
      await repo.changes({ upserts: [taskRecord(`B-${round}`)] })
      await evictDurableObject(objectOf(repo), { webSockets: 'close' })
      await repo.changes({ upserts: [taskRecord(`C-${round}`)] })
      ids.push(`B-${round}`, `C-${round}`)
    }
    await stream.until((s) => s.messages.length >= ids.length)
    await repo.changes({ upserts: [taskRecord('Z-1')] })
    await stream.until((s) => s.messages.length > ids.length)
    expect(stream.messages).toEqual([...ids, 'Z-1'].map((id) => ({ type: 'task-changed', id })))
    expect(stream.blocks.filter((block) => block.comment === 'connected')).toHaveLength(1)
    await stream.close()
  })

  it('a stream asks the list of ended sessions at its pings, and ends with its session', async () => {
    const repo = await publishedRepo(edge, [taskRecord('A-1')])
    const sid = crypto.randomUUID()
    const list = objectEndedSessions(sessions)
    const hasEnded = () => list.has(sid)
    const { body, ends } = rawStream(repo, { pingMs: 20 }, { hasEnded })
    const stream = await new EventStream(new Response(body)).joined()
    const pings = () => stream.blocks.filter(({ comment }) => comment === 'ping').length
    await stream.until(() => pings() > 3)
    expect(stream.ended).toBe(false)
    await list.end(sid, Date.now() + 60_000, Date.now())
    await stream.until((it) => it.ended)
    expect(ends).toEqual(['signed_out'])
  })

  it('a reader that takes nothing is cut, and the other readers are not', async () => {
    const repo = await publishedRepo(edge, [taskRecord('A-1')])
    const slow = rawStream(repo, { backlogBytes: 2_048 })
    const quick = await (await repo.stream()).joined()
    for (let i = 0; i < 60; i++) await repo.changes({ upserts: [taskRecord(`B-${i}`)] })
    await quick.until((s) => s.messages.length === 60)
    await expect.poll(() => slow.ends).toEqual(['slow'])
    expect(quick.ended).toBe(false)
    await quick.close()
  })

  it('a client that goes away leaves no socket in the object', async () => {
    const repo = await publishedRepo(edge, [taskRecord('A-1')])
    const { body, abort } = rawStream(repo)
    const stream = await new EventStream(new Response(body)).joined()
    const streams = async () => (await repo.json<{ streams: number }>('/status')).streams
    expect(await streams()).toBe(1)
    abort.abort()
    await expect.poll(streams).toBe(0)
    await stream.close()
  })

  it('a repository with as many streams as it may hold answers with a long wait', async () => {
    const repo = await publishedRepo(edge, [taskRecord('A-1')])
    const room = { all: 1, each: 1 }
    const first = rawStream(repo, {}, { repositories: isolate(room) })
    const held = await new EventStream(new Response(first.body)).joined()
    const second = rawStream(repo, {}, { repositories: isolate(room), holder: 'bob' })
    const refused = new EventStream(new Response(second.body))
    await refused.until((s) => s.ended)
    expect(refused.blocks.at(-1)?.retry).toBeGreaterThanOrEqual(60_000)
    first.abort.abort()
    await held.close()
  })

  it('one holder has its share of an isolate’s streams, and leaves the others theirs', async () => {
    const repo = await publishedRepo(edge, [taskRecord('A-1')])
    const repositories = isolate({ all: 4, each: 2 })
    const open = (holder: string) => {
      const { body, abort } = rawStream(repo, {}, { repositories, holder })
      return { abort, stream: new EventStream(new Response(body)) }
    }
    const held = [open('ann'), open('ann')]
    for (const { stream } of held) await stream.joined()
    await open('ann').stream.until((s) => s.ended)
    const other = open('bob')
    await other.stream.joined()
    await repo.changes({ upserts: [taskRecord('A-2')] })
    await other.stream.until((s) => s.messages.length > 0)
    held[0]?.abort.abort()
    const again = open('ann')
    await again.stream.joined()
    for (const { abort } of [...held, other, again]) abort.abort()
  })

  it('a stream that waits for a name that nobody has published makes no table', async () => {
    const repo = new Repo(edge)
    const stream = await (await repo.stream()).joined()
    const tables = await runInDurableObject(objectOf(repo), (_, { storage }) =>
      storage.sql.exec('SELECT name FROM sqlite_master').toArray(),
    )
    expect(tables).toEqual([])
    // It slept meanwhile, as an object does that waits.
    await evictDurableObject(objectOf(repo))
    await repo.begin()
    await repo.changes({ upserts: [taskRecord('A-1')] })
    await stream.until((s) => s.messages.length > 0)
    expect(stream.messages).toEqual([{ type: 'task-changed', id: 'A-1' }])
    await stream.close()
  })

  it('lists more than one answer over RPC may hold', async () => {
    const repo = await publishedRepo(edge)
    const title = 'x'.repeat(1 << 20)
    for (let i = 0; i < 34; i++) {
      await repo.changes({ upserts: [taskRecord(`A-${i}`, { title })], more: i < 33 })
    }
    const { tasks } = await repo.json<{ tasks: { title: string }[] }>('/tasks')
    expect(tasks).toHaveLength(34)
    expect(tasks.every((task) => task.title.length === title.length)).toBe(true)
  })
})
