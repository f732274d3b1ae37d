// What changed of a list since a place, held against the list itself: random boards, edits, parts
// of messages, filters, and clients that come and go.

import fc from 'fast-check'
import { expect, it } from 'vitest'
import { WatchedList } from '../../../../libraries/client/watched-list.ts'
import { openRepository } from '../../../../worker/board/repository/open-repository-sqlite.ts'
import type { Query } from '../../../../worker/board/repository/reads.ts'
import type { ChangesRequest, DataRecord } from '../../../../worker/board/wire.ts'
import { EMPTY_HASH, type Key } from '../../../../worker/board/wire.ts'
import { openSql } from '../../../../worker/shared/sql-node.ts'
import { following, runRecord, sessionRecord, taskRecord } from '../../../support/edge.ts'

const HOST = { streams: 0, awakeSince: '', now: '' }

class PublishedRepository {
  readonly #opened = openRepository(openSql(':memory:'))
  #batch = 0
  #at = 0
  readonly #start = this.#opened.repository.sync(
    { step: 'root', run: null, root: EMPTY_HASH, store: { state: 'present', version: '1' } },
    0,
  )

  change(parts: Partial<ChangesRequest>): void {
    if (!this.#start.ok || this.#start.answer.step !== 'root') throw new Error('it did not start')
    const { epoch, run } = this.#start.answer
    const request = { epoch, run, batch: ++this.#batch, upserts: [], deletes: [], ...parts }
    const published = this.#opened.repository.changes(request, ++this.#at)
    if (!published.ok) throw new Error(published.reason)
  }

  read(query: Query) {
    const found = this.#opened.reads.find(query, HOST)
    if (found.state !== 'found') throw new Error(found.state)
    return { ...found, value: JSON.parse([...found.pieces].join('')) }
  }
}

const id = fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', 'g', 'h')
const status = fc.constantFrom('todo', 'done')
type Step =
  | { do: 'task'; id: string; status: string; body: string; own: boolean }
  | { do: 'session'; id: string; actor: string; startedAt: string }
  | { do: 'run'; id: string }
  | { do: 'delete'; key: Key }
  | { do: 'send'; more: boolean }
  | { do: 'read'; client: number }
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    do: fc.constant('task' as const),
    id,
    status,
    body: fc.constantFrom('x', 'y'),
    own: fc.boolean(),
  }),
  fc.record({
    do: fc.constant('session' as const),
    id,
    actor: fc.constantFrom('ann', 'bob'),
    startedAt: fc.constantFrom('2026-01-01T10:00:00Z', '2026-01-02T10:00:00Z'),
  }),
  fc.record({ do: fc.constant('run' as const), id }),
  fc.record({
    do: fc.constant('delete' as const),
    key: fc
      .tuple(fc.constantFrom('task', 'session'), id)
      .map(([kind, of]) => `${kind}:${of}` as Key),
  }),
  fc.record({ do: fc.constant('send' as const), more: fc.boolean() }),
  fc.record({ do: fc.constant('read' as const), client: fc.nat(3) }),
)

/** What each client asks for. */
const QUERIES: Query[] = [
  { kind: 'tasks', filter: {} },
  { kind: 'tasks', filter: { status: 'todo' } },
  { kind: 'sessions', filter: {} },
  { kind: 'sessions', filter: { actor: 'ann' } },
]

it('the list that a client read once, plus what changed since, is the list', () => {
  fc.assert(
    fc.property(fc.array(step, { minLength: 10, maxLength: 80 }), (steps) => {
      const published = new PublishedRepository()
      const clients = QUERIES.map(() => undefined as WatchedList | undefined)
      const bodies = new Map<string, string>()
      let upserts: DataRecord[] = []
      let deletes: Key[] = []
      const send = (more: boolean) => {
        published.change({ upserts, deletes, ...(more && { more }) })
        upserts = []
        deletes = []
      }
      const read = (client: number) => {
        const query = QUERIES[client] as Query & { kind: 'tasks' | 'sessions' }
        const list = clients[client] ?? new WatchedList(query.kind)
        clients[client] = list
        const since = list.place
        const before = JSON.stringify(list.items)
        const answer = published.read({ ...query, ...(since !== undefined && { since }) })
        const { isNew, ids } = list.apply(answer.value, answer.seq)
        expect(list.items).toEqual(published.read(query).value[query.kind])
        expect(isNew).toBe(since === undefined || before !== JSON.stringify(list.items))
        if (client !== 0) return
        // All that changed is named, also what no list shows.
        for (const { id } of list.items) {
          const body = JSON.stringify(published.read({ kind: 'task', id }).value.body)
          if (since !== undefined && bodies.get(id) !== body) expect(ids).toContain(id)
          bodies.set(id, body)
        }
      }
      const last = new Map<string, ReturnType<typeof taskRecord>>()
      send(false)
      for (const each of [...steps, { do: 'send', more: false } as const]) {
        if (each.do === 'task') {
          const known = last.get(each.id)
          const fields = { status: each.status, body: each.body }
          const task = known && !each.own ? following(known, fields) : taskRecord(each.id, fields)
          last.set(each.id, task)
          upserts.push(task)
        } else if (each.do === 'session') {
          const { id: session, actor, startedAt } = each
          upserts.push(sessionRecord(session, { actor, startedAt }))
        } else if (each.do === 'run') upserts.push(runRecord(each.id, '20260101-100000.000'))
        else if (each.do === 'delete') deletes.push(each.key)
        else if (each.do === 'send') send(each.more)
        else read(each.client)
      }
      for (const client of QUERIES.keys()) read(client)
    }),
    { numRuns: 300 },
  )
})

it('a place of another epoch, a malformed one and one that is too old get the whole list', () => {
  const published = new PublishedRepository()
  published.change({ upserts: ['a', 'b', 'c', 'd'].map((name) => taskRecord(name)) })
  const { seq } = published.read({ kind: 'tasks', filter: {} })
  const since = (place: string) => published.read({ kind: 'tasks', filter: {}, since: place }).value
  for (const place of ['other-1', 'nonsense', '-', seq.replace(/\d+$/, '7')]) {
    expect(since(place)).toEqual({ tasks: expect.any(Array), whole: true, seq })
    expect(since(place).tasks).toHaveLength(4)
  }
  expect(since(seq)).toEqual({ tasks: [], gone: [], seq })
  for (let i = 0; i < 1_024; i++) published.change({ upserts: [taskRecord('a')] })
  expect(since(seq)).toMatchObject({ gone: [], tasks: [{ id: 'a' }] })
  published.change({ upserts: [taskRecord('a')] })
  expect(since(seq)).toMatchObject({ whole: true })
})
